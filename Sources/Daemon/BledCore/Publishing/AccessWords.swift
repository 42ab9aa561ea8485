import BledRPC
import Bluetooth
import GATT

/// The demands on links by a client's permissions.
struct AccessWords {
  /// For the value.
  private(set) var value = AttributePermissions()
  /// For subscribing; nil for the value's own.
  private(set) var subscribe: AccessRequirement?

  /// Among permissions on the same access the strictest applies.
  /// - Parameter minimumKeySize: in octets, 7 to 16; nil for any key.
  /// - Throws: `BledError.invalidParameter` for an impossible key size.
  init(_ permissions: [CharacteristicPermission], minimumKeySize: Int? = nil) throws(BluetoothError) {
    guard (7...16).contains(minimumKeySize ?? 7) else {
      throw BledError.invalidParameter.error("\"minimumKeySize\" must be 7 to 16 octets")
    }
    for permission in permissions { add(permission, UInt8(minimumKeySize ?? 7)) }
  }

  private mutating func add(_ permission: CharacteristicPermission, _ keySize: UInt8) {
    switch permission {
    case .readable: value.read = value.read ?? .open
    case .writeable: value.write = value.write ?? .open
    case .readEncryptionRequired: require(.encrypted, keySize, \.value.read)
    case .readAuthenticationRequired: require(.authenticated, keySize, \.value.read)
    case .readSecureConnectionsRequired: require(.secureConnections, keySize, \.value.read)
    case .writeEncryptionRequired: require(.encrypted, keySize, \.value.write)
    case .writeAuthenticationRequired: require(.authenticated, keySize, \.value.write)
    case .writeSecureConnectionsRequired: require(.secureConnections, keySize, \.value.write)
    case .subscribeEncryptionRequired: require(.encrypted, keySize, \.subscribe)
    case .subscribeAuthenticationRequired: require(.authenticated, keySize, \.subscribe)
    case .subscribeSecureConnectionsRequired: require(.secureConnections, keySize, \.subscribe)
    }
  }

  private mutating func require(
    _ requirement: AccessRequirement, _ keySize: UInt8, _ path: WritableKeyPath<Self, AccessRequirement?>
  ) {
    var requirement = requirement
    requirement.minimumKeySize = keySize
    if self[keyPath: path]?.level ?? 0 < requirement.level { self[keyPath: path] = requirement }
  }
}

extension AttributePermissions {
  /// A descriptor's demands; the strictest permission applies.
  init(_ permissions: [DescriptorPermission]) {
    self.init()
    for permission in permissions {
      switch permission {
      case .readable: require(.open, \.read)
      case .readEncryptionRequired: require(.encrypted, \.read)
      case .readAuthenticationRequired: require(.authenticated, \.read)
      case .readSecureConnectionsRequired: require(.secureConnections, \.read)
      case .writeable: require(.open, \.write)
      case .writeEncryptionRequired: require(.encrypted, \.write)
      case .writeAuthenticationRequired: require(.authenticated, \.write)
      case .writeSecureConnectionsRequired: require(.secureConnections, \.write)
      }
    }
  }

  private mutating func require(
    _ requirement: AccessRequirement, _ path: WritableKeyPath<Self, AccessRequirement?>
  ) {
    if self[keyPath: path]?.level ?? 0 < requirement.level { self[keyPath: path] = requirement }
  }
}
