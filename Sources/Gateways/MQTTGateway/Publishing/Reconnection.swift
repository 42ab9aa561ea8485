import Bluetooth

/// The pauses between attempts to connect to the broker: 1 s, 2 s, 4 s up to 30 s, and up to half as long again, so
/// that the gateways of a site do not all connect at the same time after a restart of the broker.
package struct Reconnection {
  private static let longest = 30.0

  private var failures = 0

  package init() {}

  /// The broker has accepted the connection.
  package mutating func succeeded() { failures = 0 }

  /// An attempt has failed, or the connection has ended.
  /// - Parameter chance: a random number, 0 to 1.
  /// - Returns: the pause before the next attempt.
  package mutating func failed(chance: Double) -> Duration {
    let pause = min(Self.longest, Double(1 << min(failures, 6)))
    failures += 1
    return .seconds(pause * (1 + min(1, max(0, chance)) / 2))
  }
}
