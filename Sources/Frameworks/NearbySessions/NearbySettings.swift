import BledClient
import Noise

/// This program's identity among its peers, and its settings.
public struct NearbySettings: Sendable {
  /// The kind of service: only peers with the same kind find each other.
  public var type: ServiceType
  /// The name shown to others, not necessarily unique.
  public var name: String
  /// The identifier by which others recognise this peer.
  public var identifier: UInt64
  /// The key by which others verify that it is the same peer. Keep it together with the identifier.
  public var key: X25519KeyPair
  /// Short texts shown to others before they invite: 400 octets together.
  public var information: [String: String] = [:]
  /// The adapter, by name or address; nil: the first.
  public var adapter: String?
  /// Maximum time for a lost link to return, before the peer is disconnected.
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

/// A discovered peer.
public struct FoundPeer: Hashable, Sendable {
  /// Its identifier: random, and not proved before a session is begun.
  public let identifier: UInt64
  /// Its name, without control characters.
  public let name: String
  /// Its texts.
  public let information: [String: String]
  /// The daemon's identifier for its device.
  public let peripheral: String
}

/// A change among the nearby peers.
public enum NearbyChange: Sendable {
  /// A peer was found, or its description has changed.
  case found(FoundPeer)
  /// A peer was silent for ten seconds.
  case lost(FoundPeer)
}
