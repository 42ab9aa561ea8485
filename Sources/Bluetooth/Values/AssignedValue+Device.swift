/// Values about the device and its connection.
extension AssignedValue {
  /// Peripheral Preferred Connection Parameters, 0x2A04 (Core 5.4, Vol 3, Part C, 12.3).
  static func connectionParameters(_ reader: inout OctetReader) -> String? {
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
  static func handleRange(_ reader: inout OctetReader) -> String? {
    guard let start = reader.uint16(), let end = reader.uint16() else { return nil }
    return "handles \(start) to \(end)"
  }

  /// System ID, 0x2A23: the manufacturer's part and the organisation's (GATT Specification Supplement, 3.211).
  static func systemID(_ value: [UInt8]) -> String? {
    guard value.count == 8 else { return nil }
    let octets = value.reversed()
    return "\(Hex.encode(octets.prefix(3)))-\(Hex.encode(octets.dropFirst(3)))"
  }
}

/// The value of PnP ID, 0x2A50 (GATT Specification Supplement, 3.171).
public struct PnPID: Hashable, Sendable {
  /// Which organisation assigned the vendor's number: 1 is the Bluetooth SIG, 2 the USB Implementers Forum.
  public var vendorIDSource: UInt8
  /// The vendor.
  public var vendor: UInt16
  /// The product, a number of the vendor's.
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
    let name = vendorIDSource == 1 ? AssignedNames.companies[UInt32(vendor)].map { " (\($0))" } : nil
    let source = vendorIDSource == 2 ? "usb:" : ""
    let digits = "\(String(version >> 8, radix: 16)).\(version >> 4 & 0xF).\(version & 0xF)"
    return "vendor \(source)\(hex(vendor))\(name ?? ""), product \(hex(product)), version \(digits)"
  }
}
