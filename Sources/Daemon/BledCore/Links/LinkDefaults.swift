import Adapter
import Bluetooth

/// The settings of every new link where both sides can.
public struct LinkDefaults: Hashable, Sendable {
  /// The PHY requested on a link that begins on LE 1M: `.le2M`, or `.le1M` for no change.
  public var phy = PHY.le2M
  /// The longest payload we send, 27 to 251 octets.
  public var longestPacket = 251
  /// Maximum time between two connection events at which a device listens, latency included, granted when it requests
  /// other parameters.
  public var longestInterval = Duration.seconds(2)

  /// 2M and 251 octets.
  public init() {}
}
