/// What a link must have before an attribute may be read or written (Core 5.4, Vol 3, Part C, 10.2.1 and 10.3).
public struct AccessRequirement: Hashable, Sendable {
  /// The lowest security level (LE security mode 1): 1 none, 2 encrypted, 3 authenticated, 4 LE Secure Connections.
  public var level: UInt8
  /// The shortest key in octets, 7 to 16, where `level` asks for encryption.
  public var minimumKeySize: UInt8
  /// Whether the owner must have authorized the peer.
  public var authorization: Bool

  /// Makes a requirement.
  public init(level: UInt8, minimumKeySize: UInt8 = 7, authorization: Bool = false) {
    self.level = level
    self.minimumKeySize = minimumKeySize
    self.authorization = authorization
  }

  /// Anybody may.
  public static let open = AccessRequirement(level: 1)
  /// The link must be encrypted.
  public static let encrypted = AccessRequirement(level: 2)
  /// The link must be encrypted with a key from a pairing that nobody could sit in the middle of.
  public static let authenticated = AccessRequirement(level: 3)
  /// The same, and the pairing was LE Secure Connections.
  public static let secureConnections = AccessRequirement(level: 4)
}

/// Who may read and write an attribute (Vol 3, Part F, 3.2.5). Permissions are the server's own; characteristic
/// properties, which clients see, are something else.
public struct AttributePermissions: Hashable, Sendable {
  /// What reading takes; nil if nobody may.
  public var read: AccessRequirement?
  /// What writing takes; nil if nobody may.
  public var write: AccessRequirement?

  /// Makes permissions.
  public init(read: AccessRequirement? = nil, write: AccessRequirement? = nil) {
    self.read = read
    self.write = write
  }

  /// Anybody may read, nobody may write.
  public static let readable = AttributePermissions(read: .open)
}

/// How a link is protected, as far as attributes care.
public struct SecurityState: Hashable, Sendable {
  /// 1 none, 2 encrypted, 3 encrypted and authenticated, 4 the same with LE Secure Connections.
  public var level: UInt8
  /// The size of the encryption key in octets: 7 to 16, 0 without encryption.
  public var keySize: UInt8
  /// Whether both sides hold a key: decides between Insufficient Authentication and Insufficient Encryption.
  public var isBonded: Bool
  /// Whether the peer may use what takes authorization.
  public var isAuthorized: Bool

  /// Describes the protection of a link.
  public init(level: UInt8, keySize: UInt8, isBonded: Bool = false, isAuthorized: Bool = false) {
    self.level = level
    self.keySize = keySize
    self.isBonded = isBonded
    self.isAuthorized = isAuthorized
  }

  /// A link without encryption to a device that nobody knows.
  public static let none = SecurityState(level: 1, keySize: 0)
}
