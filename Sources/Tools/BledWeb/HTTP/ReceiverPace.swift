/// The minimum pace at which a receiver has to accept octets, so that a slow one does not keep its place for ever.
public struct ReceiverPace: Sendable {
  /// The time that any number of octets may take.
  public let least: Duration
  /// The octets for which there is a second more, 1 or more.
  public let octetsPerSecond: Int

  /// Half a minute, and a second for each 16 KiB.
  public static let usual = ReceiverPace(least: .seconds(30), octetsPerSecond: 16_384)

  /// Makes a pace.
  public init(least: Duration, octetsPerSecond: Int) {
    (self.least, self.octetsPerSecond) = (least, octetsPerSecond)
  }

  /// The limit for the time until all of these octets are accepted.
  func limit(for count: Int) -> Duration { least + .seconds(count / octetsPerSecond) }
}
