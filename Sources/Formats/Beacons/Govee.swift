import Bluetooth

/// Thermometers of Govee: H5072 and H5075 (temperature and humidity in one number), H5074 (two numbers), and H5101,
/// H5102 and H5177 (as the H5075, elsewhere).
enum Govee {
  /// The first products' company.
  static let company: UInt16 = 0xEC88
  /// The later ones' company, which is another company's identifier.
  static let laterCompany: UInt16 = 0x0001
  /// The service that distinguishes the later ones from that company's products.
  private static let service: BluetoothUUID = 0xEC88

  static func decode(_ data: [UInt8]) -> DecodedData? {
    var reader = OctetReader(data)
    _ = reader.uint8()
    var decoded = DecodedData(.govee)
    switch data.count {
    case 6: decoded.addTemperatureAndHumidity(reader.bigEndian(3))
    case 7:
      decoded.add("temperature", reader.signed(2), over: 100)
      decoded.add("humidity", reader.uint16().map(Int.init), over: 100)
    default: return nil
    }
    decoded.add("battery", reader.uint8().map { $0 & 0x7F })
    return decoded
  }

  static func decodeLater(_ data: [UInt8], _ advertised: AdvertisingData) -> DecodedData? {
    guard data.count == 6, advertised.serviceUUIDs.contains(service) else { return nil }
    var reader = OctetReader(data)
    _ = reader.uint16()
    var decoded = DecodedData(.govee)
    decoded.addTemperatureAndHumidity(reader.bigEndian(3))
    decoded.add("battery", reader.uint8().map { $0 & 0x7F })
    return decoded
  }
}

extension DecodedData {
  /// Tenths of a degree times 1000 plus tenths of a per cent, and above them a sign.
  fileprivate mutating func addTemperatureAndHumidity(_ number: Int?) {
    guard let number else { return }
    let magnitude = number & 0x7F_FFFF
    let tenths = magnitude / 1000
    add("temperature", number & 0x80_0000 == 0 ? tenths : -tenths, over: 10)
    add("humidity", magnitude % 1000, over: 10)
  }
}
