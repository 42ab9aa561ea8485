// Names of iOS 27. The function needs controllers with Channel Sounding (Core 6.0, Vol 6, Part H), which bled does not
// drive: `CBCentralManager.supports(.channelSounding)` is false.

/// How distances to a device are measured.
open class CBChannelSoundingSessionConfiguration: NSObject {
  /// The side in a measurement.
  public enum Role: Int, Sendable {
    /// This machine measures.
    case initiator = 0
  }

  /// This machine's side.
  public let role: Role

  /// Makes a configuration.
  public init(role: Role) { self.role = role }
}

/// A measurement's result. Does not occur on Linux.
open class CBChannelSoundingProcedureResults: NSObject {
  /// The distance in metres.
  public let distance: Double

  init(distance: Double) { self.distance = distance }
}

extension CBPeripheral {
  /// Fails: the delegate receives `operationNotSupported` with `didCompleteChannelSoundingSession`.
  public func startChannelSoundingSession(_ configuration: CBChannelSoundingSessionConfiguration) {
    let error = NSError.failed(.operationNotSupported, "bled does not measure distances by Channel Sounding")
    engine.deliver(to: self) { $0.delegate?.peripheral($0, didCompleteChannelSoundingSession: error) }
  }

  /// Does nothing: there is no session.
  public func cancelChannelSoundingSession() {}
}

extension CBError {
  /// A session could not be set up. Apple's number of it is not known here, and no error has this one.
  public static var channelSoundingConfigurationFailed: Code { .channelSoundingConfigurationFailed }
  /// A measurement failed. Apple's number of it is not known here, and no error has this one.
  public static var channelSoundingProcedureFailed: Code { .channelSoundingProcedureFailed }
}

extension CBError.Code {
  /// A session could not be set up. Apple's number of it is not known here, and no error has this one.
  public static var channelSoundingConfigurationFailed: CBError.Code { ._other(-1) }
  /// A measurement failed. Apple's number of it is not known here, and no error has this one.
  public static var channelSoundingProcedureFailed: CBError.Code { ._other(-2) }
}
