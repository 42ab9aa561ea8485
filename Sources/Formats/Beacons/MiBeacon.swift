import Bluetooth

/// MiBeacon of Xiaomi, versions 2 to 5: service data of FE95.
///
/// | Octets | Part                                                                  |
/// |--------|-----------------------------------------------------------------------|
/// | 2      | frame control: the fields present, and the version in the top four bits |
/// | 2      | the product                                                           |
/// | 1      | a counter of packets                                                  |
/// | 6      | its address, if bit 4 is set                                          |
/// | 1 or 2 | its capabilities, if bit 5 is set; two if bit 5 of the first is set   |
/// | any    | objects, if bit 6 is set: identifier (2), length (1), value           |
/// | 3      | more octets of the counter, if bit 3 is set: the objects are encrypted |
/// | 4      | the check of AES-CCM, if they are encrypted                           |
///
/// Data of versions 2 and 3, with a key of 12 octets, is not decrypted.
enum MiBeacon {
  static let service: BluetoothUUID = 0xFE95

  private static let encrypted: UInt16 = 1 << 3
  private static let hasAddress: UInt16 = 1 << 4
  private static let hasCapabilities: UInt16 = 1 << 5
  private static let hasObjects: UInt16 = 1 << 6
  private static let mesh: UInt16 = 1 << 7

  /// The octets checked besides the objects.
  private static let associatedData: [UInt8] = [0x11]

  static func decode(_ data: [UInt8], _ source: AdvertisingData.Source) -> DecodedData? {
    var reader = OctetReader(data)
    guard let control = reader.uint16(), let product = reader.uint16(), let packet = reader.uint8(),
      (2...5).contains(control >> 12), control & mesh == 0
    else { return nil }
    var decoded = DecodedData(.miBeacon)
    decoded.add("product", product)
    decoded.add("packet", packet)
    var address = source.address
    if control & hasAddress != 0 {
      guard let octets = reader.octets(6) else { return nil }
      address = DeviceAddress(littleEndian: octets, kind: .public)
      decoded.add("address", address.map { .text("\($0)") })
    }
    if control & hasCapabilities != 0 {
      guard let capabilities = reader.uint8() else { return nil }
      if capabilities & 0x20 != 0 { _ = reader.uint8() }
    }
    guard control & hasObjects != 0 else { return decoded }
    if control & encrypted != 0 {
      decoded.add("encrypted", true)
      guard control >> 12 >= 4, let address, let payload = reader.octets(reader.count - 7),
        let counter = reader.octets(3), let check = reader.octets(4)
      else { return decoded }
      let nonce: [UInt8] = address.littleEndian + Array(data[2..<5]) + counter
      let sealed = SealedData(
        address: address, nonce: nonce, associatedData: associatedData, payload: payload, check: check)
      guard let objects = decoded.add(source.open(sealed)) else { return decoded }
      reader = OctetReader(objects)
    }
    while decoded.members.count < DecodedData.limit, let identifier = reader.uint16(), let length = reader.uint8(),
      let value = reader.octets(Int(length))
    {
      decoded.add(object: identifier, value)
    }
    return decoded
  }
}

extension DecodedData {
  /// Adds a MiBeacon object's value; nothing if it is unknown or has another length.
  fileprivate mutating func add(object identifier: UInt16, _ value: [UInt8]) {
    var reader = OctetReader(value)
    switch (identifier, value.count) {
    case (0x0003, 1...): add("motion", value[0] != 0)
    case (0x1004, 2): add("temperature", reader.signed(2), over: 10)
    case (0x1005, 2):
      add("on", value[0] != 0)
      add("temperature", value[1])
    case (0x1006, 2): add("humidity", reader.uint16().map(Int.init), over: 10)
    case (0x1007, 3): add("illuminance", reader.uint24())
    case (0x1008, 1): add("moisture", value[0])
    case (0x1009, 2): add("conductivity", reader.uint16())
    case (0x100A, 1): add("battery", value[0])
    case (0x100D, 4):
      add("temperature", reader.signed(2), over: 10)
      add("humidity", reader.uint16().map(Int.init), over: 10)
    case (0x1010, 2): add("formaldehyde", reader.uint16().map(Int.init), over: 100)
    case (0x1012, 1): add("on", value[0] != 0)
    case (0x1013, 1): add("consumable", value[0])
    case (0x1014, 1): add("moistureDetected", value[0] != 0)
    case (0x1015, 1): add("smoke", value[0] != 0)
    case (0x1017, 4): add("idle", reader.uint32())
    case (0x1018, 1): add("light", value[0] != 0)
    // 0: opened, 1: closed, 2: left open for too long.
    case (0x1019, 1) where value[0] < 3: add("open", value[0] != 1)
    default: break
    }
  }
}
