import ATT
import Bluetooth

/// How a peripheral would like its connections (Core 5.4, Vol 3, Part C, 12.3).
public struct PreferredConnectionParameters: Hashable, Sendable {
  /// The shortest and longest interval in units of 1.25 ms, 6 to 3200.
  public var interval: ClosedRange<UInt16>
  /// Connection events that may be skipped, 0 to 499.
  public var latency: UInt16
  /// The supervision timeout in units of 10 ms, 10 to 3200.
  public var timeout: UInt16

  /// Makes preferred parameters.
  public init(interval: ClosedRange<UInt16>, latency: UInt16, timeout: UInt16) {
    self.interval = interval
    self.latency = latency
    self.timeout = timeout
  }
}

extension ServiceDefinition {
  /// The GAP service (Vol 3, Part C, 12).
  /// - Parameters:
  ///   - name: the Device Name; cut to 248 octets of UTF-8.
  ///   - appearance: a number from the Assigned Numbers, 2.6; 0 is unknown.
  ///   - preferredParameters: the peripheral's preferences; nil leaves the characteristic out.
  public static func genericAccess(
    name: String, appearance: UInt16 = 0, preferredParameters: PreferredConnectionParameters? = nil
  ) -> ServiceDefinition {
    var look: [UInt8] = []
    look.append(word: appearance)
    var characteristics = [
      CharacteristicDefinition(
        uuid: 0x2A00, properties: .read, value: .stored(deviceName(name)), maximumLength: 248),
      CharacteristicDefinition(uuid: 0x2A01, properties: .read, value: .stored(look), maximumLength: 2),
    ]
    if let preferred = preferredParameters {
      var value: [UInt8] = []
      for word in [preferred.interval.lowerBound, preferred.interval.upperBound, preferred.latency, preferred.timeout] {
        value.append(word: word)
      }
      characteristics.append(
        CharacteristicDefinition(uuid: 0x2A04, properties: .read, value: .stored(value), maximumLength: 8))
    }
    return ServiceDefinition(uuid: 0x1800, characteristics: characteristics)
  }

  /// The GATT service (Part G, 7): Service Changed, Client Supported Features and, where there is one, Database Hash,
  /// and Server Supported Features.
  /// - Parameters:
  ///   - hasHash: `AttributeDatabase.hasHash`.
  ///   - hasEnhancedBearers: true if devices may open enhanced ATT bearers, the only existing feature (7.4).
  public static func genericAttribute(hasHash: Bool, hasEnhancedBearers: Bool = false) -> ServiceDefinition {
    var characteristics = [
      CharacteristicDefinition(
        uuid: .serviceChanged, properties: .indicate, permissions: AttributePermissions(), value: .stored([]),
        maximumLength: 4),
      CharacteristicDefinition(
        uuid: .clientSupportedFeatures, properties: [.read, .write], value: .clientFeatures, maximumLength: 8),
    ]
    if hasHash {
      characteristics.append(CharacteristicDefinition(uuid: .databaseHash, properties: .read, value: .databaseHash))
    }
    if hasEnhancedBearers {
      characteristics.append(
        CharacteristicDefinition(
          uuid: .serverSupportedFeatures, properties: .read, value: .stored([0x01]), maximumLength: 1))
    }
    return ServiceDefinition(uuid: 0x1801, characteristics: characteristics)
  }

  /// The longest beginning of a name that fits, without a split character.
  private static func deviceName(_ name: String) -> [UInt8] {
    var octets: [UInt8] = []
    for character in name {
      guard octets.count + character.utf8.count <= 248 else { break }
      octets += character.utf8
    }
    return octets
  }
}

/// GATT's own attribute types (Core 5.4, Vol 3, Part G, 3.4; Assigned Numbers, 3.4 to 3.8).
extension BluetoothUUID {
  static let primaryService: BluetoothUUID = 0x2800
  static let secondaryService: BluetoothUUID = 0x2801
  static let include: BluetoothUUID = 0x2802
  static let characteristic: BluetoothUUID = 0x2803
  static let characteristicExtendedProperties: BluetoothUUID = 0x2900
  static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902
  static let serviceChanged: BluetoothUUID = 0x2A05
  static let clientSupportedFeatures: BluetoothUUID = 0x2B29
  static let databaseHash: BluetoothUUID = 0x2B2A
  static let serverSupportedFeatures: BluetoothUUID = 0x2B3A
}
