import BledRPC
import Bluetooth
import BondedDevices

@testable import MIDIGateway

/// A device with MIDI as bled describes it.
enum Piano {
  static let address = DeviceAddress(value: 0xF0F1_F2F3_F407, kind: .random)
  static let peripheral = "5C3F"
  static let adapter = "02:00:00:00:00:0A"
  static let handle: UInt16 = 12

  static func bond() -> BondDescription {
    BondDescription(
      peripheral: peripheral, address: "\(address)", addressType: "random", name: "Piano", adapterAddress: adapter,
      level: "encrypted", keySize: 16)
  }

  static func services(_ properties: [Word<CharacteristicProperty>] = ["read", "writeWithoutResponse", "notify"])
    -> [ServiceDescription]
  {
    [
      ServiceDescription(
        handle: 1, end: 3, uuid: 0x1800, primary: true,
        characteristics: [
          CharacteristicDescription(handle: 3, end: 3, uuid: 0x2A00, properties: ["read"], descriptors: [])
        ]),
      ServiceDescription(
        handle: 10, end: 13, uuid: MIDICharacteristic.service, primary: true,
        characteristics: [
          CharacteristicDescription(
            handle: handle, end: 13, uuid: MIDICharacteristic.uuid, properties: properties,
            descriptors: [DescriptorDescription(handle: 13, uuid: 0x2902)])
        ]),
    ]
  }

  /// A device without MIDI.
  static let otherServices = [
    ServiceDescription(handle: 1, end: 3, uuid: 0x1800, primary: true, characteristics: [])
  ]

  /// A link with an interval of 11.25 ms and an MTU of 23.
  static var link: LinkDescription {
    var link = LinkDescription(peripheral: peripheral, role: "central", mtu: 23)
    (link.security, link.interval) = ("encrypted", 0.01125)
    return link
  }
}
