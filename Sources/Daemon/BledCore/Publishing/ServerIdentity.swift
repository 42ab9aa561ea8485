import Bluetooth
import GATT

/// The identity of this machine as devices see it.
public struct ServerIdentity: Hashable, Sendable {
  /// The Device Name of the GAP service.
  public var name: String
  /// The Appearance of the GAP service (Assigned Numbers, 2.6); 0 is unknown.
  public var appearance: UInt16
  /// The Peripheral Preferred Connection Parameters of the GAP service; nil leaves them out.
  public var preferredConnection: PreferredConnectionParameters?
  /// Whether they may open enhanced ATT bearers, as the GATT service tells them.
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
