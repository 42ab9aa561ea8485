import Bluetooth

/// The filter of one program's discovery (BlueZ, org.bluez.Adapter, SetDiscoveryFilter).
struct DiscoveryFilter: Equatable {
  static let names = [
    "UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern", "AutoConnect",
  ]

  var services: [BluetoothUUID] = []
  /// In dBm; weaker devices are left out.
  var rssi: Int?
  /// In dB, transmit power less signal strength; more distant devices, and devices that do not report their power, are
  /// left out.
  var pathLoss: Int?
  /// True to report each advertisement, not only changes.
  var hasDuplicates = false
  /// The beginning of an address or a name.
  var pattern: String?

  init() {}

  /// Reads `a{sv}`.
  /// - Throws: `BusError`: InvalidArguments, or NotSupported for the classic transport alone.
  init(_ value: BusValue) throws(BusError) {
    for (name, value) in value.options ?? [] {
      switch (name, value) {
      case ("UUIDs", .array("s", let texts)):
        for text in texts {
          guard let uuid = text.string.flatMap({ BluetoothUUID($0) }) else { throw .invalidArguments }
          services.append(uuid)
        }
      case ("RSSI", .int16(let number)): rssi = Int(number)
      case ("Pathloss", .uint16(let number)): pathLoss = Int(number)
      case ("Transport", .string("auto")), ("Transport", .string("le")): break
      case ("Transport", .string("bredr")): throw .notSupported
      case ("DuplicateData", .boolean(let flag)): hasDuplicates = flag
      case ("Discoverable", .boolean), ("AutoConnect", .boolean): break
      case ("Pattern", .string(let text)): pattern = text.isEmpty ? nil : text
      default: throw .invalidArguments
      }
    }
    if rssi != nil, pathLoss != nil { throw .invalidArguments }
    // 127 means none.
    if rssi == 127 { rssi = nil }
  }

  /// True if a device passes the conditions that bled does not filter.
  func passes(address: String, name: String?, rssi: Int?, txPower: Int?) -> Bool {
    if let pathLoss {
      guard let rssi, let txPower, txPower - rssi <= pathLoss else { return false }
    }
    guard let pattern else { return true }
    return Self.begins(address, with: pattern) || name.map { Self.begins($0, with: pattern) } ?? false
  }

  /// True if a text begins with another one; the case of ASCII letters does not count.
  private static func begins(_ text: String, with start: String) -> Bool {
    text.utf8.lazy.map(lower).starts(with: start.utf8.lazy.map(lower))
  }

  private static func lower(_ code: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(code) ? code | 0x20 : code
  }
}
