import Bluetooth

/// The Apple Notification Center Service: an iPhone's notifications, for bonded devices.
public enum ANCS {
  /// The service. A device that needs it advertises its solicitation.
  public static let service = BluetoothUUID(high: 0x7905_F431_B5CE_4E99, low: 0xA40F_4B1E_122D_00D0)
  /// Notification Source: notifies events, see `NotificationEvent`.
  public static let notificationSource = BluetoothUUID(high: 0x9FBF_120D_6301_42D9, low: 0x8C58_25E6_99A2_1DBD)
  /// Control Point: accepts commands, see `NotificationCommand`.
  public static let controlPoint = BluetoothUUID(high: 0x69D1_D8F3_45E1_49A8, low: 0x9821_9BBD_FDAA_D9D9)
  /// Data Source: notifies the answers, in parts, see `AttributeAssembly`.
  public static let dataSource = BluetoothUUID(high: 0x22EA_C6E9_24D6_4BB5, low: 0xBE44_B36A_CE7C_7BFB)
}

/// A notification's kind (ANCS, CategoryID values); numbers without a name are kept.
public struct NotificationCategory: RawRepresentable, Hashable, Sendable {
  /// The number.
  public let rawValue: UInt8

  /// Makes a category from its number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  private static let names = [
    "other", "incomingCall", "missedCall", "voicemail", "social", "schedule", "email", "news", "healthAndFitness",
    "businessAndFinance", "location", "entertainment",
  ]

  /// Its name, or its number in decimal digits.
  public var name: String {
    Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "\(rawValue)"
  }
}

/// A value of Notification Source: a notification was added, modified or removed.
public struct NotificationEvent: Hashable, Sendable {
  /// The change (EventID values).
  public enum Change: UInt8, Sendable {
    /// A notification was added.
    case added = 0
    /// A notification has changed.
    case modified = 1
    /// A notification was removed.
    case removed = 2
  }

  /// A notification's properties (EventFlags).
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8
    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Without a sound.
    public static let silent = Flags(rawValue: 1 << 0)
    /// Important.
    public static let important = Flags(rawValue: 1 << 1)
    /// The notification was there before the device connected.
    public static let preExisting = Flags(rawValue: 1 << 2)
    /// There is a positive action.
    public static let positiveAction = Flags(rawValue: 1 << 3)
    /// There is a negative action.
    public static let negativeAction = Flags(rawValue: 1 << 4)
  }

  /// The change.
  public var change: Change
  /// The notification's properties.
  public var flags: Flags
  /// Its kind.
  public var category: NotificationCategory
  /// The phone's notifications of that kind.
  public var count: UInt8
  /// The phone's number for the notification, valid on this link.
  public var identifier: UInt32

  /// Makes an event.
  public init(
    change: Change, flags: Flags, category: NotificationCategory, count: UInt8, identifier: UInt32
  ) {
    (self.change, self.flags, self.category, self.count) = (change, flags, category, count)
    self.identifier = identifier
  }

  /// Reads a value.
  /// - Returns: nil for fewer than 8 octets and unknown changes; further octets are ignored.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let change = reader.uint8().flatMap(Change.init), let flags = reader.uint8(), let category = reader.uint8(),
      let count = reader.uint8(), let identifier = reader.uint32()
    else { return nil }
    self.init(
      change: change, flags: Flags(rawValue: flags), category: NotificationCategory(rawValue: category), count: count,
      identifier: identifier)
  }

  /// The value: 8 octets.
  public var octets: [UInt8] {
    [change.rawValue, flags.rawValue, category.rawValue, count] + identifier.littleEndianOctets
  }
}

extension FixedWidthInteger {
  /// The octets, least significant first.
  var littleEndianOctets: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
