/// What `registerForConnectionEvents(options:)` looks at.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
  /// The key.
  public let rawValue: String

  /// Makes an option of its key.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Peripherals that have one of these services: an array of `CBUUID`.
  public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
  /// Peripherals of these identifiers: an array of `UUID`.
  public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
