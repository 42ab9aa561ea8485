import Bluetooth

/// Periodic advertising: data in packets at fixed times, which synchronised devices receive without scanning (Core
/// 5.4, Vol 6, Part B, 4.4.2.12).
public struct PeriodicAdvertising: Hashable, Sendable {
  /// The time between two packets.
  public var interval: Duration
  /// The data: up to as many octets as an extended advertisement can carry.
  public var data: [UInt8]
  /// True to include the transmit power in the header.
  public var includesTxPower: Bool
  /// The slots for responses from devices; nil for a train without. With them the data is sent by `setSubevent`.
  public var responses: ResponseSlots?

  /// Describes a train.
  public init(interval: Duration, data: [UInt8], includesTxPower: Bool = false) {
    self.interval = interval
    self.data = data
    self.includesTxPower = includesTxPower
  }

  /// The possible intervals, in seconds (Core 5.4, Vol 4, Part E, 7.8.61).
  public static let intervals = 0.0075...81.91875
}
