/// A notification's part (ANCS, NotificationAttributeID values).
public enum NotificationAttribute: UInt8, Sendable, CaseIterable {
  /// The application's identifier, such as "com.apple.MobileSMS".
  case appIdentifier = 0
  /// The title.
  case title = 1
  /// The second title.
  case subtitle = 2
  /// The text.
  case message = 3
  /// The text's length in octets, in decimal digits.
  case messageSize = 4
  /// The date, as 20261125T140806.
  case date = 5
  /// The positive action's label.
  case positiveActionLabel = 6
  /// The negative action's label.
  case negativeActionLabel = 7

  /// True if a request limits its octets.
  var hasLength: Bool { (1...3).contains(rawValue) }
}

/// A command for the Control Point of ANCS. The phone refuses with the ATT errors of `refusal(_:)`.
public enum NotificationCommand: Hashable, Sendable {
  /// A requested part, with the maximum number of octets if the part has one, 0 to 65535.
  public struct Part: Hashable, Sendable {
    /// The attribute to read.
    public var attribute: NotificationAttribute
    /// Maximum octets; ignored except for `title`, `subtitle` and `message`.
    public var length: UInt16

    /// Makes a part.
    public init(_ attribute: NotificationAttribute, length: UInt16 = 0) {
      (self.attribute, self.length) = (attribute, length)
    }
  }

  /// Requests a notification's parts.
  case getAttributes(notification: UInt32, [Part])
  /// Requests an application's name.
  case getAppName(String)
  /// Performs a notification's positive or negative action.
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

  /// The meaning of an ATT error in the answer; nil for errors outside of ANCS.
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
