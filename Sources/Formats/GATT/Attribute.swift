import Bluetooth

/// A database's attribute (Core 5.4, Vol 3, Part F, 3.2).
public struct Attribute: Hashable, Sendable {
  /// Its number, 1 to 0xFFFF.
  public let handle: UInt16
  /// The attribute's type.
  public let type: BluetoothUUID
  /// The clients permitted to read and write it.
  public var permissions: AttributePermissions
  /// The source of its value.
  public var source: ValueSource
  /// The longest value in octets, up to 512.
  public var maximumLength: Int
  /// For a characteristic's value and its descriptors: the facts that the database derives from the declarations.
  var characteristic = Membership()

  /// An attribute's characteristic.
  struct Membership: Hashable, Sendable {
    /// The characteristic's value handle; 0 for attributes outside of characteristics.
    var valueHandle: UInt16 = 0
    /// The declaration's properties.
    var properties: CharacteristicProperties = []
    /// Bit 0 of the Extended Properties: takes part in reliable writes (Part G, 3.3.3.1).
    var isReliable = false
  }

  /// Makes an attribute.
  public init(
    handle: UInt16, type: BluetoothUUID, permissions: AttributePermissions = .readable, source: ValueSource,
    maximumLength: Int = Attribute.longestValue
  ) {
    self.handle = handle
    self.type = type
    self.permissions = permissions
    self.source = source
    self.maximumLength = min(max(maximumLength, 0), Attribute.longestValue)
  }

  /// The limit of all values (3.2.9).
  public static let longestValue = 512
}

/// The reason why a service cannot be added.
public enum DatabaseError: Error, Hashable, Sendable {
  /// No contiguous range of that many handles is free.
  case noHandlesLeft
  /// The attributes do not ascend, lie outside of the service's range, or the range overlaps another service.
  case invalidHandles
  /// The first attribute is not a service declaration, or a declaration's value is malformed.
  case invalidDeclaration
  /// An included service is not in the database.
  case unknownInclude(UInt16)
  /// Clients of a service cannot see an included one.
  case hiddenInclude(UInt16)
  /// A stored value is longer than its attribute allows.
  case valueTooLong
}

/// A service in a database, with the handles it has.
public struct RegisteredService: Hashable, Sendable {
  /// From the service's declaration to its last handle.
  public let range: ClosedRange<UInt16>
  /// The service's type.
  public let uuid: BluetoothUUID
  /// True if it is a primary service.
  public let isPrimary: Bool
  /// Its owner.
  public let owner: AttributeOwner
  /// Its characteristics in handle order.
  public let characteristics: [RegisteredCharacteristic]
  /// The only audience that can see it; nil for all.
  public internal(set) var audience: Audience?
}

/// The clients that see a service: for example one adapter's clients.
public struct Audience: Hashable, Sendable {
  /// The caller's number for it.
  public let number: Int
  /// Makes an audience.
  public init(_ number: Int) { self.number = number }
}

/// A characteristic in a database.
public struct RegisteredCharacteristic: Hashable, Sendable {
  /// The declaration handle.
  public let declarationHandle: UInt16
  /// The value handle.
  public let valueHandle: UInt16
  /// The characteristic's type.
  public let uuid: BluetoothUUID
  /// Its properties.
  public let properties: CharacteristicProperties
  /// Its descriptors, the added ones included.
  public var descriptors: [RegisteredDescriptor]
}

/// A descriptor in a database.
public struct RegisteredDescriptor: Hashable, Sendable {
  /// Its handle.
  public let handle: UInt16
  /// The descriptor's type.
  public let uuid: BluetoothUUID
}

/// The link protection required for reading or writing an attribute (Core 5.4, Vol 3, Part C, 10.2.1 and 10.3).
public struct AccessRequirement: Hashable, Sendable {
  /// The lowest security level (LE security mode 1): 1 none, 2 encrypted, 3 authenticated, 4 LE Secure Connections.
  public var level: UInt8
  /// The shortest key in octets, 7 to 16, where `level` asks for encryption; level 4 takes one of 16.
  public var minimumKeySize: UInt8
  /// True if the owner must have authorized the peer.
  public var authorization: Bool

  /// Makes a requirement.
  public init(level: UInt8, minimumKeySize: UInt8 = 7, authorization: Bool = false) {
    self.level = level
    self.minimumKeySize = minimumKeySize
    self.authorization = authorization
  }

  /// The shortest sufficient key, in octets.
  var shortestKey: UInt8 { level >= 4 ? 16 : minimumKeySize }

  /// Always permitted.
  public static let open = AccessRequirement(level: 1)
  /// The link must be encrypted.
  public static let encrypted = AccessRequirement(level: 2)
  /// The link must be encrypted with a key from a pairing with protection against a person in the middle.
  public static let authenticated = AccessRequirement(level: 3)
  /// Authenticated with LE Secure Connections, and a key of 16 octets.
  public static let secureConnections = AccessRequirement(level: 4)
}

/// The clients permitted to read and write an attribute (Vol 3, Part F, 3.2.5). Permissions are the server's own,
/// unlike characteristic properties, which clients see.
public struct AttributePermissions: Hashable, Sendable {
  /// The requirement for reading; nil if it is not permitted.
  public var read: AccessRequirement?
  /// The requirement for writing; nil if it is not permitted.
  public var write: AccessRequirement?

  /// Makes permissions.
  public init(read: AccessRequirement? = nil, write: AccessRequirement? = nil) {
    self.read = read
    self.write = write
  }

  /// Reading is always permitted, writing never.
  public static let readable = AttributePermissions(read: .open)
}

/// How a link is protected, as far as attributes care.
public struct SecurityState: Hashable, Sendable {
  /// 1 none, 2 encrypted, 3 encrypted and authenticated, 4 the same with LE Secure Connections and a key of 16 octets.
  public var level: UInt8
  /// The encryption key size in octets: 7 to 16, 0 without encryption.
  public var keySize: UInt8
  /// True if both sides hold a key: decides between Insufficient Authentication and Insufficient Encryption.
  public var isBonded: Bool
  /// True if the peer may use attributes that require authorization.
  public var isAuthorized: Bool

  /// Describes a link's protection.
  public init(level: UInt8, keySize: UInt8, isBonded: Bool = false, isAuthorized: Bool = false) {
    self.level = level
    self.keySize = keySize
    self.isBonded = isBonded
    self.isAuthorized = isAuthorized
  }

  /// A link without encryption to a device without a key.
  public static let none = SecurityState(level: 1, keySize: 0)
}
