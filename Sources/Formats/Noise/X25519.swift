import CNettle

/// A key pair on Curve25519 for X25519 (RFC 7748).
public struct X25519KeyPair: Sendable {
  /// Length of a key and of a shared secret, in octets.
  public static let length = 32

  private let privateKey: [UInt8]
  /// The public key, 32 octets.
  public let publicKey: [UInt8]

  /// Makes a new key pair from the system's random numbers.
  public init() {
    var generator = SystemRandomNumberGenerator()
    self.init(trusted: (0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// Makes a private key's pair.
  /// - Returns: nil unless it has 32 octets.
  public init?(privateKey: [UInt8]) {
    guard privateKey.count == Self.length else { return nil }
    self.init(trusted: privateKey)
  }

  private init(trusted privateKey: [UInt8]) {
    self.privateKey = privateKey
    var publicKey = [UInt8](repeating: 0, count: Self.length)
    nettle_curve25519_mul_g(&publicKey, privateKey)
    self.publicKey = publicKey
  }

  /// The shared secret, 32 octets.
  /// - Returns: nil for a key of another length, and for one of small order, whose secret would be zero and public (RFC
  ///   7748, 6.1).
  public func sharedSecret(with publicKey: [UInt8]) -> [UInt8]? {
    guard publicKey.count == Self.length else { return nil }
    var secret = [UInt8](repeating: 0, count: Self.length)
    nettle_curve25519_mul(&secret, privateKey, publicKey)
    return secret.reduce(0, |) == 0 ? nil : secret
  }
}
