import BledRPC
import Bluetooth

/// A keyboard as bled describes it, and the values of its attributes.
enum Keyboard {
  static let address = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  static let peripheral = "5C3E"

  /// The adapter that has the keys.
  static let adapter = "02:00:00:00:00:0A"

  static func bond(
    _ level: Word<SecurityLevel> = "secureConnections", on adapter: String = adapter
  ) -> BondDescription {
    BondDescription(
      peripheral: peripheral, address: "\(address)", addressType: "random", name: "Desk", adapterAddress: adapter,
      level: level, keySize: 16)
  }

  /// A characteristic with its value at a handle and descriptors behind it.
  static func characteristic(
    _ uuid: UInt16, _ handle: UInt16, _ properties: [Word<CharacteristicProperty>], _ descriptors: [UInt16] = []
  ) -> CharacteristicDescription {
    CharacteristicDescription(
      handle: handle, end: handle + UInt16(descriptors.count), uuid: BluetoothUUID(uuid), properties: properties,
      descriptors: descriptors.enumerated().map {
        DescriptorDescription(handle: handle + 1 + UInt16($0.offset), uuid: BluetoothUUID($0.element))
      })
  }

  static func service(_ uuid: UInt16, _ handle: UInt16, _ characteristics: [CharacteristicDescription])
    -> ServiceDescription
  {
    ServiceDescription(
      handle: handle, end: characteristics.last?.end ?? handle, uuid: BluetoothUUID(uuid), primary: true,
      characteristics: characteristics)
  }

  static let services = [
    service(0x1800, 1, [characteristic(0x2A00, 3, ["read"])]),
    service(0x180A, 10, [characteristic(0x2A50, 12, ["read"])]),
    service(0x180F, 15, [characteristic(0x2A19, 17, ["read", "notify"], [0x2902])]),
    service(
      0x1812, 20,
      [
        characteristic(0x2A4A, 22, ["read"]),
        characteristic(0x2A4B, 24, ["read"]),
        characteristic(0x2A4E, 26, ["read", "writeWithoutResponse"]),
        characteristic(0x2A4D, 30, ["read", "notify"], [0x2902, 0x2908]),
        characteristic(0x2A4D, 40, ["read", "write", "writeWithoutResponse"], [0x2908]),
        characteristic(0x2A4D, 50, ["read", "notify"], [0x2902, 0x2908]),
        characteristic(0x2A4C, 60, ["writeWithoutResponse"]),
      ]),
  ]

  static let values: [UInt16: [UInt8]] = [
    3: Array("Desk keyboard".utf8), 12: [2, 0x6D, 0x04, 0x4A, 0xB3, 0x02, 0x01], 22: [0x11, 0x01, 33, 0x03],
    24: Maps.keyboard, 26: [1], 32: [1, 1], 41: [1, 2], 52: [2, 1],
  ]
}

/// Errors of a device.
enum Failure {
  /// Each time anew.
  static let refusal = BluetoothError(domain: .att, code: 0x02, name: "readNotPermitted", message: "refused")
}
