import BledClient
import Noise

/// The identity of this program among its peers, and how it takes part.
public struct NearbySettings: Sendable {
  /// The kind of service: only peers of the same kind find each other.
  public var type: ServiceType
  /// The name that others see, not necessarily unique.
  public var name: String
  /// The identifier, by which others know this peer when they hear it again.
  public var identifier: UInt64
  /// The key by which others know that it is the same peer. Keep it together with the identifier.
  public var key: X25519KeyPair
  /// Short texts that others see before they invite: 400 octets together.
  public var information: [String: String] = [:]
  /// The adapter, by name or address; nil: the first.
  public var adapter: String?
  /// How long a lost link may take to come back, before the peer is not connected any more.
  public var resumption = Duration.seconds(10)
  /// The clock of all limits; tests hold it.
  package var clock: any Clock<Duration> = ContinuousClock()

  /// Makes settings with a random identifier and key.
  /// - Parameter name: any text: `PeerName.valid` makes a name of it.
  public init(type: ServiceType, name: String) {
    self.type = type
    self.name = PeerName.valid(name)
    identifier = .random(in: 1 ... .max)
    key = X25519KeyPair()
  }
}

/// A peer that was heard.
public struct FoundPeer: Hashable, Sendable {
  /// Its identifier: random, and not proved before a session is begun.
  public let identifier: UInt64
  /// Its name, without control characters.
  public let name: String
  /// Its texts.
  public let information: [String: String]
  /// The daemon's identifier of its device.
  public let peripheral: String
}

/// A change of the peers that are near.
public enum NearbyChange: Sendable {
  /// A peer is there, or its description has changed.
  case found(FoundPeer)
  /// A peer was not heard for ten seconds.
  case lost(FoundPeer)
}
