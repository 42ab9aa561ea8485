import Bluetooth

/// Values of assigned characteristics and descriptors as people read them.
public enum AssignedValue {
  /// A value as one line for people: 0x2A37 with 00 48 is "72 bpm".
  /// - Parameters:
  ///   - uuid: the UUID of the characteristic or descriptor.
  ///   - value: its value as read or notified.
  /// - Returns: nil for a UUID not known here, or a value that does not fit it. Then `printableText`, or hex.
  public static func text(for uuid: BluetoothUUID, value: [UInt8]) -> String? {
    guard let short = uuid.short16 else { return nil }
    return measurement(short, value) ?? quantity(short, value) ?? description(short, value)
  }

  /// The data of a service in an advertisement as one line for people: 64 of the Battery Service is "100 %".
  /// - Returns: nil unless the service is one whose data is a value of its characteristic.
  public static func text(forDataOf service: BluetoothUUID, _ data: [UInt8]) -> String? {
    service == 0x180F && data.count == 1 ? text(for: 0x2A19, value: data) : nil
  }

  /// The value as text, if it is UTF-8 without control characters other than one NUL at its end, and of at least 4
  /// octets: fewer are rather a number.
  public static func printableText(_ value: [UInt8]) -> String? {
    let octets = value.last == 0 ? value.dropLast() : value[...]
    guard octets.count >= 4, let text = String(validating: octets, as: UTF8.self) else { return nil }
    return text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) } ? text : nil
  }

  /// Values of several fields, each with its own type.
  private static func measurement(_ uuid: UInt16, _ value: [UInt8]) -> String? {
    switch uuid {
    case 0x2A08: DateTime(value)?.description
    case 0x2A1C, 0x2A1E: TemperatureMeasurement(value)?.description
    case 0x2A2B: DateTime(value)?.description
    case 0x2A35, 0x2A36: BloodPressureMeasurement(value)?.description
    case 0x2A37: HeartRateMeasurement(value)?.description
    case 0x2A53: RunningSpeedAndCadenceMeasurement(value)?.description
    case 0x2A5B: CyclingSpeedAndCadenceMeasurement(value)?.description
    case 0x2904: PresentationFormat(value)?.description
    default: nil
    }
  }

  /// Values consisting of one number with a unit.
  private static func quantity(_ uuid: UInt16, _ value: [UInt8]) -> String? {
    var reader = OctetReader(value)
    switch uuid {
    case 0x2A07: return reader.uint8().map { "\(Int8(bitPattern: $0)) dBm" }
    case 0x2A19: return reader.uint8().map { "\($0) %" }
    case 0x2A6D: return reader.uint32().map { "\(DecimalText.text($0, exponent: -1)) Pa" }
    case 0x2A6E: return reader.int16().map { $0 == .min ? "not known" : "\(DecimalText.text($0, exponent: -2)) °C" }
    case 0x2A6F: return reader.uint16().map { $0 == .max ? "not known" : "\(DecimalText.text($0, exponent: -2)) %" }
    case 0x2A76: return reader.uint8().map { "UV index \($0)" }
    case 0x2AF9: return reader.uint16().map { "level \($0)" }
    case 0x2AFB: return reader.uint24().map { "\(DecimalText.text($0, exponent: -2)) lx" }
    default: return nil
    }
  }

  /// Values describing a device and its capabilities.
  private static func description(_ uuid: UInt16, _ value: [UInt8]) -> String? {
    var reader = OctetReader(value)
    switch uuid {
    case 0x2A00, 0x2901, 0x2A24...0x2A29: return AdvertisingData.text(value)
    case 0x2A01: return reader.uint16().map { "\(Appearance(rawValue: $0))" }
    case 0x2A04: return connectionParameters(&reader)
    case 0x2A05: return handleRange(&reader)
    case 0x2A06: return reader.uint8().flatMap { name($0, of: ["no alert", "mild alert", "high alert"]) }
    case 0x2A1D: return reader.uint8().map(temperatureType)
    case 0x2A23: return systemID(value)
    case 0x2A2A, 0x2B2A: return Hex.encode(value)
    case 0x2A38: return reader.uint8().map(bodySensorLocation)
    case 0x2A50: return PnPID(value)?.description
    case 0x2A5D: return reader.uint8().map(sensorLocation)
    case 0x2900: return reader.uint16().map { flags($0, ["reliable write", "writable auxiliaries"]) }
    case 0x2902: return reader.uint16().map { flags($0, ["notifications", "indications"]) }
    case 0x2903: return reader.uint16().map { flags($0, ["broadcasts"]) }
    default: return nil
    }
  }
}

