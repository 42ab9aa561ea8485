import Bluetooth

/// The value of a Characteristic Presentation Format descriptor, 0x2904 (Core 5.4, Vol 3, Part G, 3.3.3.5): the
/// presentation of its characteristic's value.
public struct PresentationFormat: Hashable, Sendable {
  /// The value's type (Assigned Numbers, 2.4.1).
  public var format: UInt8
  /// The power of ten by which integers are multiplied.
  public var exponent: Int8
  /// The unit's UUID (Assigned Numbers, 3.5).
  public var unit: BluetoothUUID
  /// The organisation that defines `descriptionNumber`; 1 is the Bluetooth SIG.
  public var namespace: UInt8
  /// A number that distinguishes characteristics of one type: first, second, left, right…
  public var descriptionNumber: UInt16

  /// Reads the value.
  /// - Returns: nil if it is shorter than 7 octets.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let format = reader.uint8(), let exponent = reader.uint8(), let unit = reader.uint16(),
      let namespace = reader.uint8(), let descriptionNumber = reader.uint16()
    else { return nil }
    self.format = format
    self.exponent = Int8(bitPattern: exponent)
    self.unit = BluetoothUUID(unit)
    self.namespace = namespace
    self.descriptionNumber = descriptionNumber
  }

  /// The format's name: "uint16"; nil for one not known here.
  public var formatName: String? { Self.formats[format] }

  /// The unit's sign, "°C", empty if there is none; nil for one not known here.
  public var unitText: String? {
    unit.short16.flatMap { AssignedNames.name(of: $0, .unit) }.map { $0 == "1" ? "" : $0 }
  }

  private static let formats: [UInt8: String] = [
    0x01: "boolean", 0x02: "uint2", 0x03: "uint4", 0x04: "uint8", 0x05: "uint12", 0x06: "uint16", 0x07: "uint24",
    0x08: "uint32", 0x09: "uint48", 0x0A: "uint64", 0x0B: "uint128", 0x0C: "sint8", 0x0D: "sint12", 0x0E: "sint16",
    0x0F: "sint24", 0x10: "sint32", 0x11: "sint48", 0x12: "sint64", 0x13: "sint128", 0x14: "float32",
    0x15: "float64", 0x16: "medfloat16", 0x17: "medfloat32", 0x18: "uint16[2]", 0x19: "utf8", 0x1A: "utf16",
    0x1B: "struct",
  ]
}

extension PresentationFormat: CustomStringConvertible {
  /// "sint16 × 10^-2 °C".
  public var description: String {
    var text = formatName ?? "format 0x\(Hex.encode([format]))"
    if exponent != 0 { text += " × 10^\(exponent)" }
    let sign = unitText ?? "(unit \(unit))"
    return sign.isEmpty ? text : "\(text) \(sign)"
  }
}
