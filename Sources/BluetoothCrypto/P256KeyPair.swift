import Crypto

/// A point on the curve P-256, as Pairing Public Key carries it (Core 5.4, Vol 3, Part H, 3.5.6).
public struct P256PublicKey: Hashable, Sendable {
  /// The X coordinate, 32 octets, most significant first.
  public let x: [UInt8]
  /// The Y coordinate, 32 octets, most significant first.
  public let y: [UInt8]

  /// Takes two coordinates, most significant octet first.
  /// - Returns: nil unless both have 32 octets. Whether the point is on the curve is checked when it is used.
  public init?(x: [UInt8], y: [UInt8]) {
    guard x.count == 32, y.count == 32 else { return nil }
    self.x = x
    self.y = y
  }

  /// Takes X and Y in wire order, least significant octet first.
  /// - Returns: nil unless there are 64 octets.
  public init?(littleEndian octets: some Collection<UInt8>) {
    self.init(x: octets.prefix(32).reversed(), y: octets.dropFirst(32).reversed())
  }

  /// X and Y in wire order, 64 octets.
  public var littleEndian: [UInt8] { x.reversed() + y.reversed() }
}

/// A private key on the curve P-256 and the public key that belongs to it.
public struct P256KeyPair: Sendable {
  private let key: P256.KeyAgreement.PrivateKey
  /// The key to send to the other side.
  public let publicKey: P256PublicKey

  /// Makes a new pair.
  public init() { self.init(P256.KeyAgreement.PrivateKey()) }

  /// Takes a private key, 32 octets, most significant first.
  /// - Returns: nil if it is no private key of the curve.
  public init?(privateKey: [UInt8]) {
    guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey) else { return nil }
    self.init(key)
  }

  private init(_ key: P256.KeyAgreement.PrivateKey) {
    self.key = key
    let octets = [UInt8](key.publicKey.rawRepresentation)
    guard let publicKey = P256PublicKey(x: Array(octets.prefix(32)), y: Array(octets.dropFirst(32))) else {
      preconditionFailure("a public key of P-256 has 64 octets, not \(octets.count)")
    }
    self.publicKey = publicKey
  }

  /// The private key, 32 octets, most significant first.
  public var privateKey: [UInt8] { [UInt8](key.rawRepresentation) }

  /// The secret shared with the owner of another public key (DHKey), 32 octets, most significant first.
  /// - Returns: nil if that key is no point on the curve (Core 5.4, Vol 3, Part H, 2.3.5.6.1).
  public func sharedSecret(with other: P256PublicKey) -> [UInt8]? {
    guard let other = try? P256.KeyAgreement.PublicKey(rawRepresentation: other.x + other.y),
      let secret = try? key.sharedSecretFromKeyAgreement(with: other)
    else { return nil }
    return secret.withUnsafeBytes { Array($0) }
  }
}
