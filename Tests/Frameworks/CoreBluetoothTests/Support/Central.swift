import CoreBluetooth
import Testing

/// A central manager with a delegate that records everything.
final class Central: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
  let log = EventLog()
  private(set) lazy var manager = CBCentralManager(
    delegate: self, queue: log.queue,
    options: restoration.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] })
  private let restoration: String?

  /// - Parameters:
  ///   - restoration: the restoration identifier.
  ///   - adapter: the adapter that the environment names while the manager is made.
  init(restoration: String? = nil, adapter: String? = nil) {
    self.restoration = restoration
    super.init()
    BledProcess.choosing(adapter) { _ = manager }
  }

  /// Scans until a device of this name is received, and returns it with its delegate set.
  func find(_ name: String, services: [CBUUID]? = nil) async throws -> CBPeripheral {
    manager.scanForPeripherals(withServices: services)
    let event = try await log.next("didDiscover") { $0.peripheral?.name == name }
    manager.stopScan()
    await log.settle()
    log.clear("didDiscover")
    event.peripheral?.delegate = self
    return try #require(event.peripheral)
  }

  /// Waits until all lines sent by the daemon so far have reached the delegate: two round trips on the manager's
  /// connection (the second one begins when the engine has handled the lines before the first one's answer).
  func barrier() async {
    for _ in 0..<2 { _ = manager.retrievePeripherals(withIdentifiers: [UUID()]) }
    await log.settle()
  }

  /// Waits for this many advertisements of a device, as a measure of time on the air.
  static func hear(_ count: Int, of name: String) async throws {
    let listener = Central()
    try await listener.log.next("didUpdateState") { $0.state == .poweredOn }
    listener.manager.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    for _ in 0..<count {
      try await listener.log.next("didDiscover") { $0.data[CBAdvertisementDataLocalNameKey] as? String == name }
    }
  }

  /// Finds a device and connects to it.
  func connected(_ name: String) async throws -> CBPeripheral {
    try await log.next("didUpdateState") { $0.state == .poweredOn }
    let peripheral = try await find(name)
    manager.connect(peripheral)
    try await log.next("didConnect") { $0.peripheral === peripheral }
    return peripheral
  }

  /// Discovers a characteristic.
  func characteristic(_ uuid: String, of service: String, on peripheral: CBPeripheral) async throws -> CBCharacteristic
  {
    peripheral.discoverServices([CBUUID(string: service)])
    let discovered = try await log.next("didDiscoverServices")
    if let error = discovered.error { throw error }
    let found = try #require(peripheral.services?.first { $0.uuid == CBUUID(string: service) })
    peripheral.discoverCharacteristics([CBUUID(string: uuid)], for: found)
    try await log.next("didDiscoverCharacteristicsFor")
    return try #require(found.characteristics?.first { $0.uuid == CBUUID(string: uuid) })
  }

  private func note(_ name: String, _ fill: (inout Event) -> Void = { _ in }) {
    log.inside {
      var event = Event(name: name)
      fill(&event)
      log.add(event)
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { note("didUpdateState") { $0.state = central.state } }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    note("willRestoreState") { ($0.state, $0.data) = (central.state, dict) }
    for peripheral in dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? [] {
      peripheral.delegate = self
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    note("didDiscover") { ($0.peripheral, $0.data, $0.rssi) = (peripheral, advertisementData, rssi) }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note("didConnect") { $0.peripheral = peripheral }
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    note("didFailToConnect") { ($0.peripheral, $0.error) = (peripheral, error) }
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) {
    note("didDisconnect") { ($0.peripheral, $0.isReconnecting, $0.error) = (peripheral, isReconnecting, error) }
  }

  func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
  ) {
    note("connectionEvent") { ($0.peripheral, $0.connectionEvent) = (peripheral, event) }
  }

  func peripheralDidUpdateName(_ peripheral: CBPeripheral) { note("didUpdateName") { $0.peripheral = peripheral } }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    note("didModifyServices") { ($0.peripheral, $0.services) = (peripheral, invalidatedServices) }
  }

  func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
    note("didCompleteChannelSounding") { ($0.peripheral, $0.error) = (peripheral, error) }
  }

  func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {
    note("didReadRSSI") { ($0.peripheral, $0.rssi, $0.error) = (peripheral, rssi, error) }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    note("didDiscoverServices") { ($0.peripheral, $0.error) = (peripheral, error) }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?) {
    note("didDiscoverIncludedServicesFor") { ($0.service, $0.error) = (service, error) }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    note("didDiscoverCharacteristicsFor") { ($0.service, $0.error) = (service, error) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note("didDiscoverDescriptorsFor") { ($0.characteristic, $0.error) = (characteristic, error) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note("didUpdateValueFor characteristic") {
      ($0.characteristic, $0.value, $0.error) = (characteristic, characteristic.value, error)
    }
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
    note("didUpdateValueFor descriptor") { ($0.descriptor, $0.error) = (descriptor, error) }
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    note("didWriteValueFor characteristic") { ($0.characteristic, $0.error) = (characteristic, error) }
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    note("didWriteValueFor descriptor") { ($0.descriptor, $0.error) = (descriptor, error) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note("didUpdateNotificationStateFor") { ($0.characteristic, $0.error) = (characteristic, error) }
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
    note("isReady") { $0.peripheral = peripheral }
  }

  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    note("didOpen") { ($0.peripheral, $0.channel, $0.error) = (peripheral, channel, error) }
  }
}
