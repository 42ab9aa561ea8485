import Bluetooth

/// The order of the attempts to connect to the broker, and their pauses.
///
/// The gateway's name decides the order of the addresses (rendezvous hashing), so that the gateways of a site spread
/// over the nodes of a cluster, and the gateways of a lost node over all the others. The pauses are random, so that
/// they do not all connect at the same time.
///
/// A connection is settled after a minute. If it is lost earlier, three times in a row, it is contested: then another
/// client may use the same identifier. If the broker gives that reason (MQTT 5.0, 3.14), it is contested at once.
///
/// | Input                                 | Pause                                     | Next attempt            |
/// |---------------------------------------|-------------------------------------------|-------------------------|
/// | succeeded, settled                    |                                           |                         |
/// | lost after it was settled             | 1 s, plus up to half                      | the first address       |
/// | lost earlier                          | 1 s, 2 s, 4 s up to 30 s, plus up to half | the first address       |
/// | failed, others are left in this round | up to 1 s                                 | the next address        |
/// | failed, the round is over             | 1 s, 2 s, 4 s up to 30 s, plus up to half | the first address       |
/// | versionRefused, the version is open   | up to 1 s                                 | the same address, 3.1.1 |
package struct Reconnection {
  private static let longest = 30.0
  private static let contestedLosses = 3
  /// The age of a settled connection: more than the pauses of another client.
  package static let settling = Duration.seconds(60)

  private let order: [BrokerAddress]
  private let isVersionOpen: Bool
  private var place = 0
  private var rounds = 0
  /// The lost connections since a settled one.
  private var losses = 0
  private var isTakenOver = false
  /// The version of the protocol for the next attempt.
  package private(set) var version: BrokerConfiguration.Version

  /// - Parameter gateway: the name of the gateway.
  package init(_ broker: BrokerConfiguration, gateway: String) {
    order = broker.addresses.map { (Self.hash("\(gateway) \($0)"), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    version = broker.version
    isVersionOpen = broker.isVersionOpen
  }

  /// The address for the next attempt.
  package var address: BrokerAddress { order[place] }

  /// True if others follow when an attempt fails: it should not last long.
  package var hasOthers: Bool { order.count > 1 }

  /// The broker has accepted the connection.
  package mutating func succeeded() { (place, rounds) = (0, 0) }

  /// The connection has lasted for `settling`.
  package mutating func settled() { (losses, isTakenOver) = (0, false) }

  /// True if connections are lost again and again, or another client takes their place.
  package var isContested: Bool { isTakenOver || losses >= Self.contestedLosses }

  /// The connection has ended.
  /// - Parameters:
  ///   - isTakenOver: true if the broker says that another client has taken its place.
  ///   - chance: a random number, 0 to 1.
  /// - Returns: the pause before the next attempt.
  package mutating func lost(isTakenOver: Bool, chance: Double) -> Duration {
    (losses, self.isTakenOver) = (losses + 1, self.isTakenOver || isTakenOver)
    return Self.pause(Self.seconds(losses - 1), chance)
  }

  /// An attempt has failed.
  /// - Parameter chance: a random number, 0 to 1.
  /// - Returns: the pause before the next attempt.
  package mutating func failed(chance: Double) -> Duration {
    guard place + 1 == order.count else {
      place += 1
      return .seconds(min(1, max(0, chance)))
    }
    defer { (place, rounds) = (0, rounds + 1) }
    return Self.pause(Self.seconds(rounds), chance)
  }

  /// The broker does not speak this version of the protocol.
  /// - Returns: the pause before the next attempt, as `failed`.
  package mutating func versionRefused(chance: Double) -> Duration {
    guard isVersionOpen, version == .v5 else { return failed(chance: chance) }
    version = .v311
    return .seconds(min(1, max(0, chance)))
  }

  /// The pause after so many failures before this one, in seconds.
  private static func seconds(_ failures: Int) -> Double { min(longest, Double(1 << min(failures, 6))) }

  private static func pause(_ seconds: Double, _ chance: Double) -> Duration {
    .seconds(seconds * (1 + min(1, max(0, chance)) / 2))
  }

  /// FNV-1a with the last step of SplitMix64: the same on all machines.
  private static func hash(_ text: String) -> UInt64 {
    var hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    hash = (hash ^ hash >> 30) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ hash >> 27) &* 0x94d0_49bb_1331_11eb
    return hash ^ hash >> 31
  }
}
