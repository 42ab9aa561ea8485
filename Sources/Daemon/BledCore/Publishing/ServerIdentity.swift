import Bluetooth
import GATT

/// This machine's identity as devices see it.
public struct ServerIdentity: Hashable, Sendable {
  /// The Device Name in the GAP service.
  public var name: String
  /// The Appearance in the GAP service (Assigned Numbers, 2.6); 0 is unknown.
  public var appearance: UInt16
  /// The Peripheral Preferred Connection Parameters in the GAP service; nil leaves them out.
  public var preferredConnection: PreferredConnectionParameters?
  /// True if devices may open enhanced ATT bearers, as announced in the GATT service.
  public var hasEnhancedBearers: Bool

  /// Makes an identity.
  public init(
    name: String, appearance: UInt16 = 0, preferredConnection: PreferredConnectionParameters? = nil,
    hasEnhancedBearers: Bool = false
  ) {
    self.name = name
    self.appearance = appearance
    self.preferredConnection = preferredConnection
    self.hasEnhancedBearers = hasEnhancedBearers
  }
}
