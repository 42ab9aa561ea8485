import Bluetooth

/// The error codes of controllers (Core 5.4, Vol 1, Part F, 1.3).
public enum HCIErrorCode: UInt8, Hashable, Sendable, CaseIterable {
  /// The command went well.
  case success = 0x00
  /// The controller does not know the command.
  case unknownHCICommand = 0x01
  /// There is no such connection.
  case unknownConnectionIdentifier = 0x02
  /// The controller's hardware failed.
  case hardwareFailure = 0x03
  /// The device did not answer the page.
  case pageTimeout = 0x04
  /// Pairing or authentication failed.
  case authenticationFailure = 0x05
  /// The other device has no key for us: remove the bond on both sides and pair again.
  case pinOrKeyMissing = 0x06
  /// The controller is out of memory.
  case memoryCapacityExceeded = 0x07
  /// The link was lost: nothing was heard from the device within the supervision timeout.
  case connectionTimeout = 0x08
  /// The controller cannot hold one more connection.
  case connectionLimitExceeded = 0x09
  /// The controller cannot hold one more synchronous connection.
  case synchronousConnectionLimitExceeded = 0x0A
  /// There is already a connection to this device.
  case connectionAlreadyExists = 0x0B
  /// The controller's state does not allow the command.
  case commandDisallowed = 0x0C
  /// The device refused the connection for want of resources.
  case rejectedLimitedResources = 0x0D
  /// The device refused the connection for reasons of security.
  case rejectedSecurityReasons = 0x0E
  /// The device refused the connection because of our address.
  case rejectedUnacceptableAddress = 0x0F
  /// The connection was not accepted in time.
  case connectionAcceptTimeoutExceeded = 0x10
  /// The controller does not support a feature or the value of a parameter.
  case unsupportedFeatureOrParameterValue = 0x11
  /// A parameter of the command is invalid.
  case invalidHCICommandParameters = 0x12
  /// The device ended the connection.
  case remoteUserTerminatedConnection = 0x13
  /// The device ended the connection for want of resources.
  case remoteTerminatedLowResources = 0x14
  /// The device ended the connection because it switches itself off.
  case remoteTerminatedPowerOff = 0x15
  /// The connection was ended by us.
  case terminatedByLocalHost = 0x16
  /// The device allows no further attempt yet.
  case repeatedAttempts = 0x17
  /// The device does not allow pairing now.
  case pairingNotAllowed = 0x18
  /// A link manager packet was not known.
  case unknownLMPPDU = 0x19
  /// The device does not support the feature.
  case unsupportedRemoteFeature = 0x1A
  /// The SCO offset was rejected.
  case scoOffsetRejected = 0x1B
  /// The SCO interval was rejected.
  case scoIntervalRejected = 0x1C
  /// The SCO air mode was rejected.
  case scoAirModeRejected = 0x1D
  /// A parameter of a link layer packet is invalid.
  case invalidLMPParameters = 0x1E
  /// No other error code fits.
  case unspecifiedError = 0x1F
  /// A value of a link layer packet is not supported.
  case unsupportedLMPParameterValue = 0x20
  /// The roles cannot be changed now.
  case roleChangeNotAllowed = 0x21
  /// The device did not answer a link layer procedure in time.
  case lmpResponseTimeout = 0x22
  /// Two link layer procedures collided.
  case lmpErrorTransactionCollision = 0x23
  /// A link layer packet came at the wrong time.
  case lmpPDUNotAllowed = 0x24
  /// The encryption mode is not acceptable.
  case encryptionModeNotAcceptable = 0x25
  /// The link key cannot be changed.
  case linkKeyCannotBeChanged = 0x26
  /// The quality of service is not supported.
  case requestedQoSNotSupported = 0x27
  /// The moment at which something should have changed has passed.
  case instantPassed = 0x28
  /// Pairing with a unit key is not supported.
  case pairingWithUnitKeyNotSupported = 0x29
  /// A different procedure was already under way.
  case differentTransactionCollision = 0x2A
  /// The quality of service is not acceptable.
  case qosUnacceptableParameter = 0x2C
  /// The quality of service was rejected.
  case qosRejected = 0x2D
  /// Channel assessment is not supported.
  case channelClassificationNotSupported = 0x2E
  /// The security of the link is not sufficient.
  case insufficientSecurity = 0x2F
  /// A parameter is out of the mandatory range.
  case parameterOutOfMandatoryRange = 0x30
  /// A change of roles is under way.
  case roleSwitchPending = 0x32
  /// A reserved slot was violated.
  case reservedSlotViolation = 0x34
  /// The change of roles failed.
  case roleSwitchFailed = 0x35
  /// The extended inquiry response does not fit.
  case extendedInquiryResponseTooLarge = 0x36
  /// The device's host does not support secure pairing.
  case secureSimplePairingNotSupportedByHost = 0x37
  /// The device is busy with another pairing.
  case hostBusyPairing = 0x38
  /// No suitable channel was found for the connection.
  case rejectedNoSuitableChannel = 0x39
  /// The controller is busy.
  case controllerBusy = 0x3A
  /// The connection parameters are not acceptable.
  case unacceptableConnectionParameters = 0x3B
  /// Advertising ended because its time was over.
  case advertisingTimeout = 0x3C
  /// The connection ended because a packet failed its integrity check: the keys differ.
  case terminatedMICFailure = 0x3D
  /// The connection could not be established: the device did not answer any more.
  case connectionFailedToBeEstablished = 0x3E
  /// The connection of the other controller failed.
  case macConnectionFailed = 0x3F
  /// The clock was not adjusted as wanted but may be dragged.
  case coarseClockAdjustmentRejected = 0x40
  /// A channel map is not defined.
  case type0SubmapNotDefined = 0x41
  /// There is no such advertising set.
  case unknownAdvertisingIdentifier = 0x42
  /// The limit of time or events was reached.
  case limitReached = 0x43
  /// The operation was cancelled by us.
  case operationCancelledByHost = 0x44
  /// The packet is too long.
  case packetTooLong = 0x45
  /// The packet came too late.
  case packetTooLate = 0x46
  /// The packet came too early.
  case packetTooEarly = 0x47
  /// There are too few channels.
  case insufficientChannels = 0x48
}

