/// A point on the curve P-256, as Pairing Public Key carries it (Core 5.4, Vol 3, Part H, 3.5.6).
public struct P256PublicKey: Hashable, Sendable {
  /// The X coordinate, 32 octets, most significant first.
  public let x: [UInt8]
  /// The Y coordinate, 32 octets, most significant first.
  public let y: [UInt8]

  /// The debug key's X coordinate, whose private key is printed (Core 5.4, Vol 3, Part H, 2.3.5.6.1).
  public static let debugX: [UInt8] = [
    0x20, 0xB0, 0x03, 0xD2, 0xF2, 0x97, 0xBE, 0x2C, 0x5E, 0x2C, 0x83, 0xA7, 0xE9, 0xF9, 0xA5, 0xB9, 0xEF, 0xF4, 0x91,
    0x11, 0xAC, 0xF4, 0xFD, 0xDB, 0xCC, 0x03, 0x01, 0x48, 0x0E, 0x35, 0x9D, 0xE6,
  ]

  /// Takes two coordinates, most significant octet first.
  /// - Returns: nil unless both have 32 octets. The point is checked against the curve when it is used.
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

  /// For calculated points, with coordinates of 32 octets.
  init(trustedX x: [UInt8], y: [UInt8]) {
    self.x = x
    self.y = y
  }

  /// X and Y in wire order, 64 octets.
  public var littleEndian: [UInt8] { Array(x.reversed()) + y.reversed() }
}

/// A private key on the curve P-256 and its public key.
public struct P256KeyPair: Sendable {
  /// The private key, 32 octets, most significant first.
  public let privateKey: [UInt8]
  /// The key to send to the other side.
  public let publicKey: P256PublicKey

  /// Makes a new pair.
  public init() {
    var random = SystemRandomNumberGenerator()
    self.init(using: &random)
  }

  /// Makes a new pair.
  /// - Parameter random: the source of the private key.
  public init(using random: inout some RandomNumberGenerator) {
    while true {
      // About 1 in 4 billion numbers of 256 bits is not a private key.
      let octets = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      guard let pair = Self(privateKey: octets) else { continue }
      self = pair
      return
    }
  }

  /// Takes a private key, 32 octets, most significant first.
  /// - Returns: nil for an invalid private key.
  public init?(privateKey: [UInt8]) {
    guard let scalar = P256Scalar(privateKey) else { return nil }
    self.privateKey = privateKey
    publicKey = P256Point(multiplyingBaseBy: scalar).coordinates
  }

  /// The secret shared with the owner of another public key (DHKey), 32 octets, most significant first.
  /// - Returns: nil if that key is not a point on the curve (Core 5.4, Vol 3, Part H, 2.3.5.6.1).
  public func sharedSecret(with other: P256PublicKey) -> [UInt8]? {
    guard let scalar = P256Scalar(privateKey), let point = P256Point(other) else { return nil }
    return P256Point(multiplying: point, by: scalar).coordinates.x
  }
}