/// Values about the device and its connection.
extension AssignedValue {
  /// Peripheral Preferred Connection Parameters, 0x2A04 (Core 5.4, Vol 3, Part C, 12.3).
  fileprivate static func connectionParameters(_ reader: inout OctetReader) -> String? {
    guard let minimum = reader.uint16(), let maximum = reader.uint16(), let latency = reader.uint16(),
      let timeout = reader.uint16()
    else { return nil }
    func interval(_ value: UInt16) -> String {
      value == .max ? "any" : DecimalText.text(Int(value) * 125, exponent: -2)
    }
    let supervision = timeout == .max ? "any" : DecimalText.text(timeout, exponent: -2)
    return "interval \(interval(minimum)) to \(interval(maximum)) ms, latency \(latency), timeout \(supervision) s"
  }

  /// Service Changed, 0x2A05 (Core 5.4, Vol 3, Part G, 7.1).
  fileprivate static func handleRange(_ reader: inout OctetReader) -> String? {
    guard let start = reader.uint16(), let end = reader.uint16() else { return nil }
    return "handles \(start) to \(end)"
  }

  /// System ID, 0x2A23: the manufacturer's part and the organisation's (GATT Specification Supplement, 3.211).
  fileprivate static func systemID(_ value: [UInt8]) -> String? {
    guard value.count == 8 else { return nil }
    let octets = value.reversed()
    return "\(Hex.encode(octets.prefix(3)))-\(Hex.encode(octets.dropFirst(3)))"
  }
}

/// The value of PnP ID, 0x2A50 (GATT Specification Supplement, 3.171).
public struct PnPID: Hashable, Sendable {
  /// The organisation that assigned the vendor's number: 1 is the Bluetooth SIG, 2 the USB Implementers Forum.
  public var vendorIDSource: UInt8
  /// The vendor.
  public var vendor: UInt16
  /// The product, as numbered by the vendor.
  public var product: UInt16
  /// The version, as digits 0xJJMN for JJ.M.N.
  public var version: UInt16

  /// Reads the value.
  /// - Returns: nil if it is shorter than 7 octets.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let source = reader.uint8(), let vendor = reader.uint16(), let product = reader.uint16(),
      let version = reader.uint16()
    else { return nil }
    (vendorIDSource, self.vendor, self.product, self.version) = (source, vendor, product, version)
  }
}

extension PnPID: CustomStringConvertible {
  /// "vendor 004c (Apple), product 0220, version 1.0.0", with "usb:" before a vendor of the USB forum.
  public var description: String {
    func hex(_ value: UInt16) -> String { Hex.encode([UInt8(value >> 8), UInt8(value & 0xFF)]) }
    let name = vendorIDSource == 1 ? AssignedNames.name(of: vendor, .company).map { " (\($0))" } : nil
    let source = vendorIDSource == 2 ? "usb:" : ""
    let digits = "\(String(version >> 8, radix: 16)).\(version >> 4 & 0xF).\(version & 0xF)"
    return "vendor \(source)\(hex(vendor))\(name ?? ""), product \(hex(product)), version \(digits)"
  }
}

/// Values that are a number from a list.
extension AssignedValue {
  /// Body Sensor Location, 0x2A38 (GATT Specification Supplement, 3.35).
  fileprivate static func bodySensorLocation(_ value: UInt8) -> String {
    name(value, of: ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]) ?? "location \(value)"
  }

  /// Temperature Type, 0x2A1D (GATT Specification Supplement, 3.219).
  static func temperatureType(_ value: UInt8) -> String {
    let names = [
      nil, "armpit", "body", "ear", "finger", "gastro-intestinal tract", "mouth", "rectum", "toe", "tympanum",
    ]
    return name(value, of: names) ?? "type \(value)"
  }

  /// Sensor Location, 0x2A5D (GATT Specification Supplement, 3.203).
  fileprivate static func sensorLocation(_ value: UInt8) -> String {
    let names = [
      "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal",
      "right pedal", "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider",
      "chain ring",
    ]
    return name(value, of: names) ?? "location \(value)"
  }

  /// The name for a number; nil beyond the list's end.
  static func name(_ value: UInt8, of names: [String?]) -> String? {
    names.indices.contains(Int(value)) ? names[Int(value)] : nil
  }

  /// The names of the set bits, the lowest first; "off" for none.
  static func flags(_ bits: UInt16, _ names: [String]) -> String {
    let set = names.enumerated().filter { bits & 1 << UInt16($0.offset) != 0 }.map(\.element)
    return set.isEmpty ? "off" : set.joined(separator: ", ")
  }
}
