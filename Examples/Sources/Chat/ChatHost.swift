import CoreBluetooth
import Foundation

/// The side that others join: it publishes the service, and forwards each line of a guest to all.
@MainActor
final class ChatHost: NSObject, ChatPartner {
  private let name: String
  private let fromHost = CBMutableCharacteristic(
    type: ChatService.fromHost, properties: .notify, value: nil, permissions: .readable)
  private let toHost = CBMutableCharacteristic(
    type: ChatService.toHost, properties: .write, value: nil, permissions: .writeable)
  private var manager: CBPeripheralManager?
  /// Lines that wait for room, oldest first.
  private var waiting: [Data] = []

  init(name: String) {
    self.name = name
  }

  func start() {
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }

  func send(_ line: String) {
    waiting.append(Data("\(name): \(line)".utf8))
    sendWaiting()
  }

  private func sendWaiting() {
    while let manager, let next = waiting.first {
      guard manager.updateValue(next, for: fromHost, onSubscribedCentrals: nil) else { return }
      waiting.removeFirst()
    }
  }
}

extension ChatHost: @preconcurrency CBPeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return print("Bluetooth: \(peripheral.state)") }
    let service = CBMutableService(type: ChatService.uuid, primary: true)
    service.characteristics = [fromHost, toHost]
    peripheral.removeAllServices()
    peripheral.add(service)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    if let error { return print("The chat could not be published: \(error.localizedDescription)") }
    peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [ChatService.uuid]])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    print(error.map { "Cannot advertise: \($0.localizedDescription)" } ?? "The chat is open.")
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    print("A guest joined.")
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    print("A guest left.")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard let first = requests.first else { return }
    // The parts of a long line arrive as several requests, which together are one line.
    let line = requests.reduce(into: Data()) { $0 += $1.value ?? Data() }
    peripheral.respond(to: first, withResult: .success)
    print(String(decoding: line, as: UTF8.self))
    waiting.append(line)
    sendWaiting()
  }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendWaiting() }
}
