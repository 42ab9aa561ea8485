import Bluetooth

/// Meters of SwitchBot ("SwitchBot BLE open API", meter): service data of six octets.
enum SwitchBot {
  static let service: BluetoothUUID = 0xFD3D
  /// The service of older firmware.
  static let formerService: BluetoothUUID = 0x0D00

  static func decode(_ data: [UInt8]) -> DecodedData? {
    guard data.count == 6 else { return nil }
    let model: String
    switch data[0] & 0x7F {
    case UInt8(ascii: "T"), UInt8(ascii: "t"): model = "meter"
    case UInt8(ascii: "i"): model = "meterPlus"
    default: return nil
    }
    var decoded = DecodedData(.switchBot)
    decoded.add("model", .text(model))
    // Whole degrees with a sign that is set above zero; tenths in the octet before.
    let magnitude = Int(data[4] & 0x7F) * 10 + Int(data[3] & 0x0F)
    if data[3] & 0x0F < 10 { decoded.add("temperature", data[4] & 0x80 == 0 ? -magnitude : magnitude, over: 10) }
    decoded.add("humidity", data[5] & 0x7F)
    decoded.add("battery", data[2] & 0x7F)
    return decoded
  }
}
