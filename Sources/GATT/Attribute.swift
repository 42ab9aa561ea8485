import Bluetooth

/// One attribute of a database (Core 5.4, Vol 3, Part F, 3.2).
public struct Attribute: Hashable, Sendable {
  /// Its number, 1 to 0xFFFF.
  public let handle: UInt16
  /// What it is.
  public let type: BluetoothUUID
  /// Who may read and write it.
  public var permissions: AttributePermissions
  /// Where its value comes from.
  public var source: ValueSource
  /// The longest value in octets, up to 512.
  public var maximumLength: Int
  /// For a characteristic's value and its descriptors: what the database derives from the declarations.
  var characteristic = Membership()

  /// To which characteristic an attribute belongs.
  struct Membership: Hashable, Sendable {
    /// The handle of the characteristic's value; 0 for attributes outside of characteristics.
    var valueHandle: UInt16 = 0
    /// What the declaration says.
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

  /// No value is longer (3.2.9).
  public static let longestValue = 512
}

/// Why a service cannot be added.
public enum DatabaseError: Error, Hashable, Sendable {
  /// There is no room for so many handles in a row.
  case noHandlesLeft
  /// The attributes do not ascend, lie outside of the service's range, or the range overlaps another service.
  case invalidHandles
  /// The first attribute is no service declaration, or a declaration's value is no such value.
  case invalidDeclaration
  /// An included service is not in the database.
  case unknownInclude(UInt16)
  /// A stored value is longer than its attribute takes.
  case valueTooLong
}
