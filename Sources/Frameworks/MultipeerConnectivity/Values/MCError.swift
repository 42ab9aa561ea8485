import BledClient

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of `MCError`.
public let MCErrorDomain = "MCErrorDomain"

/// An error from a session, an advertiser or a browser.
public struct MCError: _BridgedStoredNSError {
  // swift-format-ignore: NoLeadingUnderscores
  /// The error as `NSError`.
  public let _nsError: NSError

  // swift-format-ignore: NoLeadingUnderscores
  /// Takes over an `NSError`, whose domain is not looked at.
  public init(_nsError error: NSError) { _nsError = error }

  /// Hashes the code: `NSError.hash` of Foundation on Linux crashes (Swift 6.3).
  public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

  // swift-format-ignore: NoLeadingUnderscores
  /// `MCErrorDomain`.
  public static var _nsErrorDomain: String { MCErrorDomain }

  /// `MCErrorDomain`.
  public static var errorDomain: String { MCErrorDomain }

  /// The codes.
  public enum Code: Int, _ErrorCodeProtocol {
    // swift-format-ignore: NoLeadingUnderscores
    /// The error type.
    public typealias _ErrorType = MCError

    /// The reason is not known.
    case unknown = 0
    /// The peer is not connected.
    case notConnected = 1
    /// An unusable value.
    case invalidParameter = 2
    /// The call is not supported on Linux.
    case unsupported = 3
    /// The call took too long.
    case timedOut = 4
    /// Cancelled by one side.
    case cancelled = 5
    /// The call cannot be carried out now: without Bluetooth, or at a limit.
    case unavailable = 6
  }

  /// The reason is not known.
  public static var unknown: Code { .unknown }
  /// The peer is not connected.
  public static var notConnected: Code { .notConnected }
  /// An unusable value.
  public static var invalidParameter: Code { .invalidParameter }
  /// The call is not supported on Linux.
  public static var unsupported: Code { .unsupported }
  /// The call took too long.
  public static var timedOut: Code { .timedOut }
  /// Cancelled by one side.
  public static var cancelled: Code { .cancelled }
  /// The call cannot be carried out now: without Bluetooth, or at a limit.
  public static var unavailable: Code { .unavailable }
}

// The bridge for `error as? MCError` of an NSError of this domain, as on Apple's systems.
// swift-format-ignore: NoLeadingUnderscores
extension MCError: _ObjectiveCBridgeable {
  /// The error as `NSError`.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Converts an `NSError` of this domain.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout MCError?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }

  /// Converts an `NSError` of this domain.
  /// - Returns: False for any other domain.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout MCError?) -> Bool {
    result = source.domain == MCErrorDomain ? MCError(_nsError: source) : nil
    return result != nil
  }

  /// Converts an `NSError` of this domain.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> MCError {
    MCError(_nsError: source ?? NSError(domain: MCErrorDomain, code: 0))
  }
}

extension NSError {
  /// An error for the program: `as? NSError` gives nil for a Swift type on Linux, `as? MCError` works for both.
  static func multipeer(_ code: MCError.Code, _ reason: String) -> NSError {
    NSError(
      domain: MCErrorDomain, code: code.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: "The operation couldn’t be completed. (MCErrorDomain error \(code.rawValue).)",
        NSLocalizedFailureReasonErrorKey: reason,
      ])
  }

  /// The error for an error from bled.
  static func multipeer(_ error: BluetoothError) -> NSError {
    let codes: [(BluetoothError, MCError.Code)] = [
      (GAPError.notConnected.error(""), .notConnected), (GAPError.timeout.error(""), .timedOut),
      (BledError.invalidParameter.error(""), .invalidParameter),
    ]
    let code = codes.first { $0.0.domain == error.domain && $0.0.code == error.code }?.1 ?? .unavailable
    return multipeer(code, error.message)
  }
}
