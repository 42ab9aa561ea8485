import CoreBluetooth

/// A peripheral manager with a delegate that records everything and answers from the tables here.
final class PeripheralRole: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
  let log = EventLog()
  private(set) lazy var manager = CBPeripheralManager(
    delegate: self, queue: log.queue,
    options: restoration.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] })
  private let restoration: String?
  /// How reads and writes are answered; nil: not at all.
  var result: CBATTError.Code? = .success
  /// The values that are read.
  var value = Data("Value".utf8)

  /// - Parameters:
  ///   - restoration: the restoration identifier.
  ///   - adapter: the adapter that the environment names while the manager is made.
  init(restoration: String? = nil, adapter: String? = nil) {
    self.restoration = restoration
    super.init()
    BledProcess.choosing(adapter) { _ = manager }
  }

  /// Publishes a service and waits for the answer.
  func publish(_ service: CBMutableService) async throws {
    manager.add(service)
    let event = try await log.next("didAdd") { $0.service === service }
    if let error = event.error { throw error }
  }

  /// Advertises and waits for the answer.
  func advertise(_ data: [String: Any]) async throws {
    manager.startAdvertising(data)
    if let error = try await log.next("didStartAdvertising").error { throw error }
  }

  private func note(_ name: String, _ fill: (inout Event) -> Void = { _ in }) {
    log.inside {
      var event = Event(name: name)
      fill(&event)
      log.add(event)
    }
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    note("didUpdateState") { $0.state = peripheral.state }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    note("willRestoreState") { ($0.state, $0.data) = (peripheral.state, dict) }
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    note("didStartAdvertising") { $0.error = error }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    note("didAdd") { ($0.service, $0.error) = (service, error) }
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    note("didSubscribe") { ($0.central, $0.characteristic) = (central, characteristic) }
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    note("didUnsubscribe") { ($0.central, $0.characteristic) = (central, characteristic) }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    note("didReceiveRead") {
      ($0.central, $0.characteristic, $0.requests) = (request.central, request.characteristic, [request])
    }
    guard let result else { return }
    guard request.offset <= value.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
    request.value = value.suffix(from: request.offset)
    peripheral.respond(to: request, withResult: result)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    note("didReceiveWrite") {
      ($0.central, $0.characteristic, $0.requests) = (requests[0].central, requests[0].characteristic, requests)
      $0.value = requests[0].value
    }
    if let result { peripheral.respond(to: requests[0], withResult: result) }
  }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { note("isReady") }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {
    note("didPublish") { ($0.psm, $0.error) = (psm, error) }
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) {
    note("didUnpublish") { ($0.psm, $0.error) = (psm, error) }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    note("didOpen") { ($0.channel, $0.error) = (channel, error) }
  }
}
