import Adapter
import ATT
import Bluetooth
import BluetoothCrypto
import GATT
import MCUmgr
import ScenarioRules

/// The GATT server of a simulated device: its database, its changing values, and the values for a subscriber.
package final class DeviceServer {
  private struct Characteristic {
    let description: CharacteristicDescription
    /// 0 while its service is removed.
    var handle: UInt16
    var number: MovingNumber?
    var replay: RecordedReplay?
    /// Rings when the next value is due to a subscriber.
    var alarm: (any ScheduledWork)?
    /// True if a value is due and waits for room on the link, or for the last value's confirmation.
    var isDue = false
    var isIndicating = false
  }

  private struct Service {
    let description: ServiceDescription
    /// Its characteristics, by their places.
    let characteristics: Range<Int>
    /// 0 while it is removed.
    var handle: UInt16
  }

  /// Its faults.
  package let misbehaviour: Misbehaviour
  /// Its management with MCUmgr.
  package let firmware: FirmwareHost?

  private let dfu: BootLoaderHost?
  private let context: SimulationContext
  private let address: DeviceAddress
  private let name: String
  private let maximumMTU: Int
  private let host: GATTHost
  private let centrals: BondedCentrals
  private var characteristics: [Characteristic] = []
  private var services: [Service] = []

  /// The values that the device computes at each read.
  private static let moving = AttributeOwner(1)

  package init(_ description: DeviceDescription, dfu: BootLoaderHost?, in context: SimulationContext) {
    (self.context, self.dfu) = (context, dfu)
    address = description.address
    name = description.name
    maximumMTU = description.mtu
    misbehaviour = Misbehaviour(description, in: context)
    firmware = description.firmware.map { FirmwareHost($0, of: description.address, in: context) }
    host = GATTHost(scheduler: context.scheduler)
    centrals = BondedCentrals(host)
    // Without a hash for clients the device itself knows by it that services have changed.
    host.database = AttributeDatabase(cmac: DatabaseHash.code)
    host.onAction = { [weak self] in self?.handle($0) }
    host.onWritable = { [weak self] in
      self?.sendWhatIsDue()
      self?.firmware?.flush()
      self?.dfu?.flush()
    }
    build(description)
    misbehaviour.changeServices = { [weak self] in self?.moveLastService() }
    host.onSend = { [misbehaviour] in misbehaviour.distort($0) }
    host.onReceive = { [weak self, misbehaviour] packet in
      misbehaviour.reception(packet) { handle in
        self.flatMap { server in server.index(of: handle).map { server.characteristics[$0].description.uuid } }
      }
    }
    firmware?.send = { [weak self] in self?.sendAnswer($0, ManagementService.characteristic) ?? false }
    firmware?.packetLength = { [weak host] in (host?.mtu ?? 23) - 3 }
  }

  /// Serves the peer of this link.
  /// - Parameter bondedPeer: returns the peer's identity while the device has a key for the link, else nil.
  package func attach(_ link: any Link, bondedPeer: @escaping () -> DeviceAddress?) {
    host.isBonded = { bondedPeer() != nil }
    host.attach(link, maximumMTU: maximumMTU)
    centrals.attach(link.peer, bondedPeer)
    for index in characteristics.indices { characteristics[index].replay?.linkIsUp(at: context.age) }
    misbehaviour.linkIsUp()
    dfu?.send = { [weak self] in self?.sendAnswer($0, $1) ?? false }
    dfu?.disconnect = { [weak link] in link?.disconnect() }
    host.onEnded = { [misbehaviour, firmware, dfu] in
      misbehaviour.linkIsDown()
      firmware?.linkEnded()
      dfu?.linkEnded()
    }
  }

  /// The peer was bonded on the present link.
  package func bonded() { centrals.keep() }

  // MARK: - Services

  /// Removes the last service, or adds it again if it was removed, and notifies the peer.
  private func moveLastService() {
    guard let last = services.indices.last else { return }
    if let range = services[last].handle == 0 ? register(last) : remove(last) { host.databaseChanged(range) }
  }

  /// Sets these services, besides the generic ones, and notifies the peer. Unchanged services keep their handles.
  package func setServices(_ wanted: [ServiceDescription]) {
    var missing = wanted
    var changed: [ClosedRange<UInt16>] = []
    for index in services.indices where services[index].handle != 0 {
      if let place = missing.firstIndex(of: services[index].description) {
        missing.remove(at: place)
      } else if let range = remove(index) {
        changed.append(range)
      }
    }
    forgetRemoved()
    for service in missing {
      guard let range = add(service) else { break }
      changed.append(range)
    }
    guard let first = changed.map(\.lowerBound).min(), let last = changed.map(\.upperBound).max() else { return }
    host.databaseChanged(first...last)
  }

  /// Forgets the removed services, with their characteristics.
  private func forgetRemoved() {
    var kept: [Characteristic] = []
    services = services.filter { $0.handle != 0 }.map { service in
      let first = kept.count
      kept += characteristics[service.characteristics]
      return Service(description: service.description, characteristics: first..<kept.count, handle: service.handle)
    }
    characteristics = kept
  }

  private func build(_ description: DeviceDescription) {
    let generic = [
      ServiceDefinition.genericAccess(name: description.name, appearance: description.appearance),
      ServiceDefinition.genericAttribute(hasHash: description.hasDatabaseHash),
    ]
    for definition in generic { _ = try? host.database.add(definition, owner: Self.moving) }
    // A tree too large for 65,535 handles is truncated.
    for service in description.allServices { guard add(service) != nil else { return } }
  }

  /// Adds a service at the end of the tree; nil if there is no room for it.
  private func add(_ service: ServiceDescription) -> ClosedRange<UInt16>? {
    let first = characteristics.count
    for described in service.characteristics {
      var number: MovingNumber?
      if case .number(let rule) = described.value.rule {
        number = MovingNumber(
          rule, generator: context.generator(Stream.values.of(address, characteristics.count)))
      }
      var replay: RecordedReplay?
      if case .recording(let values) = described.value.rule { replay = RecordedReplay(values) }
      characteristics.append(Characteristic(description: described, handle: 0, number: number, replay: replay))
    }
    services.append(Service(description: service, characteristics: first..<characteristics.count, handle: 0))
    return register(services.count - 1)
  }

  /// Puts a service into the database.
  private func register(_ index: Int) -> ClosedRange<UInt16>? {
    let service = services[index]
    var definition = Self.definition(service.description)
    definition.includes = service.description.includes.compactMap { uuid in
      services.last { $0.description.uuid == uuid && $0.handle != 0 }?.handle
    }
    guard let registered = try? host.database.add(definition, owner: Self.moving) else { return nil }
    services[index].handle = registered.range.lowerBound
    for (place, registered) in zip(service.characteristics, registered.characteristics) {
      characteristics[place].handle = registered.valueHandle
    }
    return registered.range
  }

  /// Removes a service from the database.
  private func remove(_ index: Int) -> ClosedRange<UInt16>? {
    for place in services[index].characteristics {
      subscriptionChanged(characteristics[place].handle, [])
      characteristics[place].isIndicating = false
      characteristics[place].handle = 0
    }
    defer { services[index].handle = 0 }
    return host.database.remove(service: services[index].handle)
  }

  private static func definition(_ service: ServiceDescription) -> ServiceDefinition {
    ServiceDefinition(
      uuid: service.uuid, isPrimary: service.isPrimary,
      characteristics: service.characteristics.map { characteristic in
        var source = ValueSource.stored(characteristic.value.template)
        switch characteristic.value.rule {
        case .number: source = .owner
        case .recording(let values) where !values.read.isEmpty: source = .owner
        default: break
        }
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
    case .subscriptionChanged(let handle, let wanted):
      if host.link != nil, let index = index(of: handle) {
        record(.subscribe, index, [UInt8(truncatingIfNeeded: wanted.rawValue), 0])
      }
      subscriptionChanged(handle, wanted)
    case .indicationFinished(let id, _):
      // The characteristic may have been removed, and others have moved.
      guard let index = index(of: UInt16(id.value)) else { return }
      characteristics[index].isIndicating = false
      if characteristics[index].isDue { send(index) }
    case .clientStateChanged: centrals.keep()
    default: break
    }
  }

  private func index(of handle: UInt16) -> Int? { characteristics.firstIndex { $0.handle == handle && handle != 0 } }

  private func value(_ index: Int) -> [UInt8] {
    let template = characteristics[index].description.value.template
    let moved =
      characteristics[index].number?.value(at: context.age, in: template)
      ?? characteristics[index].replay?.value(at: context.age)
    return moved ?? host.database.value(of: characteristics[index].handle) ?? template
  }

  /// A written value becomes the value of the characteristics that echo it.
  private func written(_ handle: UInt16) {
    guard let source = index(of: handle), let value = host.database.value(of: handle) else { return }
    record(host.opcode == .writeCommand ? .writeWithoutResponse : .write, source, value)
    if characteristics[source].description.uuid == ManagementService.characteristic { firmware?.received(value) }
    dfu?.received(value, on: characteristics[source].description.uuid)
    for index in characteristics.indices {
      guard case .echo(let uuid) = characteristics[index].description.value.rule else { continue }
      guard uuid.map({ $0 == characteristics[source].description.uuid }) ?? (index == source) else { continue }
      host.database.setValue(value, of: characteristics[index].handle)
      send(index)
    }
  }

  private func record(_ operation: WriteLog.Operation, _ index: Int, _ value: [UInt8]) {
    context.writes.add(
      operation, name, characteristics[index].description.uuid, value, context.scheduler.secondsSinceEpoch)
  }

  /// True if it has such a characteristic at present.
  package func has(_ uuid: BluetoothUUID) -> Bool {
    characteristics.contains { $0.description.uuid == uuid && $0.handle != 0 }
  }

  /// Sets a value, and sends it to a subscriber.
  /// - Returns: false without such a characteristic, or its value changes by a rule.
  package func setValue(_ value: [UInt8], of uuid: BluetoothUUID) -> Bool {
    guard let index = characteristics.firstIndex(where: { $0.description.uuid == uuid && $0.handle != 0 }),
      characteristics[index].number == nil, characteristics[index].replay == nil
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
      characteristics[index].replay?.subscribed()
      setAlarm(index)
    }
  }

  private func setAlarm(_ index: Int) {
    guard let period = characteristics[index].replay?.delay ?? characteristics[index].description.notifyEvery else {
      return
    }
    let handle = characteristics[index].handle
    characteristics[index].alarm = context.scheduler.schedule(after: period) { [weak self] in
      guard let self, let index = self.index(of: handle) else { return }
      // The values of a recording follow one another, even if one is late.
      if characteristics[index].replay == nil { setAlarm(index) }
      send(index)
    }
  }

  /// Sends the current value, or records that it is due: like a sensor, the device does not queue samples.
  private func send(_ index: Int) {
    let handle = characteristics[index].handle
    let wanted = host.subscription(of: handle)
    characteristics[index].isDue = false
    if wanted.contains(.notification) {
      guard host.link?.isWritable == true else { return characteristics[index].isDue = true }
      host.notify(valueToSend(index), of: handle)
    } else if wanted.contains(.indication) {
      guard !characteristics[index].isIndicating else { return characteristics[index].isDue = true }
      characteristics[index].isIndicating = true
      host.indicate(valueToSend(index), of: handle, id: IndicationID(UInt64(handle)))
    }
  }

  /// The value to send to a subscriber now. For a recording it is the next one, which is followed by another.
  private func valueToSend(_ index: Int) -> [UInt8] {
    guard let value = characteristics[index].replay?.send() else { return value(index) }
    setAlarm(index)
    return value
  }

  /// Notifies or indicates an answer of the management or the boot loader, which without a subscriber is lost.
  /// - Returns: false if the link has no room.
  private func sendAnswer(_ packet: [UInt8], _ uuid: BluetoothUUID) -> Bool {
    guard let index = characteristics.firstIndex(where: { $0.description.uuid == uuid && $0.handle != 0 }) else {
      return true
    }
    let handle = characteristics[index].handle
    let wanted = host.subscription(of: handle)
    guard !wanted.isEmpty else { return true }
    guard host.link?.isWritable == true else { return false }
    if wanted.contains(.notification) {
      host.notify(packet, of: handle)
    } else {
      host.indicate(packet, of: handle, id: IndicationID(UInt64(handle)))
    }
    return true
  }

  private func sendWhatIsDue() {
    for index in characteristics.indices where characteristics[index].isDue { send(index) }
  }
}
