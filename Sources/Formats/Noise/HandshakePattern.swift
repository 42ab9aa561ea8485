/// A handshake's messages (Noise, 7 and 9), which initiator and responder send in turns.
public struct HandshakePattern: Hashable, Sendable {
  /// A message's part.
  public enum Token: Hashable, Sendable {
    /// The sender's ephemeral key.
    case e
    /// The sender's static key.
    case s
    /// The secret of both ephemeral keys.
    case ee
    /// The secret from the initiator's ephemeral and the responder's static key.
    case es
    /// The secret from the initiator's static and the responder's ephemeral key.
    case se
    /// The key shared beforehand.
    case psk
  }

  /// Its name within the protocol's name.
  public let name: String
  /// The messages.
  public let messages: [[Token]]

  /// No static keys; a key shared beforehand protects the first message, too.
  public static let nnpsk0 = HandshakePattern(name: "NNpsk0", messages: [[.psk, .e], [.e, .ee]])
  /// Both sides send their static keys.
  public static let xx = HandshakePattern(name: "XX", messages: [[.e], [.e, .ee, .s, .es], [.s, .se]])

  /// True if a key shared beforehand is used: then ephemeral keys are mixed in, too (Noise, 9.2).
  var usesPreSharedKey: Bool { messages.joined().contains(.psk) }
}
