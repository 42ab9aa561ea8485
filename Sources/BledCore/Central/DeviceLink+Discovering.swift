import BledRPC
import Bluetooth
import GATT

extension DeviceLink {
  /// Discovers everything.
  func discover(_ session: Session, _ reply: Reply<GATTServices>) {
    var machine = DiscoveryMachine()
    run(
      LinkOperation(session: session, DiscoveryMachine.first) { [weak self] result in
        do {
          if let next = machine.next(try result.get()) { return next }
          if let self {
            machine.teach(&known)
            watchServices()
          }
          reply.succeed(GATTServices(services: machine.services))
        } catch {
          reply.fail(error.asBluetoothError)
        }
        return nil
      })
  }

  /// Discovers the primary services, or only those of the given UUIDs.
  func discoverServices(_ uuids: [BluetoothUUID], _ session: Session, _ reply: Reply<GATTServices>) {
    var wanted = uuids[...]
    var found: [DiscoveredService] = []
    let first: GATTProcedure =
      wanted.popFirst().map { .discoverPrimaryServices(uuid: $0) } ?? .discoverServices(.primary)
    run(
      LinkOperation(session: session, first) { [weak self] result in
        do {
          guard case .services(let services) = try result.get() else { throw GATTResult.unexpected() }
          found += services
          if let next = wanted.popFirst() { return .discoverPrimaryServices(uuid: next) }
          for service in found { self?.known.add(service.range) }
          found.sort { $0.range.lowerBound < $1.range.lowerBound }
          reply.succeed(GATTServices(services: found.map { ServiceDescription($0) }))
        } catch {
          reply.fail(error.asBluetoothError)
        }
        return nil
      })
  }

  /// Discovers the services that the one at this handle includes.
  func discoverIncludedServices(_ scope: GATTScope, _ session: Session, _ reply: Reply<GATTServices>) throws {
    let range = try known.service(at: scope.handle)
    run(
      LinkOperation(session: session, .findIncludedServices(in: range)) { [weak self] result in
        do {
          guard case .includedServices(let includes) = try result.get() else { throw GATTResult.unexpected() }
          for include in includes { self?.known.add(include.range) }
          let wanted = includes.filter { scope.wants($0.uuid) }
          reply.succeed(GATTServices(services: wanted.map { ServiceDescription($0, isPrimary: true) }))
        } catch {
          reply.fail(error.asBluetoothError)
        }
        return nil
      })
  }

  /// Discovers the characteristics of the service at this handle.
  func discoverCharacteristics(
    _ scope: GATTScope, _ session: Session, _ reply: Reply<GATTDiscoverCharacteristics.Result>
  ) throws {
    let range = try known.service(at: scope.handle)
    run(
      LinkOperation(session: session, .discoverCharacteristics(in: range)) { [weak self] result in
        do {
          guard case .characteristics(let found) = try result.get() else { throw GATTResult.unexpected() }
          for characteristic in found { self?.known.add(characteristic) }
          let wanted = found.filter { scope.wants($0.uuid) }
          reply.succeed(.init(characteristics: wanted.map { CharacteristicDescription($0) }))
        } catch {
          reply.fail(error.asBluetoothError)
        }
        return nil
      })
  }

  /// Discovers the descriptors of the characteristic whose value is at this handle.
  func discoverDescriptors(
    _ scope: GATTScope, _ session: Session, _ reply: Reply<GATTDiscoverDescriptors.Result>
  ) throws {
    guard let range = try known.descriptorRange(of: scope.handle) else {
      known.add([], of: scope.handle)
      return reply.succeed(.init(descriptors: []))
    }
    run(
      LinkOperation(session: session, .discoverDescriptors(in: range)) { [weak self] result in
        do {
          guard case .descriptors(let found) = try result.get() else { throw GATTResult.unexpected() }
          self?.known.add(found, of: scope.handle)
          self?.watchServices()
          let wanted = found.filter { scope.wants($0.uuid) }
          reply.succeed(.init(descriptors: wanted.map { DescriptorDescription(handle: $0.handle, uuid: $0.uuid) }))
        } catch {
          reply.fail(error.asBluetoothError)
        }
        return nil
      })
  }
}

extension GATTScope {
  fileprivate func wants(_ uuid: BluetoothUUID) -> Bool { uuids?.nonEmpty?.contains(uuid) ?? true }
}

extension Error {
  /// The error of a step of an operation, which throws nothing else.
  var asBluetoothError: BluetoothError { (self as? BluetoothError) ?? BledError.protocolViolation.error("\(self)") }
}
