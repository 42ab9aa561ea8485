// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of `CLError`.
public let kCLErrorDomain = "kCLErrorDomain"

/// An error of location services.
public struct CLError: _BridgedStoredNSError {
  // swift-format-ignore: NoLeadingUnderscores
  /// The error as `NSError`.
  public let _nsError: NSError

  // swift-format-ignore: NoLeadingUnderscores
  /// Takes over an `NSError`, whose domain is not looked at.
  public init(_nsError error: NSError) { _nsError = error }

  /// Hashes the code: `NSError.hash` of Foundation on Linux crashes (Swift 6.3).
  public func hash(into hasher: inout Hasher) { hasher.combine(_nsError.code) }

  // swift-format-ignore: NoLeadingUnderscores
  /// `kCLErrorDomain`.
  public static var _nsErrorDomain: String { kCLErrorDomain }

  /// `kCLErrorDomain`.
  public static var errorDomain: String { kCLErrorDomain }

  /// The codes.
  public enum Code: Int, _ErrorCodeProtocol {
    // swift-format-ignore: NoLeadingUnderscores
    /// The error type.
    public typealias _ErrorType = CLError

    /// The place is unknown now.
    case locationUnknown = 0
    /// The service is not permitted, or does not exist on this machine.
    case denied = 1
    /// The network is needed and cannot be reached.
    case network = 2
    /// There is no compass.
    case headingFailure = 3
    /// Monitoring is not permitted.
    case regionMonitoringDenied = 4
    /// The region cannot be monitored now, or not at all.
    case regionMonitoringFailure = 5
    /// Monitoring could not begin at once.
    case regionMonitoringSetupDelayed = 6
    /// The region's events will be late.
    case regionMonitoringResponseDelayed = 7
    /// Geocoding found nothing.
    case geocodeFoundNoResult = 8
    /// Geocoding found a part.
    case geocodeFoundPartialResult = 9
    /// Geocoding was cancelled.
    case geocodeCanceled = 10
    /// Updates cannot be deferred.
    case deferredFailed = 11
    /// Updates cannot be deferred without updates.
    case deferredNotUpdatingLocation = 12
    /// Updates cannot be deferred with this accuracy.
    case deferredAccuracyTooLow = 13
    /// Updates cannot be deferred with a distance filter.
    case deferredDistanceFiltered = 14
    /// Deferred updates were cancelled.
    case deferredCanceled = 15
    /// Beacons cannot be ranged now, as with Bluetooth off.
    case rangingUnavailable = 16
    /// Ranging failed.
    case rangingFailure = 17
    /// The question for a permission was declined.
    case promptDeclined = 18
    /// Earlier locations could not be read.
    case historicalLocationError = 19
  }

  /// The place is unknown now.
  public static var locationUnknown: Code { .locationUnknown }
  /// The service is not permitted, or does not exist on this machine.
  public static var denied: Code { .denied }
  /// The network is needed and cannot be reached.
  public static var network: Code { .network }
  /// There is no compass.
  public static var headingFailure: Code { .headingFailure }
  /// Monitoring is not permitted.
  public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
  /// The region cannot be monitored now, or not at all.
  public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
  /// Monitoring could not begin at once.
  public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
  /// The region's events will be late.
  public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
  /// Geocoding found nothing.
  public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
  /// Geocoding found a part.
  public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
  /// Geocoding was cancelled.
  public static var geocodeCanceled: Code { .geocodeCanceled }
  /// Updates cannot be deferred.
  public static var deferredFailed: Code { .deferredFailed }
  /// Updates cannot be deferred without updates.
  public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
  /// Updates cannot be deferred with this accuracy.
  public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
  /// Updates cannot be deferred with a distance filter.
  public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
  /// Deferred updates were cancelled.
  public static var deferredCanceled: Code { .deferredCanceled }
  /// Beacons cannot be ranged now, as with Bluetooth off.
  public static var rangingUnavailable: Code { .rangingUnavailable }
  /// Ranging failed.
  public static var rangingFailure: Code { .rangingFailure }
  /// The question for a permission was declined.
  public static var promptDeclined: Code { .promptDeclined }
  /// Earlier locations could not be read.
  public static var historicalLocationError: Code { .historicalLocationError }
}

// The bridge for `error as? CLError` of an NSError of this domain, as on Apple's systems.
// swift-format-ignore: NoLeadingUnderscores
extension CLError: _ObjectiveCBridgeable {
  /// The error as `NSError`.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// Converts an `NSError` of this domain.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CLError?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }

  /// Converts an `NSError` of this domain.
  /// - Returns: False for any other domain.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CLError?) -> Bool {
    result = source.domain == kCLErrorDomain ? CLError(_nsError: source) : nil
    return result != nil
  }

  /// Converts an `NSError` of this domain.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CLError {
    CLError(_nsError: source ?? NSError(domain: kCLErrorDomain, code: 0))
  }
}

extension NSError {
  /// An error for a delegate: `as? NSError` gives nil for a Swift type on Linux, `as? CLError` works for both.
  static func location(_ code: CLError.Code, _ reason: String) -> NSError {
    NSError(
      domain: kCLErrorDomain, code: code.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: "The operation couldn’t be completed. (kCLErrorDomain error \(code.rawValue).)",
        NSLocalizedFailureReasonErrorKey: reason,
      ])
  }
}
