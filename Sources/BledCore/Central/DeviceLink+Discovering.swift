import BledRPC
import Bluetooth
import GATT

extension DeviceLink {
  /// Discovers everything.
  func discover(_ session: Session, _ reply: Reply<GATTServices>) {
    discover(.everything, session, reply) { known in GATTServices(services: known.tree) }
  }

  /// Discovers the primary services, or only those of the given UUIDs.
  func discoverServices(_ uuids: [BluetoothUUID], _ session: Session, _ reply: Reply<GATTServices>) {
    let isMany = known.searched.count + uuids.count > KnownAttributes.maximumSearches
    let wanted = Set(uuids)
    discover(.services(isMany ? [] : uuids), session, reply) { known in
      let found = known.services.filter { $0.isPrimary == true && (wanted.isEmpty || wanted.contains($0.uuid)) }
      return GATTServices(services: found.map { ServiceDescription($0) })
    }
  }

  /// Discovers the services that the one at this handle includes.
  func discoverIncludedServices(_ scope: GATTScope, _ session: Session, _ reply: Reply<GATTServices>) {
    discover(.includes(scope.handle), session, reply) { known in
      let wanted = try known.service(at: scope.handle).includes?.filter { scope.wants($0.uuid) }
      return GATTServices(services: known.descriptions(of: wanted ?? []))
    }
  }

  /// Discovers the characteristics of the service at this handle.
  func discoverCharacteristics(
    _ scope: GATTScope, _ session: Session, _ reply: Reply<GATTDiscoverCharacteristics.Result>
  ) {
    discover(.characteristics(scope.handle), session, reply) { known in
      let wanted = try known.service(at: scope.handle).characteristics?.filter { scope.wants($0.uuid) }
      return .init(characteristics: (wanted ?? []).map { CharacteristicDescription($0) })
    }
  }

  /// Discovers the descriptors of the characteristic whose value is at this handle.
  func discoverDescriptors(
    _ scope: GATTScope, _ session: Session, _ reply: Reply<GATTDiscoverDescriptors.Result>
  ) {
    discover(.descriptors(scope.handle), session, reply) { known in
      let wanted = known.descriptors(of: scope.handle)?.filter { scope.wants($0.uuid) }
      return .init(descriptors: (wanted ?? []).map { DescriptorDescription(handle: $0.handle, uuid: $0.uuid) })
    }
  }

  /// Asks the device for what is missing, and answers with what is then known. What is known already is answered in turn as
  /// well: after what the session asked before.
  private func discover<Found>(
    _ goal: DiscoveryGoal, _ session: Session, _ reply: Reply<Found>,
    _ answer: @escaping (KnownAttributes) throws -> Found
  ) {
    var machine = DiscoveryMachine(goal)
    run(
      LinkOperation(session: session, nil) { [weak self] result in
        do {
          guard let self else { throw Self.gone }
          if machine.isReadingHash {
            try readHash(result)
          } else {
            try machine.take(try result.get(), &known)
          }
          if let next = try next(&machine) { return next }
          learned()
          reply.succeed(try answer(known))
        } catch {
          reply.fail(error.asBluetoothError)
        }
        return nil
      })
  }

  private func next(_ machine: inout DiscoveryMachine) throws -> GATTProcedure? {
    try machine.next(known, isVerified: hash != .unread, hasCache: peripheral.cache != nil)
  }

  /// Takes over the device's database hash: if the cache was made under the same, what is in it is known.
  private func readHash(_ result: Result<GATTResult, BluetoothError>) throws {
    var value: [UInt8]?
    switch result {
    case .success(.value(let octets)): value = octets
    case .success: throw GATTResult.unexpected()
    // It has none, or does not show it.
    case .failure(let error) where error.domain == .att: break
    case .failure(let error): throw error
    }
    // Another operation may have read it meanwhile.
    guard hash == .unread else { return }
    hash = value.flatMap { $0.count == 16 ? .read($0) : nil } ?? .absent
    guard let cache = peripheral.cache else { return }
    if hash == .read(cache.hash), let cached = KnownAttributes(octets: cache.attributes) {
      known = cached
      keptRevision = known.revision
    } else {
      peripheral.cache = nil
      tell(.cacheVoid)
    }
  }

  /// Something was discovered: the cache gets it, if there is a hash to know it by.
  private func learned() {
    watchServices()
    guard case .read(let hash) = hash, keptRevision != known.revision else { return }
    keptRevision = known.revision
    peripheral.cache = GATTCache(hash: hash, attributes: known.octets)
    tell(.cacheChanged)
  }
}

extension KnownAttributes {
  /// All that is known, as clients get it.
  fileprivate var tree: [ServiceDescription] {
    services.map { service in
      ServiceDescription(
        service, includes: descriptions(of: service.includes ?? []),
        characteristics: (service.characteristics ?? []).map {
          CharacteristicDescription($0, descriptors: descriptors(of: $0.valueHandle) ?? [])
        })
    }
  }

  fileprivate func descriptions(of includes: [DiscoveredInclude]) -> [ServiceDescription] {
    includes.map { include in
      ServiceDescription(include, isPrimary: service(ifKnown: include.range.lowerBound)?.isPrimary ?? false)
    }
  }
}

extension GATTScope {
  fileprivate func wants(_ uuid: BluetoothUUID) -> Bool { uuids?.nonEmpty?.contains(uuid) ?? true }
}

extension Error {
  /// The error of a step of an operation, which throws nothing else.
  var asBluetoothError: BluetoothError { (self as? BluetoothError) ?? BledError.protocolViolation.error("\(self)") }
}
