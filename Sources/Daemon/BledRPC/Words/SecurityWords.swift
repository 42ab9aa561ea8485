import Bluetooth

/// The protection of an encrypted link (Core 5.4, Vol 3, Part C, 10.2.1).
public enum SecurityLevel: String, Vocabulary {
  /// Encrypted with keys that a person in the middle may have brought in.
  case encrypted
  /// Encrypted, and paired with protection against a person in the middle.
  case authenticated
  /// Encrypted, and paired with such protection by LE Secure Connections.
  case secureConnections
}

/// The protection that the link of a channel must have.
public enum ChannelSecurity: String, Vocabulary {
  /// No protection.
  case none
  /// See `SecurityLevel.encrypted`.
  case encrypted
  /// See `SecurityLevel.authenticated`.
  case authenticated
  /// See `SecurityLevel.secureConnections`.
  case secureConnections
}
