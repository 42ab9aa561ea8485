/// The meaning of an AD structure (Assigned Numbers, 2.3).
public struct AdvertisingDataType: RawRepresentable, Hashable, Sendable {
  /// The assigned number.
  public let rawValue: UInt8
  /// Makes a type from its number, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  private init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// Flags: discoverable or not, BR/EDR or not.
  public static let flags = Self(0x01)
  /// Some of the 16-bit service UUIDs.
  public static let incompleteServices16 = Self(0x02)
  /// All 16-bit service UUIDs.
  public static let completeServices16 = Self(0x03)
  /// Some of the 32-bit service UUIDs.
  public static let incompleteServices32 = Self(0x04)
  /// All 32-bit service UUIDs.
  public static let completeServices32 = Self(0x05)
  /// Some of the 128-bit service UUIDs.
  public static let incompleteServices128 = Self(0x06)
  /// All 128-bit service UUIDs.
  public static let completeServices128 = Self(0x07)
  /// The beginning of the device's name.
  public static let shortenedLocalName = Self(0x08)
  /// The device's name.
  public static let completeLocalName = Self(0x09)
  /// The power at which the packet was sent.
  public static let txPowerLevel = Self(0x0A)
  /// Class of Device (BR/EDR).
  public static let classOfDevice = Self(0x0D)
  /// Simple Pairing Hash C-192 (BR/EDR, out of band).
  public static let simplePairingHash192 = Self(0x0E)
  /// Simple Pairing Randomizer R-192 (BR/EDR, out of band).
  public static let simplePairingRandomizer192 = Self(0x0F)
  /// Device ID in extended inquiry responses; Security Manager TK Value out of band.
  public static let securityManagerTK = Self(0x10)
  /// Security Manager Out of Band Flags.
  public static let securityManagerFlags = Self(0x11)
  /// The range of connection intervals that the peripheral prefers.
  public static let peripheralConnectionIntervalRange = Self(0x12)
  /// 16-bit UUIDs of solicited services.
  public static let solicitedServices16 = Self(0x14)
  /// 128-bit UUIDs of solicited services.
  public static let solicitedServices128 = Self(0x15)
  /// Data of a service with a 16-bit UUID.
  public static let serviceData16 = Self(0x16)
  /// Public addresses of the target devices.
  public static let publicTargetAddress = Self(0x17)
  /// Random addresses of the target devices.
  public static let randomTargetAddress = Self(0x18)
  /// The appearance.
  public static let appearance = Self(0x19)
  /// The time between two advertising events.
  public static let advertisingInterval = Self(0x1A)
  /// The device's address with its type (out of band).
  public static let deviceAddress = Self(0x1B)
  /// Which roles the device can take (out of band).
  public static let role = Self(0x1C)
  /// Simple Pairing Hash C-256 (BR/EDR, out of band).
  public static let simplePairingHash256 = Self(0x1D)
  /// Simple Pairing Randomizer R-256 (BR/EDR, out of band).
  public static let simplePairingRandomizer256 = Self(0x1E)
  /// 32-bit UUIDs of solicited services.
  public static let solicitedServices32 = Self(0x1F)
  /// Data of a service with a 32-bit UUID.
  public static let serviceData32 = Self(0x20)
  /// Data of a service with a 128-bit UUID.
  public static let serviceData128 = Self(0x21)
  /// LE Secure Connections Confirmation Value (out of band).
  public static let secureConnectionsConfirmation = Self(0x22)
  /// LE Secure Connections Random Value (out of band).
  public static let secureConnectionsRandom = Self(0x23)
  /// A URI whose scheme may be written as one code point.
  public static let uri = Self(0x24)
  /// Indoor Positioning.
  public static let indoorPositioning = Self(0x25)
  /// Transport Discovery Data.
  public static let transportDiscovery = Self(0x26)
  /// The link layer features, as a bit field.
  public static let supportedFeatures = Self(0x27)
  /// Channel Map Update Indication.
  public static let channelMapUpdate = Self(0x28)
  /// Mesh: provisioning bearer.
  public static let meshProvisioning = Self(0x29)
  /// Mesh: network message.
  public static let meshMessage = Self(0x2A)
  /// Mesh: beacon.
  public static let meshBeacon = Self(0x2B)
  /// BIGInfo.
  public static let bigInfo = Self(0x2C)
  /// Broadcast_Code.
  public static let broadcastCode = Self(0x2D)
  /// Resolvable Set Identifier (CSIP).
  public static let resolvableSetIdentifier = Self(0x2E)
  /// The time between two advertising events, where 16 bits do not hold it.
  public static let advertisingIntervalLong = Self(0x2F)
  /// The name of a broadcast.
  public static let broadcastName = Self(0x30)
  /// Encrypted advertising data.
  public static let encryptedData = Self(0x31)
  /// Periodic Advertising Response Timing Information.
  public static let periodicResponseTiming = Self(0x32)
  /// Electronic Shelf Label.
  public static let electronicShelfLabel = Self(0x34)
  /// 3D Information Data.
  public static let information3D = Self(0x3D)
  /// Manufacturer-specific data, after the company identifier.
  public static let manufacturerSpecificData = Self(0xFF)
}

extension AdvertisingDataType {
  /// The name of the Assigned Numbers (2.3), or the number where there is none: "Flags", "AD type 0x99".
  public var name: String {
    AssignedNames.advertisingDataTypes[UInt32(rawValue)] ?? "AD type 0x\(Hex.encode([rawValue]))"
  }
}
