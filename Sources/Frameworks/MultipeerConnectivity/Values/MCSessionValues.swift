// swift-format-ignore: AlwaysUseLowerCamelCase
/// Minimum peers in a session, oneself included.
public let kMCSessionMinimumNumberOfPeers = 2

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Maximum peers in a session, oneself included.
public let kMCSessionMaximumNumberOfPeers = 8

/// How data is sent.
public enum MCSessionSendDataMode: Int, Sendable {
  /// Data arrives once and in order, or the peer is disconnected.
  case reliable = 0
  /// Data is sent at once or dropped.
  case unreliable = 1
}

/// How far the connection to a peer is.
public enum MCSessionState: Int, Sendable {
  /// There is none.
  case notConnected = 0
  /// The invitation was accepted.
  case connecting = 1
  /// Data can be sent.
  case connected = 2
}

/// A session's preference for encryption. All are encrypted on Linux.
public enum MCEncryptionPreference: Int, Sendable {
  /// Encryption is possible.
  case optional = 0
  /// Encryption is a condition: no connection to a peer with `none`.
  case required = 1
  /// Encryption is not wanted: no connection to a peer with `required`.
  case none = 2
}
