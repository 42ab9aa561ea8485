/// A part of a notification (ANCS, NotificationAttributeID values).
public enum NotificationAttribute: UInt8, Sendable, CaseIterable {
  /// The identifier of the application, such as "com.apple.MobileSMS".
  case appIdentifier = 0
  /// The title.
  case title = 1
  /// The second title.
  case subtitle = 2
  /// The text.
  case message = 3
  /// The length of the text in octets, in decimal digits.
  case messageSize = 4
  /// The date, as 20261125T140806.
  case date = 5
  /// The words of the positive action.
  case positiveActionLabel = 6
  /// The words of the negative action.
  case negativeActionLabel = 7

  /// Whether a request says how many octets of it are wanted.
  var hasLength: Bool { (1...3).contains(rawValue) }
}

/// A command for the Control Point of ANCS. The phone refuses with the ATT errors of `refusal(_:)`.
public enum NotificationCommand: Hashable, Sendable {
  /// A part to get, with the number of octets at most where the part has that, 0 to 65535.
  public struct Part: Hashable, Sendable {
    /// Which one.
    public var attribute: NotificationAttribute
    /// How many octets at most; ignored except for `title`, `subtitle` and `message`.
    public var length: UInt16

    /// Makes a part.
    public init(_ attribute: NotificationAttribute, length: UInt16 = 0) {
      (self.attribute, self.length) = (attribute, length)
    }
  }

  /// Asks for parts of a notification.
  case getAttributes(notification: UInt32, [Part])
  /// Asks for the name of an application.
  case getAppName(String)
  /// Performs the positive action of a notification, or the negative one.
  case perform(notification: UInt32, isPositive: Bool)

  /// The value to write, with a response.
  public var octets: [UInt8] {
    switch self {
    case .getAttributes(let notification, let parts):
      [0] + notification.littleEndianOctets
        + parts.flatMap { part in
          [part.attribute.rawValue] + (part.attribute.hasLength ? part.length.littleEndianOctets : [])
        }
    case .getAppName(let identifier): [1] + identifier.utf8.prefix { $0 != 0 } + [0, 0]
    case .perform(let notification, let isPositive):
      [2] + notification.littleEndianOctets + [isPositive ? 0 : 1]
    }
  }

  /// The meaning of an ATT error in the answer; nil for errors that are not of ANCS.
  public static func refusal(_ code: UInt8) -> String? {
    switch code {
    case 0xA0: "unknown command"
    case 0xA1: "invalid command"
    case 0xA2: "the phone does not have it any more"
    case 0xA3: "the action failed"
    default: nil
    }
  }
}
