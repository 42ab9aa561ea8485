import BledRPC

/// bled's properties and permissions of a characteristic or a descriptor for BlueZ's flags (BlueZ,
/// org.bluez.GattCharacteristic, Flags).
struct CharacteristicAccess: Equatable {
  private(set) var properties: [CharacteristicProperty] = []
  private var readPermissions: [CharacteristicPermission] = []
  private var otherPermissions: [CharacteristicPermission] = []

  /// True if devices may choose indications, which they confirm.
  var canIndicate: Bool { properties.contains(.indicate) }

  var permissions: [CharacteristicPermission] { readPermissions + otherPermissions }

  /// - Throws: `BusError` for an unknown flag.
  init(flags: [String]) throws(BusError) {
    for flag in flags {
      guard let meaning = Self.meanings[flag] else { throw .failed("Failed to create entry in database") }
      add(meaning.property)
      switch meaning.property {
      case .read: readPermissions.append(meaning.permission ?? .readable)
      case .write, .writeWithoutResponse, .signedWrite: add(other: meaning.permission ?? .writeable)
      default: if let permission = meaning.permission { add(other: permission) }
      }
    }
  }

  private mutating func add(_ property: CharacteristicProperty?) {
    if let property, !properties.contains(property) { properties.append(property) }
  }

  private mutating func add(other permission: CharacteristicPermission) {
    if !otherPermissions.contains(permission) { otherPermissions.append(permission) }
  }

  private typealias Meaning = (property: CharacteristicProperty?, permission: CharacteristicPermission?)

  private static let meanings: [String: Meaning] = [
    "broadcast": (.broadcast, nil), "read": (.read, nil), "write": (.write, nil),
    "write-without-response": (.writeWithoutResponse, nil), "notify": (.notify, nil), "indicate": (.indicate, nil),
    "authenticated-signed-writes": (.signedWrite, nil), "extended-properties": (.extendedProperties, nil),
    "reliable-write": (.extendedProperties, nil), "writable-auxiliaries": (nil, nil), "authorize": (nil, nil),
    "encrypt-read": (.read, .readEncryptionRequired),
    "encrypt-authenticated-read": (.read, .readAuthenticationRequired),
    "secure-read": (.read, .readSecureConnectionsRequired),
    "encrypt-write": (.write, .writeEncryptionRequired),
    "encrypt-authenticated-write": (.write, .writeAuthenticationRequired),
    "secure-write": (.write, .writeSecureConnectionsRequired),
    "encrypt-notify": (.notify, .subscribeEncryptionRequired),
    "encrypt-authenticated-notify": (.notify, .subscribeAuthenticationRequired),
    "secure-notify": (.notify, .subscribeSecureConnectionsRequired),
    "encrypt-indicate": (.indicate, .subscribeEncryptionRequired),
    "encrypt-authenticated-indicate": (.indicate, .subscribeAuthenticationRequired),
    "secure-indicate": (.indicate, .subscribeSecureConnectionsRequired),
  ]
}
