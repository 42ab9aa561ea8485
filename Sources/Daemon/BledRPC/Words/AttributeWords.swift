import Bluetooth

/// An operation that a characteristic supports (Core 5.4, Vol 3, Part G, 3.3.1.1), in the order of the bits.
public enum CharacteristicProperty: String, Vocabulary {
  /// Its value can be broadcast.
  case broadcast
  /// Its value can be read.
  case read
  /// Its value can be written without a response.
  case writeWithoutResponse
  /// Its value can be written with a response.
  case write
  /// Its value can be notified.
  case notify
  /// Its value can be indicated.
  case indicate
  /// Its value can be written with a signature.
  case signedWrite
  /// The characteristic has a Characteristic Extended Properties descriptor.
  case extendedProperties
}

/// An operation that the Characteristic Extended Properties add (Core 5.4, Vol 3, Part G, 3.3.3.1).
public enum ExtendedProperty: String, Vocabulary {
  /// Reliable writes.
  case reliableWrite
  /// Writes to its Characteristic User Description.
  case writableAuxiliaries
}

/// A permission of a published characteristic, or the protection that the link must have for it.
public enum CharacteristicPermission: String, Vocabulary {
  /// Any device can read the value.
  case readable
  /// Any device can write the value.
  case writeable
  /// Reading needs an encrypted link.
  case readEncryptionRequired
  /// Reading needs pairing with protection against a person in the middle.
  case readAuthenticationRequired
  /// Reading needs such a pairing with LE Secure Connections.
  case readSecureConnectionsRequired
  /// Writing needs an encrypted link.
  case writeEncryptionRequired
  /// Writing needs pairing with protection against a person in the middle.
  case writeAuthenticationRequired
  /// Writing needs such a pairing with LE Secure Connections.
  case writeSecureConnectionsRequired
  /// Subscribing needs an encrypted link.
  case subscribeEncryptionRequired
  /// Subscribing needs pairing with protection against a person in the middle.
  case subscribeAuthenticationRequired
  /// Subscribing needs such a pairing with LE Secure Connections.
  case subscribeSecureConnectionsRequired
}

/// A permission of a published descriptor, or the protection that the link must have for it.
public enum DescriptorPermission: String, Vocabulary {
  /// Any device can read the value.
  case readable
  /// Reading needs an encrypted link.
  case readEncryptionRequired
  /// Reading needs pairing with protection against a person in the middle.
  case readAuthenticationRequired
  /// Reading needs such a pairing with LE Secure Connections.
  case readSecureConnectionsRequired
  /// Any device can write the value.
  case writeable
  /// Writing needs an encrypted link.
  case writeEncryptionRequired
  /// Writing needs pairing with protection against a person in the middle.
  case writeAuthenticationRequired
  /// Writing needs such a pairing with LE Secure Connections.
  case writeSecureConnectionsRequired

  /// The equivalent permission of a characteristic, unless it concerns subscribing.
  public init?(_ permission: CharacteristicPermission) {
    switch permission {
    case .readable: self = .readable
    case .readEncryptionRequired: self = .readEncryptionRequired
    case .readAuthenticationRequired: self = .readAuthenticationRequired
    case .readSecureConnectionsRequired: self = .readSecureConnectionsRequired
    case .writeable: self = .writeable
    case .writeEncryptionRequired: self = .writeEncryptionRequired
    case .writeAuthenticationRequired: self = .writeAuthenticationRequired
    case .writeSecureConnectionsRequired: self = .writeSecureConnectionsRequired
    case .subscribeEncryptionRequired, .subscribeAuthenticationRequired, .subscribeSecureConnectionsRequired:
      return nil
    }
  }
}
