/// A side in a handshake of the Noise Protocol Framework (revision 34), with Curve25519, ChaChaPoly and SHA-256.
///
/// | State            | Input         | Output                                             |
/// |------------------|---------------|----------------------------------------------------|
/// | this side's turn | write         | the message; the other side's turn, or complete     |
/// | the other's turn | read(message) | its payload; this side's turn, or complete          |
/// | complete         | transport     | the two directions                                  |
/// | any              | anything else | `outOfOrder`; after a failed read nothing is left   |
public struct Handshake: Sendable {
  /// The sides.
  public enum Role: Sendable {
    /// The side sending the first message.
    case initiator
    /// The other side.
    case responder
  }

  /// The two directions after the handshake.
  public struct Transport: Sendable {
    /// For this side's messages.
    public var sending: CipherState
    /// For the other side's messages.
    public var receiving: CipherState
  }

  /// The longest message, in octets (Noise, 3).
  public static let longestMessage = 65535

  private let pattern: HandshakePattern
  private let role: Role
  private let preSharedKey: [UInt8]
  private let staticKey: X25519KeyPair?
  private let ephemeralKey: X25519KeyPair
  private var remoteEphemeral: [UInt8] = []
  /// The other side's static key, once sent: 32 octets.
  public private(set) var remoteStatic: [UInt8]?
  private var symmetric: SymmetricState
  /// The number of messages so far; nil after a failure.
  private var position: Int? = 0

  /// - Parameters:
  ///   - prologue: octets both sides must agree on (Noise, 6).
  ///   - preSharedKey: 32 octets, for patterns with `psk`.
  ///   - staticKey: for patterns with `s`.
  ///   - ephemeralKey: a new key pair, except in tests.
  /// - Returns: nil if a necessary key is missing or has another length.
  public init?(
    _ pattern: HandshakePattern, as role: Role, prologue: [UInt8], preSharedKey: [UInt8] = [],
    staticKey: X25519KeyPair? = nil, ephemeralKey: X25519KeyPair = X25519KeyPair()
  ) {
    guard !pattern.usesPreSharedKey || preSharedKey.count == 32 else { return nil }
    guard staticKey != nil || !pattern.messages.joined().contains(.s) else { return nil }
    self.pattern = pattern
    self.role = role
    self.preSharedKey = preSharedKey
    self.staticKey = staticKey
    self.ephemeralKey = ephemeralKey
    symmetric = SymmetricState(protocolName: "Noise_\(pattern.name)_25519_ChaChaPoly_SHA256")
    symmetric.mixHash(prologue)
  }

  /// The handshake's hash, which identifies it at both sides (Noise, 11.2): 32 octets.
  public var hash: [UInt8] { symmetric.hash }

  /// The two directions; nil before the last message.
  public var transport: Transport? {
    guard position == pattern.messages.count else { return nil }
    let (fromInitiator, toInitiator) = symmetric.split()
    return role == .initiator
      ? Transport(sending: fromInitiator, receiving: toInitiator)
      : Transport(sending: toInitiator, receiving: fromInitiator)
  }

  /// Makes this side's next message.
  /// - Throws: `NoiseError`.
  public mutating func write(_ payload: [UInt8] = []) throws(NoiseError) -> [UInt8] {
    let tokens = try next(isOwn: true)
    var message: [UInt8] = []
    for token in tokens {
      switch token {
      case .e:
        message += ephemeralKey.publicKey
        mixEphemeral(ephemeralKey.publicKey)
      case .s: message += try symmetric.encryptAndHash(staticKey?.publicKey ?? [])
      case .psk: symmetric.mixKeyAndHash(preSharedKey)
      case .ee, .es, .se: try mixSecret(token)
      }
    }
    message += try symmetric.encryptAndHash(payload)
    guard message.count <= Self.longestMessage else { throw fail(.tooLong) }
    return message
  }

  /// Reads the other side's next message.
  /// - Returns: its payload.
  /// - Throws: `NoiseError`; the handshake is then over.
  public mutating func read(_ message: some Sequence<UInt8>) throws(NoiseError) -> [UInt8] {
    let tokens = try next(isOwn: false)
    var rest = ArraySlice(Array(message))
    do {
      for token in tokens {
        switch token {
        case .e:
          remoteEphemeral = try Self.read(X25519KeyPair.length, &rest)
          mixEphemeral(remoteEphemeral)
        case .s:
          let part = try Self.read(X25519KeyPair.length + symmetric.overhead, &rest)
          remoteStatic = try symmetric.decryptAndHash(part)
        case .psk: symmetric.mixKeyAndHash(preSharedKey)
        case .ee, .es, .se: try mixSecret(token)
        }
      }
      return try symmetric.decryptAndHash(Array(rest))
    } catch {
      throw fail(error)
    }
  }

  private mutating func mixEphemeral(_ key: [UInt8]) {
    symmetric.mixHash(key)
    if pattern.usesPreSharedKey { symmetric.mixKey(key) }
  }

  private mutating func mixSecret(_ token: HandshakePattern.Token) throws(NoiseError) {
    // The first letter is the initiator's key.
    let ownIsStatic =
      switch token {
      case .es: role == .responder
      case .se: role == .initiator
      default: false
      }
    let remoteIsStatic = token != .ee && !ownIsStatic
    let own = ownIsStatic ? staticKey : ephemeralKey
    let remote = remoteIsStatic ? remoteStatic ?? [] : remoteEphemeral
    guard let secret = own?.sharedSecret(with: remote) else { throw .weakKey }
    symmetric.mixKey(secret)
  }

  private mutating func next(isOwn: Bool) throws(NoiseError) -> [HandshakePattern.Token] {
    guard let place = position, place < pattern.messages.count,
      isOwn == ((role == .initiator) == (place % 2 == 0))
    else { throw .outOfOrder }
    position = place + 1
    return pattern.messages[place]
  }

  private mutating func fail(_ error: NoiseError) -> NoiseError {
    position = nil
    return error
  }

  private static func read(_ count: Int, _ rest: inout ArraySlice<UInt8>) throws(NoiseError) -> [UInt8] {
    guard rest.count >= count else { throw .truncated }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}
