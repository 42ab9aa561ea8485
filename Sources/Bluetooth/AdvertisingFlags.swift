/// The flags of an advertisement (CSS, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
  /// The octet of the packet.
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
