import CoreBluetooth
import Foundation

/// A device with an e-mail address that only paired devices may read: others get an error that asks them to pair.
final class ProtectedEmail: NSObject {
  private let userData = CBUUID(string: "181C")

  private let address: Data
  private let name = CBMutableCharacteristic(
    type: CBUUID(string: "2A8A"), properties: .read, value: Data("Alice".utf8), permissions: .readable)
  private let email = CBMutableCharacteristic(
    type: CBUUID(string: "2A87"), properties: .read, value: nil, permissions: .readEncryptionRequired)
  private var manager: CBPeripheralManager?

  /// - Parameter address: The e-mail address.
  init(address: String) {
    self.address = Data(address.utf8)
  }

  func start() {
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }
}

extension ProtectedEmail: CBPeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return print("Bluetooth: \(peripheral.state)") }
    let service = CBMutableService(type: userData, primary: true)
    service.characteristics = [name, email]
    peripheral.removeAllServices()
    peripheral.add(service)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    if let error { return print("The service could not be published: \(error.localizedDescription)") }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Alice", CBAdvertisementDataServiceUUIDsKey: [userData],
    ])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    print(error.map { "Cannot advertise: \($0.localizedDescription)" } ?? "Advertising.")
  }

  /// Called only for reads over an encrypted link: the daemon refuses others.
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard request.offset <= address.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
    print("The e-mail address was read by \(request.central.identifier).")
    request.value = address.suffix(from: request.offset)
    peripheral.respond(to: request, withResult: .success)
  }
}
