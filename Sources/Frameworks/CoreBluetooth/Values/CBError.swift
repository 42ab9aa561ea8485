// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of `CBError`.
public let CBErrorDomain = "CBErrorDomain"

/// An error of adapters, connections or the daemon.
public struct CBError: CustomNSError, Hashable, Error, Sendable {
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

  /// `CBErrorDomain`.
  public static var errorDomain: String { CBErrorDomain }

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

extension CBError {
  /// The codes. As with Apple's, a number outside the list is a code too: `Code(rawValue: 0x80)` is not nil.
  public enum Code: RawRepresentable, Hashable, Sendable {
    /// The reason is not known.
    case unknown
    /// A parameter is not valid.
    case invalidParameters
    /// No attribute has that handle.
    case invalidHandle
    /// The device is not connected.
    case notConnected
    /// There is no room for it.
    case outOfSpace
    /// The operation was cancelled.
    case operationCancelled
    /// The connection timed out.
    case connectionTimeout
    /// The device ended the connection.
    case peripheralDisconnected
    /// Services with that UUID belong to the system.
    case uuidNotAllowed
    /// This manager is already advertising.
    case alreadyAdvertising
    /// The connection could not be made.
    case connectionFailed
    /// The adapter supports no more connections.
    case connectionLimitReached
    /// The device is not known.
    case unknownDevice
    /// The operation is not supported.
    case operationNotSupported
    /// The device has forgotten the pairing.
    case peerRemovedPairingInformation
    /// Encryption did not start in time.
    case encryptionTimedOut
    /// There are too many paired devices.
    case tooManyLEPairedDevices
    /// Too many notifications were received in the background.
    case leGattExceededBackgroundNotificationLimit
    /// Nearly too many notifications were received in the background.
    case leGattNearBackgroundNotificationLimit
    // swift-format-ignore: NoLeadingUnderscores
    /// A code outside the list.
    case _other(Int)

    private static let listed: [Code] = [
      .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
      .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
      .connectionLimitReached, .unknownDevice, .operationNotSupported, .peerRemovedPairingInformation,
      .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
      .leGattNearBackgroundNotificationLimit,
    ]

    init(_ rawValue: Int) {
      self = Self.listed.indices.contains(rawValue) ? Self.listed[rawValue] : ._other(rawValue)
    }

    /// Makes the code from a number; never nil.
    public init?(rawValue: Int) { self.init(rawValue) }

    /// The number.
    public var rawValue: Int {
      switch self {
      case .unknown: 0
      case .invalidParameters: 1
      case .invalidHandle: 2
      case .notConnected: 3
      case .outOfSpace: 4
      case .operationCancelled: 5
      case .connectionTimeout: 6
      case .peripheralDisconnected: 7
      case .uuidNotAllowed: 8
      case .alreadyAdvertising: 9
      case .connectionFailed: 10
      case .connectionLimitReached: 11
      case .unknownDevice: 12
      case .operationNotSupported: 13
      case .peerRemovedPairingInformation: 14
      case .encryptionTimedOut: 15
      case .tooManyLEPairedDevices: 16
      case .leGattExceededBackgroundNotificationLimit: 17
      case .leGattNearBackgroundNotificationLimit: 18
      case ._other(let number): number
      }
    }

    /// The older spelling of `unknownDevice`.
    @available(*, deprecated, renamed: "unknownDevice")
    public static var unkownDevice: Code { .unknownDevice }

    /// Lets `catch CBError.invalidParameters` and `case CBError.invalidParameters` match errors.
    public static func ~= (match: Code, error: any Error) -> Bool { (error as? CBError)?.code == match }
  }
}

extension CBError {
  /// The reason is not known.
  public static var unknown: Code { .unknown }
  /// A parameter is not valid.
  public static var invalidParameters: Code { .invalidParameters }
  /// No attribute has that handle.
  public static var invalidHandle: Code { .invalidHandle }
  /// The device is not connected.
  public static var notConnected: Code { .notConnected }
  /// There is no room for it.
  public static var outOfSpace: Code { .outOfSpace }
  /// The operation was cancelled.
  public static var operationCancelled: Code { .operationCancelled }
  /// The connection timed out.
  public static var connectionTimeout: Code { .connectionTimeout }
  /// The device ended the connection.
  public static var peripheralDisconnected: Code { .peripheralDisconnected }
  /// Services with that UUID belong to the system.
  public static var uuidNotAllowed: Code { .uuidNotAllowed }
  /// This manager is already advertising.
  public static var alreadyAdvertising: Code { .alreadyAdvertising }
  /// The connection could not be made.
  public static var connectionFailed: Code { .connectionFailed }
  /// The adapter supports no more connections.
  public static var connectionLimitReached: Code { .connectionLimitReached }
  /// The device is not known.
  public static var unknownDevice: Code { .unknownDevice }
  /// The operation is not supported.
  public static var operationNotSupported: Code { .operationNotSupported }
  /// The device has forgotten the pairing.
  public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
  /// Encryption did not start in time.
  public static var encryptionTimedOut: Code { .encryptionTimedOut }
  /// There are too many paired devices.
  public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
  /// Too many notifications were received in the background.
  public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
  /// Nearly too many notifications were received in the background.
  public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
  /// The older spelling of `unknownDevice`.
  @available(*, deprecated, renamed: "unknownDevice")
  public static var unkownDevice: Code { .unknownDevice }
}

// The bridge for `error as? CBError` of an NSError of this domain, as on Apple's systems.
// swift-format-ignore: NoLeadingUnderscores
extension CBError: _ObjectiveCBridgeable {
  /// The error as `NSError`.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Converts an `NSError` of this domain.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CBError?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }

  /// Converts an `NSError` of this domain.
  /// - Returns: False for any other domain.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CBError?) -> Bool {
    result = source.domain == errorDomain ? CBError(_nsError: source) : nil
    return result != nil
  }

  /// Converts an `NSError` of this domain.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CBError {
    CBError(_nsError: source ?? NSError(domain: errorDomain, code: 0))
  }
}
