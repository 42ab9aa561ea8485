/// The device's identity: flags, name, appearance, manufacturer and power (CSS, Part A, 1.2 to 1.5 and 1.12).
extension AdvertisingData {
  /// Manufacturer-specific data.
  public struct ManufacturerData: Hashable, Sendable {
    /// The company identifier (Assigned Numbers, 7.1).
    public var company: UInt16
    /// The data after it, in the company's own format.
    public var data: [UInt8]

    /// Makes manufacturer-specific data.
    public init(company: UInt16, data: [UInt8]) {
      self.company = company
      self.data = data
    }

    /// Reads the packet's octets: the company, low octet first, then the data.
    /// - Returns: nil for less than two octets.
    public init?(octets: [UInt8]) {
      guard octets.count >= 2 else { return nil }
      self.init(company: UInt16(octets[0]) | UInt16(octets[1]) << 8, data: Array(octets.dropFirst(2)))
    }

    /// The packet's octets: the company, low octet first, then the data.
    public var octets: [UInt8] {
      [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + data
    }
  }

  /// The flags; nil if there are none.
  public var flags: AdvertisingFlags? { first(.flags)?.first.map(AdvertisingFlags.init(rawValue:)) }

  /// The name: the complete one if there is one, else the shortened one. It ends before the first octet that is NUL or
  /// invalid UTF-8, without white space at its ends; nil if nothing is left.
  public var localName: String? {
    (first(.completeLocalName) ?? first(.shortenedLocalName)).flatMap { Self.text($0) }
  }

  /// The packet's transmit power, in dBm.
  public var txPowerLevel: Int? { first(.txPowerLevel)?.first.map { Int(Int8(bitPattern: $0)) } }

  /// The appearance (Assigned Numbers, 2.6).
  public var appearance: UInt16? {
    guard let data = first(.appearance), data.count >= 2 else { return nil }
    return UInt16(data[0]) | UInt16(data[1]) << 8
  }

  /// The manufacturer-specific data, in order.
  public var manufacturerData: [ManufacturerData] {
    structures.compactMap { $0.type == .manufacturerSpecificData ? ManufacturerData(octets: $0.data) : nil }
  }

  /// The text up to the first octet that is NUL or invalid UTF-8, without white space at its ends; nil if none is left.
  package static func text(_ octets: [UInt8]) -> String? {
    var scalars = String.UnicodeScalarView()
    var decoder = UTF8()
    var iterator = octets.makeIterator()
    while case .scalarValue(let scalar) = decoder.decode(&iterator), scalar != "\0" {
      guard !(scalars.isEmpty && scalar.properties.isWhitespace) else { continue }
      scalars.append(scalar)
    }
    while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
    return scalars.isEmpty ? nil : String(scalars)
  }
}

extension AdvertisingData.Structure {
  /// A structure of flags.
  public static func flags(_ flags: AdvertisingFlags) -> Self { Self(.flags, [flags.rawValue]) }

  /// A structure with the device's name or its beginning.
  public static func localName(_ name: String, isComplete: Bool = true) -> Self {
    Self(isComplete ? .completeLocalName : .shortenedLocalName, Array(name.utf8))
  }

  /// A structure with the packet's transmit power, in dBm; values beyond −127 to 127 are clamped.
  public static func txPowerLevel(_ level: Int) -> Self {
    Self(.txPowerLevel, [UInt8(bitPattern: Int8(clamping: max(level, -127)))])
  }

  /// A structure with the appearance (Assigned Numbers, 2.6).
  public static func appearance(_ appearance: UInt16) -> Self {
    Self(.appearance, [UInt8(truncatingIfNeeded: appearance), UInt8(truncatingIfNeeded: appearance >> 8)])
  }

  /// A structure of manufacturer-specific data.
  public static func manufacturerData(_ data: AdvertisingData.ManufacturerData) -> Self {
    Self(.manufacturerSpecificData, data.octets)
  }
}

/// An advertisement's flags (CSS, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
  /// The packet's octet.
  public let rawValue: UInt8
  /// Makes flags from the octet.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Limited discoverable: for a short time.
  public static let limitedDiscoverable = Self(rawValue: 0x01)
  /// General discoverable: without a time limit.
  public static let generalDiscoverable = Self(rawValue: 0x02)
  /// The device does not support BR/EDR.
  public static let brEDRNotSupported = Self(rawValue: 0x04)
  /// The device supports LE and BR/EDR simultaneously.
  public static let simultaneousLEAndBREDR = Self(rawValue: 0x08)
}
