/// An AD structure's meaning (Assigned Numbers, 2.3). The types built or read here have a constant.
public struct AdvertisingDataType: RawRepresentable, Hashable, Sendable {
  /// The assigned number.
  public let rawValue: UInt8
  /// Makes a type from its number, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  private init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// Flags: discoverable or not, BR/EDR or not.
  public static let flags = Self(0x01)
  /// Some 16-bit service UUIDs.
  public static let incompleteServices16 = Self(0x02)
  /// All 16-bit service UUIDs.
  public static let completeServices16 = Self(0x03)
  /// Some 32-bit service UUIDs.
  public static let incompleteServices32 = Self(0x04)
  /// All 32-bit service UUIDs.
  public static let completeServices32 = Self(0x05)
  /// Some 128-bit service UUIDs.
  public static let incompleteServices128 = Self(0x06)
  /// All 128-bit service UUIDs.
  public static let completeServices128 = Self(0x07)
  /// The beginning of the device's name.
  public static let shortenedLocalName = Self(0x08)
  /// The device's name.
  public static let completeLocalName = Self(0x09)
  /// The packet's transmit power.
  public static let txPowerLevel = Self(0x0A)
  /// 16-bit UUIDs of solicited services.
  public static let solicitedServices16 = Self(0x14)
  /// 128-bit UUIDs of solicited services.
  public static let solicitedServices128 = Self(0x15)
  /// Data for a service with a 16-bit UUID.
  public static let serviceData16 = Self(0x16)
  /// The appearance.
  public static let appearance = Self(0x19)
  /// The time between two advertising events.
  public static let advertisingInterval = Self(0x1A)
  /// 32-bit UUIDs of solicited services.
  public static let solicitedServices32 = Self(0x1F)
  /// Data for a service with a 32-bit UUID.
  public static let serviceData32 = Self(0x20)
  /// Data for a service with a 128-bit UUID.
  public static let serviceData128 = Self(0x21)
  /// LE Secure Connections Confirmation Value (out of band).
  public static let secureConnectionsConfirmation = Self(0x22)
  /// LE Secure Connections Random Value (out of band).
  public static let secureConnectionsRandom = Self(0x23)
  /// A URI, with a scheme that may be written as one code point.
  public static let uri = Self(0x24)
  /// Manufacturer-specific data, after the company identifier.
  public static let manufacturerSpecificData = Self(0xFF)
}
