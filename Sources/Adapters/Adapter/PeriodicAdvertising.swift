import Bluetooth

/// Periodic advertising: data in packets at fixed times, which synchronised devices receive without scanning (Core
/// 5.4, Vol 6, Part B, 4.4.2.12).
public struct PeriodicAdvertising: Hashable, Sendable {
  /// The time between two packets.
  public var interval: Duration
  /// The data: up to as many octets as an extended advertisement can carry.
  public var data: [UInt8]
  /// Whether the header tells the transmit power.
  public var includesTxPower: Bool
  /// The slots in which devices respond; nil for a train without. With them the data is that of `setSubevent`.
  public var responses: ResponseSlots?

  /// Describes a train.
  public init(interval: Duration, data: [UInt8], includesTxPower: Bool = false) {
    self.interval = interval
    self.data = data
    self.includesTxPower = includesTxPower
  }

  /// The intervals that there are, in seconds (Core 5.4, Vol 4, Part E, 7.8.61).
  public static let intervals = 0.0075...81.91875
}
