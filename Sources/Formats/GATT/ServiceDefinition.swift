import Bluetooth

/// A service's owner: a number chosen by the database's holder, for example a session's.
public struct AttributeOwner: Hashable, Sendable {
  /// The number.
  public let value: UInt64
  /// Makes a number into an owner.
  public init(_ value: UInt64) { self.value = value }
  /// The database's holder itself.
  public static let local = AttributeOwner(0)
}

/// The source of a value.
public enum ValueSource: Hashable, Sendable {
  /// Stored in the database. Permissions decide if peers can change it.
  case stored([UInt8])
  /// The owner answers each read and each write.
  case owner
  /// A Client Characteristic Configuration: each client has its own (Core 5.4, Vol 3, Part G, 3.3.3.3).
  case clientConfiguration
  /// Client Supported Features: each client has its own (7.2).
  case clientFeatures
  /// The database hash (7.3).
  case databaseHash
}

extension ValueSource {
  /// Changes a stored value, reusing its memory if that suffices.
  mutating func store(_ octets: ArraySlice<UInt8>) {
    guard case .stored(var value) = self else { return }
    // Given up here, so that the copy above is the only one.
    self = .owner
    value.removeAll(keepingCapacity: true)
    value.append(contentsOf: octets)
    self = .stored(value)
  }
}

/// The operations allowed on a characteristic's value (3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
  /// The declaration's octet.
  public let rawValue: UInt8
  /// Makes properties from the declaration's octet.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// In advertisements.
  public static let broadcast = CharacteristicProperties(rawValue: 0x01)
  /// Read.
  public static let read = CharacteristicProperties(rawValue: 0x02)
  /// Write without response.
  public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
  /// Write.
  public static let write = CharacteristicProperties(rawValue: 0x08)
  /// Notifications.
  public static let notify = CharacteristicProperties(rawValue: 0x10)
  /// Indications.
  public static let indicate = CharacteristicProperties(rawValue: 0x20)
  /// Signed writes.
  public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
  /// There is an Extended Properties descriptor.
  public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)
}

/// A service as it is to be added to a database.
public struct ServiceDefinition: Hashable, Sendable {
  /// The service's type.
  public var uuid: BluetoothUUID
  /// True if clients find it by itself, false if only where it is included.
  public var isPrimary: Bool
  /// The first handles of its included services; they must be in the database.
  public var includes: [UInt16]
  /// Its characteristics in handle order.
  public var characteristics: [CharacteristicDefinition]

  /// Defines a service.
  public init(
    uuid: BluetoothUUID, isPrimary: Bool = true, includes: [UInt16] = [],
    characteristics: [CharacteristicDefinition] = []
  ) {
    self.uuid = uuid
    self.isPrimary = isPrimary
    self.includes = includes
    self.characteristics = characteristics
  }
}

/// A characteristic as it is to be added to a database.
public struct CharacteristicDefinition: Hashable, Sendable {
  /// The characteristic's type.
  public var uuid: BluetoothUUID
  /// Its properties.
  public var properties: CharacteristicProperties
  /// The operations actually permitted to clients.
  public var permissions: AttributePermissions
  /// The source of its value.
  public var value: ValueSource
  /// The longest value in octets, up to 512.
  public var maximumLength: Int
  /// Its descriptors. Unless listed, the Client Characteristic Configuration is added for notifications or indications,
  /// and the Extended Properties if there are any.
  public var descriptors: [DescriptorDefinition]

  /// Defines a characteristic.
  /// - Parameter permissions: nil for the permission implied by the properties: open to every client.
  public init(
    uuid: BluetoothUUID, properties: CharacteristicProperties, permissions: AttributePermissions? = nil,
    value: ValueSource,
    maximumLength: Int = 512, descriptors: [DescriptorDefinition] = []
  ) {
    self.uuid = uuid
    self.properties = properties
    let writable: CharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]
    self.permissions =
      permissions
      ?? AttributePermissions(
        read: properties.contains(.read) ? .open : nil, write: properties.isDisjoint(with: writable) ? nil : .open)
    self.value = value
    self.maximumLength = maximumLength
    self.descriptors = descriptors
  }
}

/// A descriptor as it is to be added to a database.
public struct DescriptorDefinition: Hashable, Sendable {
  /// The descriptor's type.
  public var uuid: BluetoothUUID
  /// The clients permitted to read and write it.
  public var permissions: AttributePermissions
  /// The source of its value.
  public var value: ValueSource

  /// Defines a descriptor.
  public init(uuid: BluetoothUUID, permissions: AttributePermissions = .readable, value: ValueSource) {
    self.uuid = uuid
    self.permissions = permissions
    self.value = value
  }
}
