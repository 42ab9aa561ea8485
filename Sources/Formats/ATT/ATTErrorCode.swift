import Bluetooth

/// The reason why a request was refused (Core 5.4, Vol 3, Part F, 3.4.1.1; common profile errors: Supplement, Part B).
public struct ATTErrorCode: RawRepresentable, Error, Hashable, Sendable {
  /// The Error Response's octet.
  public let rawValue: UInt8

  /// Makes an error from any octet; 0x80 to 0x9F belong to the application.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The handle is not in the database, or a range is not valid.
  public static let invalidHandle = ATTErrorCode(rawValue: 0x01)
  /// The attribute cannot be read.
  public static let readNotPermitted = ATTErrorCode(rawValue: 0x02)
  /// The attribute cannot be written.
  public static let writeNotPermitted = ATTErrorCode(rawValue: 0x03)
  /// The packet was malformed.
  public static let invalidPDU = ATTErrorCode(rawValue: 0x04)
  /// The link must be paired first, or with better security.
  public static let insufficientAuthentication = ATTErrorCode(rawValue: 0x05)
  /// The server does not support the request.
  public static let requestNotSupported = ATTErrorCode(rawValue: 0x06)
  /// The offset is past the end of the value.
  public static let invalidOffset = ATTErrorCode(rawValue: 0x07)
  /// The server does not grant this client the access.
  public static let insufficientAuthorization = ATTErrorCode(rawValue: 0x08)
  /// Too many prepared writes.
  public static let prepareQueueFull = ATTErrorCode(rawValue: 0x09)
  /// No attribute in the range has that type.
  public static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
  /// The value is too short for Read Blob.
  public static let attributeNotLong = ATTErrorCode(rawValue: 0x0B)
  /// The encryption key is too short.
  public static let encryptionKeySizeTooShort = ATTErrorCode(rawValue: 0x0C)
  /// The attribute cannot accept a value of this length.
  public static let invalidAttributeValueLength = ATTErrorCode(rawValue: 0x0D)
  /// An error without its own code.
  public static let unlikelyError = ATTErrorCode(rawValue: 0x0E)
  /// There is a key, and the link must be encrypted with it.
  public static let insufficientEncryption = ATTErrorCode(rawValue: 0x0F)
  /// The type cannot be used for grouping.
  public static let unsupportedGroupType = ATTErrorCode(rawValue: 0x10)
  /// The server lacks resources.
  public static let insufficientResources = ATTErrorCode(rawValue: 0x11)
  /// The server's database changed; the client must discover it again.
  public static let databaseOutOfSync = ATTErrorCode(rawValue: 0x12)
  /// The value is not allowed by the server.
  public static let valueNotAllowed = ATTErrorCode(rawValue: 0x13)
  /// The profile refuses the write.
  public static let writeRequestRejected = ATTErrorCode(rawValue: 0xFC)
  /// The Client Characteristic Configuration does not suit the request.
  public static let clientConfigurationImproperlyConfigured = ATTErrorCode(rawValue: 0xFD)
  /// The profile is still busy with the previous request.
  public static let procedureAlreadyInProgress = ATTErrorCode(rawValue: 0xFE)
  /// The value is out of the profile's range.
  public static let outOfRange = ATTErrorCode(rawValue: 0xFF)

  /// True if the request could succeed on a better protected link.
  public var isAboutSecurity: Bool {
    self == .insufficientAuthentication || self == .insufficientEncryption || self == .encryptionKeySizeTooShort
  }

  /// True if a client that ignores it would miss a possible answer: with more protection, with a permission, or after
  /// another discovery.
  public var isToBeTold: Bool {
    isAboutSecurity || self == .insufficientAuthorization || self == .databaseOutOfSync
  }
}

extension ATTErrorCode {
  /// The name as one word in lower camel case, such as "insufficientEncryption".
  public var name: String { text.name }

  /// As a `BluetoothError`.
  public var bluetoothError: BluetoothError { bluetoothError("") }

  /// As a `BluetoothError`.
  /// - Parameter context: the operation, put before the sentence: "reading handle 0x0012 failed"; may be empty.
  public func bluetoothError(_ context: String) -> BluetoothError {
    let (name, sentence) = text
    return BluetoothError(
      domain: .att, code: Int(rawValue), name: name, message: context.isEmpty ? sentence : "\(context): \(sentence)")
  }

  private var text: (name: String, sentence: String) {
    switch self {
    case .invalidHandle: ("invalidHandle", "the device has no attribute of that handle; discover its services again")
    case .readNotPermitted: ("readNotPermitted", "the device does not let this attribute be read")
    case .writeNotPermitted: ("writeNotPermitted", "the device does not let this attribute be written")
    case .invalidPDU: ("invalidPDU", "the device calls the request malformed")
    case .insufficientAuthentication:
      ("insufficientAuthentication", "the device wants to be paired first, or with more protection than now")
    case .requestNotSupported: ("requestNotSupported", "the device does not support this request")
    case .invalidOffset: ("invalidOffset", "the offset lies behind the end of the value")
    case .insufficientAuthorization: ("insufficientAuthorization", "the device does not grant this access")
    case .prepareQueueFull: ("prepareQueueFull", "the device has no room for so many prepared writes")
    case .attributeNotFound: ("attributeNotFound", "the device has no such attribute")
    case .attributeNotLong: ("attributeNotLong", "the value is too short to be read in pieces")
    case .encryptionKeySizeTooShort:
      ("encryptionKeySizeTooShort", "the link's key is too short for the device; pair again with a longer one")
    case .invalidAttributeValueLength:
      ("invalidAttributeValueLength", "the attribute cannot take a value of that length")
    case .unlikelyError: ("unlikelyError", "the device failed and does not say why")
    case .insufficientEncryption:
      ("insufficientEncryption", "the device wants the link encrypted with the key of the pairing")
    case .unsupportedGroupType: ("unsupportedGroupType", "the type cannot be used for grouping")
    case .insufficientResources: ("insufficientResources", "the device is short of memory or the like")
    case .databaseOutOfSync: ("databaseOutOfSync", "the device's services changed; discover them again")
    case .valueNotAllowed: ("valueNotAllowed", "the device does not accept that value")
    case .writeRequestRejected: ("writeRequestRejected", "the device's profile refuses the write")
    case .clientConfigurationImproperlyConfigured:
      ("clientConfigurationImproperlyConfigured", "notifications or indications must be switched on first")
    case .procedureAlreadyInProgress:
      ("procedureAlreadyInProgress", "the device is still busy with the request before")
    case .outOfRange: ("outOfRange", "the value is out of the range that the device accepts")
    default:
      (0x80...0x9F).contains(rawValue)
        ? ("applicationError", "the device's application refuses the request")
        : ("reserved", "the device gives an unknown reason")
    }
  }
}