extension HCIErrorCode {
  /// The code as a sentence without its full stop.
  public var sentence: String {
    switch self {
    case .success: "The command went well"
    case .unknownHCICommand: "The controller does not know the command"
    case .unknownConnectionIdentifier: "There is no such connection"
    case .hardwareFailure: "The controller's hardware failed"
    case .pageTimeout: "The device did not answer the page"
    case .authenticationFailure: "Pairing or authentication failed"
    case .pinOrKeyMissing: "The other device has no key for us: remove the bond on both sides and pair again"
    case .memoryCapacityExceeded: "The controller is out of memory"
    case .connectionTimeout: "The link was lost: nothing was heard from the device within the supervision timeout"
    case .connectionLimitExceeded: "The controller cannot hold one more connection"
    case .synchronousConnectionLimitExceeded: "The controller cannot hold one more synchronous connection"
    case .connectionAlreadyExists: "There is already a connection to this device"
    case .commandDisallowed: "The controller's state does not allow the command"
    case .rejectedLimitedResources: "The device refused the connection for want of resources"
    case .rejectedSecurityReasons: "The device refused the connection for reasons of security"
    case .rejectedUnacceptableAddress: "The device refused the connection because of our address"
    case .connectionAcceptTimeoutExceeded: "The connection was not accepted in time"
    case .unsupportedFeatureOrParameterValue: "The controller does not support a feature or the value of a parameter"
    case .invalidHCICommandParameters: "A parameter of the command is invalid"
    case .remoteUserTerminatedConnection: "The device ended the connection"
    case .remoteTerminatedLowResources: "The device ended the connection for want of resources"
    case .remoteTerminatedPowerOff: "The device ended the connection because it switches itself off"
    case .terminatedByLocalHost: "The connection was ended by us"
    case .repeatedAttempts: "The device allows no further attempt yet"
    case .pairingNotAllowed: "The device does not allow pairing now"
    case .unknownLMPPDU: "A link manager packet was not known"
    case .unsupportedRemoteFeature: "The device does not support the feature"
    case .scoOffsetRejected: "The SCO offset was rejected"
    case .scoIntervalRejected: "The SCO interval was rejected"
    case .scoAirModeRejected: "The SCO air mode was rejected"
    case .invalidLMPParameters: "A parameter of a link layer packet is invalid"
    case .unspecifiedError: "No other error code fits"
    case .unsupportedLMPParameterValue: "A value of a link layer packet is not supported"
    case .roleChangeNotAllowed: "The roles cannot be changed now"
    case .lmpResponseTimeout: "The device did not answer a link layer procedure in time"
    case .lmpErrorTransactionCollision: "Two link layer procedures collided"
    case .lmpPDUNotAllowed: "A link layer packet came at the wrong time"
    case .encryptionModeNotAcceptable: "The encryption mode is not acceptable"
    case .linkKeyCannotBeChanged: "The link key cannot be changed"
    case .requestedQoSNotSupported: "The quality of service is not supported"
    case .instantPassed: "The moment at which something should have changed has passed"
    case .pairingWithUnitKeyNotSupported: "Pairing with a unit key is not supported"
    case .differentTransactionCollision: "A different procedure was already under way"
    case .qosUnacceptableParameter: "The quality of service is not acceptable"
    case .qosRejected: "The quality of service was rejected"
    case .channelClassificationNotSupported: "Channel assessment is not supported"
    case .insufficientSecurity: "The security of the link is not sufficient"
    case .parameterOutOfMandatoryRange: "A parameter is out of the mandatory range"
    case .roleSwitchPending: "A change of roles is under way"
    case .reservedSlotViolation: "A reserved slot was violated"
    case .roleSwitchFailed: "The change of roles failed"
    case .extendedInquiryResponseTooLarge: "The extended inquiry response does not fit"
    case .secureSimplePairingNotSupportedByHost: "The device's host does not support secure pairing"
    case .hostBusyPairing: "The device is busy with another pairing"
    case .rejectedNoSuitableChannel: "No suitable channel was found for the connection"
    case .controllerBusy: "The controller is busy"
    case .unacceptableConnectionParameters: "The connection parameters are not acceptable"
    case .advertisingTimeout: "Advertising ended because its time was over"
    case .terminatedMICFailure: "The connection ended because a packet failed its integrity check: the keys differ"
    case .connectionFailedToBeEstablished: "The connection could not be established: the device did not answer any more"
    case .macConnectionFailed: "The connection of the other controller failed"
    case .coarseClockAdjustmentRejected: "The clock was not adjusted as wanted but may be dragged"
    case .type0SubmapNotDefined: "A channel map is not defined"
    case .unknownAdvertisingIdentifier: "There is no such advertising set"
    case .limitReached: "The limit of time or events was reached"
    case .operationCancelledByHost: "The operation was cancelled by us"
    case .packetTooLong: "The packet is too long"
    case .packetTooLate: "The packet came too late"
    case .packetTooEarly: "The packet came too early"
    case .insufficientChannels: "There are too few channels"
    }
  }
}
