import Bluetooth

/// RuuviTag: data format 3 (RAWv1) and 5 (RAWv2) in the manufacturer-specific data of Ruuvi Innovations, most
/// significant octet first. In format 5 the largest unsigned and the smallest signed number mean "not available".
enum RuuviTag {
  static let company: UInt16 = 0x0499

  static func decode(_ data: [UInt8]) -> DecodedData? {
    switch (data.first, data.count) {
    case (3, 14): format3(data)
    case (5, 24): format5(data)
    default: nil
    }
  }

  private static func format3(_ data: [UInt8]) -> DecodedData {
    var reader = OctetReader(data)
    var decoded = DecodedData(.ruuviTag)
    decoded.add("format", reader.uint8())
    decoded.add("humidity", reader.bigEndian(1), over: 2)
    // A sign, whole degrees, hundredths.
    if let degrees = reader.bigEndian(1), let hundredths = reader.bigEndian(1), hundredths < 100 {
      let magnitude = (degrees & 0x7F) * 100 + hundredths
      decoded.add("temperature", degrees & 0x80 == 0 ? magnitude : -magnitude, over: 100)
    }
    decoded.add("pressure", reader.bigEndian(2).map { $0 + 50_000 }, over: 100)
    for axis in axes { decoded.add(axis, reader.signedBigEndian(2), over: 1000) }
    decoded.add("voltage", reader.bigEndian(2), over: 1000)
    return decoded
  }

  private static func format5(_ data: [UInt8]) -> DecodedData {
    var reader = OctetReader(data)
    func signed() -> Int? { reader.signedBigEndian(2).flatMap { $0 == -0x8000 ? nil : $0 } }
    func unsigned(_ count: Int) -> Int? {
      reader.bigEndian(count).flatMap { $0 == (1 << (8 * count)) - 1 ? nil : $0 }
    }
    var decoded = DecodedData(.ruuviTag)
    decoded.add("format", reader.uint8())
    decoded.add("temperature", signed(), over: 200)
    decoded.add("humidity", unsigned(2), over: 400)
    decoded.add("pressure", unsigned(2).map { $0 + 50_000 }, over: 100)
    for axis in axes { decoded.add(axis, signed(), over: 1000) }
    if let power = reader.bigEndian(2) {
      if power >> 5 != 0x7FF { decoded.add("voltage", power >> 5 + 1600, over: 1000) }
      if power & 0x1F != 0x1F { decoded.add("txPower", (power & 0x1F) * 2 - 40) }
    }
    decoded.add("movements", unsigned(1))
    decoded.add("sequence", unsigned(2))
    if let octets = reader.octets(6), octets.contains(where: { $0 != 0xFF }) {
      decoded.add("address", DeviceAddress(littleEndian: octets.reversed(), kind: .random).map { .text("\($0)") })
    }
    return decoded
  }

  private static let axes = ["accelerationX", "accelerationY", "accelerationZ"]
}
