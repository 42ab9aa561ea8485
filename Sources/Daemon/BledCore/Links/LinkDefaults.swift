import Adapter
import Bluetooth

/// The settings of every new link where both sides can.
public struct LinkDefaults: Hashable, Sendable {
  /// The PHY to which a link goes over that begins on LE 1M: `.le2M`, or `.le1M` for none.
  public var phy = PHY.le2M
  /// The longest payload of the packets that we send, 27 to 251 octets.
  public var longestPacket = 251
  /// The longest time between two connection events at which a device listens, its latency included, that it gets when
  /// it asks for other parameters.
  public var longestInterval = Duration.seconds(2)

  /// 2M and 251 octets.
  public init() {}
}
