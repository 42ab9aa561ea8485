import CoreBluetooth
import Foundation

/// Sends back what comes over its channels. Their number is in a characteristic.
final class EchoServer: NSObject {
  static var service: CBUUID { CBUUID(string: "B1ED0010-5EED-4B1E-8D00-000000000000") }

  private var manager: CBPeripheralManager?
  private var pipes: [ChannelPipe] = []

  func start() {
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }
}

extension EchoServer: CBPeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return print("Bluetooth: \(peripheral.state)") }
    peripheral.publishL2CAPChannel(withEncryption: false)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: Error?) {
    if let error { return print("No number: \(error.localizedDescription)") }
    print("Listening on \(psm).")
    let number = CBMutableCharacteristic(
      type: CBUUID(string: CBUUIDL2CAPPSMCharacteristicString), properties: .read,
      value: Data([UInt8(psm & 0xFF), UInt8(psm >> 8)]), permissions: .readable)
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [number]
    peripheral.add(service)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
    if let error { return print("The service could not be published: \(error.localizedDescription)") }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Echo", CBAdvertisementDataServiceUUIDsKey: [Self.service],
    ])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
    print(error.map { "Cannot advertise: \($0.localizedDescription)" } ?? "Advertising.")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
    guard let channel else { return print("No channel: \(error?.localizedDescription ?? "")") }
    print("A channel is open.")
    let pipe = ChannelPipe(channel)
    pipe.onReceive = { [unowned pipe] in pipe.write($0) }
    pipe.onEnd = { [unowned self, unowned pipe] in
      print("A channel has ended.")
      pipes.removeAll { $0 === pipe }
    }
    pipes.append(pipe)
  }
}
