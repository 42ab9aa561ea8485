import Adapter
import ATT
import Bluetooth
import BluetoothCrypto
import GATT

/// The GATT server of a simulated device: its database, its changing values, and what it sends to a subscriber.
final class DeviceServer {
  private struct Characteristic {
    let description: CharacteristicDescription
    /// 0 while its service is away.
    var handle: UInt16
    var number: MovingNumber?
    /// Rings when the next value is due to a subscriber.
    var alarm: (any ScheduledWork)?
    /// A value is due and waits for room on the link, or for the last one's confirmation.
    var isDue = false
    var isIndicating = false
  }

  private unowned let air: Air
  private let host: GATTHost
  private var characteristics: [Characteristic] = []
  private var misbehaviour: Misbehaviour?

  /// The values that the device computes at each read.
  private static let moving = AttributeOwner(1)

  init(_ description: DeviceDescription, air: Air) {
    self.air = air
    var chance = air.generator(Stream.responses.of(description.address))
    host = GATTHost(scheduler: air.scheduler) { description.responseDelay.draw(&chance) }
    if description.hasDatabaseHash { host.database = AttributeDatabase(cmac: DatabaseHash.code) }
    host.onAction = { [weak self] in self?.handle($0) }
    host.onWritable = { [weak self] in self?.sendWhatIsDue() }
    build(description)
    misbehaviour = Misbehaviour(description, air: air) { [weak self] in self?.moveLastService(description) }
    if let misbehaviour { host.onSend = { misbehaviour.distort($0) } }
  }

  /// Serves the peer of this link.
  func attach(_ link: SimulatedLink) {
    host.isBonded = { [weak link] in link?.isBonded ?? false }
    host.attach(link)
    misbehaviour?.linkIsUp()
    host.onEnded = { [weak self] in self?.misbehaviour?.linkIsDown() }
  }

  /// Removes the last service, or adds it again if it was removed, and tells the peer.
  private func moveLastService(_ description: DeviceDescription) {
    guard let last = description.services.last else { return }
    let own = characteristics.indices.suffix(last.characteristics.count)
    if let first = own.first, let service = host.database.service(containing: characteristics[first].handle) {
      for index in own {
        subscriptionChanged(characteristics[index].handle, [])
        characteristics[index].handle = 0
      }
      if let range = host.database.remove(service: service.range.lowerBound) { host.databaseChanged(range) }
    } else if let registered = try? host.database.add(Self.definition(last), owner: Self.moving) {
      for (index, registered) in zip(own, registered.characteristics) {
        characteristics[index].handle = registered.valueHandle
      }
      host.databaseChanged(registered.range)
    }
  }

  private func build(_ description: DeviceDescription) {
    var handles: [BluetoothUUID: UInt16] = [:]
    var definitions = [
      ServiceDefinition.genericAccess(name: description.name, appearance: description.appearance),
      ServiceDefinition.genericAttribute(hasHash: description.hasDatabaseHash),
    ]
    definitions += description.services.map(Self.definition)
    for (index, definition) in definitions.enumerated() {
      let service = index < 2 ? nil : description.services[index - 2]
      var definition = definition
      definition.includes = service?.includes.compactMap { handles[$0] } ?? []
      // A tree too large for 65,535 handles is truncated.
      guard let registered = try? host.database.add(definition, owner: Self.moving) else { return }
      handles[definition.uuid] = registered.range.lowerBound
      for (described, registered) in zip(service?.characteristics ?? [], registered.characteristics) {
        var number: MovingNumber?
        if case .number(let rule) = described.value.rule {
          let stream = Stream.values.of(description.address, characteristics.count)
          number = MovingNumber(rule, generator: air.generator(stream))
        }
        characteristics.append(
          Characteristic(description: described, handle: registered.valueHandle, number: number))
      }
    }
  }

  private static func definition(_ service: ServiceDescription) -> ServiceDefinition {
    ServiceDefinition(
      uuid: service.uuid, isPrimary: service.isPrimary,
      characteristics: service.characteristics.map { characteristic in
        var source = ValueSource.stored(characteristic.value.template)
        if case .number = characteristic.value.rule { source = .owner }
        return CharacteristicDefinition(
          uuid: characteristic.uuid, properties: characteristic.properties, permissions: characteristic.permissions,
          value: source, descriptors: characteristic.allDescriptors)
      })
  }

  // MARK: - Requests of the peer

  private func handle(_ action: GATTAction) {
    switch action {
    case .read(let question):
      guard let index = index(of: question.handle) else { return host.answer(question, []) }
      host.answer(question, value(index))
    case .stored(let handle): written(handle)
    case .subscriptionChanged(let handle, let wanted): subscriptionChanged(handle, wanted)
    case .indicationFinished(let id, _):
      let index = Int(id.value)
      characteristics[index].isIndicating = false
      if characteristics[index].isDue { send(index) }
    default: break
    }
  }

  private func index(of handle: UInt16) -> Int? { characteristics.firstIndex { $0.handle == handle && handle != 0 } }

  private func value(_ index: Int) -> [UInt8] {
    let template = characteristics[index].description.value.template
    let moved = characteristics[index].number?.value(at: air.age, in: template)
    return moved ?? host.database.value(of: characteristics[index].handle) ?? template
  }

  /// A written value becomes the value of the characteristics that echo it.
  private func written(_ handle: UInt16) {
    guard let source = index(of: handle), let value = host.database.value(of: handle) else { return }
    for index in characteristics.indices {
      guard case .echo(let uuid) = characteristics[index].description.value.rule else { continue }
      guard uuid.map({ $0 == characteristics[source].description.uuid }) ?? (index == source) else { continue }
      host.database.setValue(value, of: characteristics[index].handle)
      send(index)
    }
  }

  /// Sets a value, and sends it to a subscriber.
  /// - Returns: false if there is no such characteristic, or its value changes by a rule.
  func setValue(_ value: [UInt8], of uuid: BluetoothUUID) -> Bool {
    guard let index = characteristics.firstIndex(where: { $0.description.uuid == uuid && $0.handle != 0 }),
      characteristics[index].number == nil
    else { return false }
    host.database.setValue(value, of: characteristics[index].handle)
    send(index)
    return true
  }

  // MARK: - Notifications and indications

  private func subscriptionChanged(_ handle: UInt16, _ wanted: ClientConfiguration) {
    guard let index = index(of: handle) else { return }
    if wanted.isEmpty {
      characteristics[index].alarm?.cancel()
      characteristics[index].alarm = nil
      characteristics[index].isDue = false
    } else if characteristics[index].alarm == nil {
      setAlarm(index)
    }
  }

  private func setAlarm(_ index: Int) {
    guard let period = characteristics[index].description.notifyEvery else { return }
    characteristics[index].alarm = air.scheduler.schedule(after: period) { [weak self] in
      self?.setAlarm(index)
      self?.send(index)
    }
  }

  /// Sends the current value, or records that it is due: like a sensor, the device does not queue samples.
  private func send(_ index: Int) {
    let handle = characteristics[index].handle
    let wanted = host.subscription(of: handle)
    characteristics[index].isDue = false
    if wanted.contains(.notification) {
      guard host.link?.isWritable == true else { return characteristics[index].isDue = true }
      host.notify(value(index), of: handle)
    } else if wanted.contains(.indication) {
      guard !characteristics[index].isIndicating else { return characteristics[index].isDue = true }
      characteristics[index].isIndicating = true
      host.indicate(value(index), of: handle, id: IndicationID(UInt64(index)))
    }
  }

  private func sendWhatIsDue() {
    for index in characteristics.indices where characteristics[index].isDue { send(index) }
  }
}
