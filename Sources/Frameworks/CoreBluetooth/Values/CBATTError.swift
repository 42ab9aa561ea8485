// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of `CBATTError`.
public let CBATTErrorDomain = "CBATTErrorDomain"

/// A device's error response to a request (Core 5.4, Vol 3, Part F, 3.4.1.1).
public struct CBATTError: CustomNSError, Hashable, Error, Sendable {
  // swift-format-ignore: NoLeadingUnderscores
  /// The error as `NSError`.
  public let _nsError: NSError

  // swift-format-ignore: NoLeadingUnderscores
  /// Takes over an `NSError`, whose domain is not looked at.
  public init(_nsError: NSError) { self._nsError = _nsError }

  /// Makes an error from its code and additional information.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    _nsError = DescribedError(domain: Self.errorDomain, code: code.rawValue, userInfo: userInfo)
  }

  /// `CBATTErrorDomain`.
  public static var errorDomain: String { CBATTErrorDomain }

  /// The error's code.
  public var code: Code { Code(_nsError.code) }

  /// The number of `code`.
  public var errorCode: Int { _nsError.code }

  /// Additional information.
  public var userInfo: [String: Any] { _nsError.userInfo }

  /// The user info with the message, for `CustomNSError`.
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: localizedDescription].merging(_nsError.userInfo) { $1 }
  }

  /// Hashes the code: `NSError.hash` of Foundation on Linux crashes (Swift 6.3).
  public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

  /// A human-readable message: from `userInfo`, or Apple's for the code.
  public var localizedDescription: String {
    _nsError.userInfo[NSLocalizedDescriptionKey] as? String ?? code.localizedDescription
  }
}

extension CBATTError {
  /// The codes. As with Apple's, a number outside the list is a code too: `Code(rawValue: 0x80)` is not nil.
  public enum Code: RawRepresentable, Hashable, Sendable {
    /// No error.
    case success
    /// No attribute has that handle.
    case invalidHandle
    /// The attribute may not be read.
    case readNotPermitted
    /// The attribute may not be written.
    case writeNotPermitted
    /// The packet is not valid.
    case invalidPdu
    /// The link must be authenticated first.
    case insufficientAuthentication
    /// The device does not support the request.
    case requestNotSupported
    /// The offset lies beyond the value's end.
    case invalidOffset
    /// The program does not allow it.
    case insufficientAuthorization
    /// Too many writes are prepared.
    case prepareQueueFull
    /// There is no such attribute.
    case attributeNotFound
    /// The value is not long.
    case attributeNotLong
    /// The key is too short.
    case insufficientEncryptionKeySize
    /// The value's length is wrong.
    case invalidAttributeValueLength
    /// Unlikely Error.
    case unlikelyError
    /// The link must be encrypted first.
    case insufficientEncryption
    /// This type does not group others.
    case unsupportedGroupType
    /// The device lacks resources.
    case insufficientResources
    // swift-format-ignore: NoLeadingUnderscores
    /// A code outside the list.
    case _other(Int)

    private static let listed: [Code] = [
      .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu,
      .insufficientAuthentication, .requestNotSupported, .invalidOffset, .insufficientAuthorization,
      .prepareQueueFull, .attributeNotFound, .attributeNotLong, .insufficientEncryptionKeySize,
      .invalidAttributeValueLength, .unlikelyError, .insufficientEncryption, .unsupportedGroupType,
      .insufficientResources,
    ]

    init(_ rawValue: Int) {
      self = Self.listed.indices.contains(rawValue) ? Self.listed[rawValue] : ._other(rawValue)
    }

    /// Makes the code from a number; never nil.
    public init?(rawValue: Int) { self.init(rawValue) }

    /// The number.
    public var rawValue: Int {
      switch self {
      case .success: 0x00
      case .invalidHandle: 0x01
      case .readNotPermitted: 0x02
      case .writeNotPermitted: 0x03
      case .invalidPdu: 0x04
      case .insufficientAuthentication: 0x05
      case .requestNotSupported: 0x06
      case .invalidOffset: 0x07
      case .insufficientAuthorization: 0x08
      case .prepareQueueFull: 0x09
      case .attributeNotFound: 0x0A
      case .attributeNotLong: 0x0B
      case .insufficientEncryptionKeySize: 0x0C
      case .invalidAttributeValueLength: 0x0D
      case .unlikelyError: 0x0E
      case .insufficientEncryption: 0x0F
      case .unsupportedGroupType: 0x10
      case .insufficientResources: 0x11
      case ._other(let number): number
      }
    }

    /// Lets `catch CBATTError.invalidHandle` and `case CBATTError.invalidHandle` match errors.
    public static func ~= (match: Code, error: any Error) -> Bool { (error as? CBATTError)?.code == match }
  }
}

extension CBATTError {
  /// No error.
  public static var success: Code { .success }
  /// No attribute has that handle.
  public static var invalidHandle: Code { .invalidHandle }
  /// The attribute may not be read.
  public static var readNotPermitted: Code { .readNotPermitted }
  /// The attribute may not be written.
  public static var writeNotPermitted: Code { .writeNotPermitted }
  /// The packet is not valid.
  public static var invalidPdu: Code { .invalidPdu }
  /// The link must be authenticated first.
  public static var insufficientAuthentication: Code { .insufficientAuthentication }
  /// The device does not support the request.
  public static var requestNotSupported: Code { .requestNotSupported }
  /// The offset lies beyond the value's end.
  public static var invalidOffset: Code { .invalidOffset }
  /// The program does not allow it.
  public static var insufficientAuthorization: Code { .insufficientAuthorization }
  /// Too many writes are prepared.
  public static var prepareQueueFull: Code { .prepareQueueFull }
  /// There is no such attribute.
  public static var attributeNotFound: Code { .attributeNotFound }
  /// The value is not long.
  public static var attributeNotLong: Code { .attributeNotLong }
  /// The key is too short.
  public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
  /// The value's length is wrong.
  public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
  /// Unlikely Error.
  public static var unlikelyError: Code { .unlikelyError }
  /// The link must be encrypted first.
  public static var insufficientEncryption: Code { .insufficientEncryption }
  /// This type does not group others.
  public static var unsupportedGroupType: Code { .unsupportedGroupType }
  /// The device lacks resources.
  public static var insufficientResources: Code { .insufficientResources }
}

// The bridge for `error as? CBATTError` of an NSError of this domain, as on Apple's systems.
// swift-format-ignore: NoLeadingUnderscores
extension CBATTError: _ObjectiveCBridgeable {
  /// The error as `NSError`.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Converts an `NSError` of this domain.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CBATTError?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }

  /// Converts an `NSError` of this domain.
  /// - Returns: False for any other domain.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CBATTError?) -> Bool {
    result = source.domain == errorDomain ? CBATTError(_nsError: source) : nil
    return result != nil
  }

  /// Converts an `NSError` of this domain.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CBATTError {
    CBATTError(_nsError: source ?? NSError(domain: errorDomain, code: 0))
  }
}
