/// Which PDU legacy advertising sends (Core 5.4, Vol 4, Part E, 7.8.5).
public enum LegacyAdvertisingType: UInt8, Hashable, Sendable, CaseIterable {
  /// ADV_IND: connectable and scannable, undirected.
  case connectableUndirected = 0
  /// ADV_DIRECT_IND, high duty cycle.
  case directedHighDutyCycle = 1
  /// ADV_SCAN_IND: scannable, undirected.
  case scannableUndirected = 2
  /// ADV_NONCONN_IND: neither.
  case nonconnectableUndirected = 3
  /// ADV_DIRECT_IND, low duty cycle.
  case directedLowDutyCycle = 4

  /// Reads it.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    let octet = try reader.uint8()
    guard let type = Self(rawValue: octet) else { throw .invalidValue(UInt64(octet)) }
    self = type
  }
  /// Writes it.
  public func write(to writer: inout OctetWriter) { writer.uint8(rawValue) }
}

/// What kind of advertisement an extended set sends (Core 5.4, Vol 4, Part E, 7.8.53).
public struct AdvertisingEventProperties: OptionSet, Hashable, Sendable {
  /// The bits on the wire.
  public let rawValue: UInt16
  /// Makes a set of its bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Connectable.
  public static let connectable = AdvertisingEventProperties(rawValue: 1 << 0)
  /// Scannable.
  public static let scannable = AdvertisingEventProperties(rawValue: 1 << 1)
  /// Directed.
  public static let directed = AdvertisingEventProperties(rawValue: 1 << 2)
  /// With legacy PDUs, which every scanner hears and which carry at the most 31 octets.
  public static let legacyPDUs = AdvertisingEventProperties(rawValue: 1 << 4)
  /// Without the advertiser's address.
  public static let anonymous = AdvertisingEventProperties(rawValue: 1 << 5)

  /// Reads it.
  public init(from reader: inout OctetReader) throws(HCICodingError) { rawValue = try reader.uint16() }
  /// Writes it.
  public func write(to writer: inout OctetWriter) { writer.uint16(rawValue) }
}
