import CoreBluetooth

/// A service like a heart-rate belt's with an additional writable characteristic, and its advertisement.
struct LocalBelt {
  static var advertisement: [String: Any] {
    [CBAdvertisementDataLocalNameKey: "Tests", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")]]
  }

  let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
  let rate = CBMutableCharacteristic(
    type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
  let text = CBMutableCharacteristic(
    type: CBUUID(string: Air.echo), properties: [.read, .write], value: nil, permissions: [.readable, .writeable])
  let fixed = CBMutableCharacteristic(
    type: CBUUID(string: "2A38"), properties: .read, value: Data([1]), permissions: .readable)

  /// The three of them, in order.
  var characteristics: [CBMutableCharacteristic] { [rate, text, fixed] }

  init() {
    text.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Text")]
    service.characteristics = characteristics
  }
}
