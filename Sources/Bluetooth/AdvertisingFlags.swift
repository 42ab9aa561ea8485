/// The flags of an advertisement (CSS, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
  /// The octet of the packet.
  public let rawValue: UInt8
  /// Makes flags of the octet.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Discoverable for a short time, to those that look for such devices.
  public static let limitedDiscoverable = Self(rawValue: 0x01)
  /// Discoverable without a limit in time.
  public static let generalDiscoverable = Self(rawValue: 0x02)
  /// The device has no BR/EDR.
  public static let brEDRNotSupported = Self(rawValue: 0x04)
  /// The device can do LE and BR/EDR at once.
  public static let simultaneousLEAndBREDR = Self(rawValue: 0x08)
}
