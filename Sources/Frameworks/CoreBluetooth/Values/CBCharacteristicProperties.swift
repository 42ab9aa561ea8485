import BledRPC

/// The operations allowed on a characteristic (Core 5.4, Vol 3, Part G, 3.3.1.1).
public struct CBCharacteristicProperties: OptionSet, Sendable {
  /// The bits: those in the characteristic declaration, and two above them for local characteristics.
  public let rawValue: UInt

  /// Makes a set from its bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Its value may be broadcast. Not for local characteristics.
  public static let broadcast = CBCharacteristicProperties(rawValue: 0x01)
  /// The value may be read.
  public static let read = CBCharacteristicProperties(rawValue: 0x02)
  /// The value may be written without a response.
  public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)
  /// The value may be written with a response.
  public static let write = CBCharacteristicProperties(rawValue: 0x08)
  /// The characteristic sends notifications.
  public static let notify = CBCharacteristicProperties(rawValue: 0x10)
  /// The characteristic sends indications, which are confirmed.
  public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
  /// The value may be written with a signature.
  public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
  /// A descriptor holds more properties. Not for local characteristics.
  public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
  /// Only paired devices may have its notifications. For local characteristics.
  public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
  /// Only paired devices may have its indications. For local characteristics.
  public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// The centrals permitted to read and write a local characteristic's value.
public struct CBAttributePermissions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// Makes a set from its bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Any central may read it.
  public static let readable = CBAttributePermissions(rawValue: 0x01)
  /// Any central may write it.
  public static let writeable = CBAttributePermissions(rawValue: 0x02)
  /// Paired devices may read it.
  public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x04)
  /// Paired devices may write it.
  public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x08)
}

extension CBCharacteristicProperties {
  private static let bits: [(property: CharacteristicProperty, bit: CBCharacteristicProperties)] = [
    (.broadcast, .broadcast), (.read, .read), (.writeWithoutResponse, .writeWithoutResponse), (.write, .write),
    (.notify, .notify), (.indicate, .indicate), (.signedWrite, .authenticatedSignedWrites),
    (.extendedProperties, .extendedProperties),
  ]

  /// The daemon's properties.
  init(_ properties: some Sequence<CharacteristicProperty>) {
    self.init(properties.compactMap { property in Self.bits.first { $0.property == property }?.bit })
  }

  /// The properties as the daemon has them.
  var list: [CharacteristicProperty] { Self.bits.filter { contains($0.bit) }.map(\.property) }
}
