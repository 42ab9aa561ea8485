import Bluetooth

/// A command's status, or the reason for a link's end: any octet, also one without a name.
package struct HCIStatus: RawRepresentable, PacketField, Hashable, Sendable {
  /// The octet on the wire.
  package let rawValue: UInt8
  package init() { rawValue = 0 }
  /// Makes a status from the octet on the wire.
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Makes a status from a code.
  package init(_ code: HCIErrorCode) { rawValue = code.rawValue }

  /// The command succeeded.
  package static let success = HCIStatus(rawValue: 0)
  /// True for success.
  package var isSuccess: Bool { rawValue == 0 }
  /// The code, if it has a name.
  package var code: HCIErrorCode? { HCIErrorCode(rawValue: rawValue) }
  /// The code's name, or "unknown".
  package var name: String { code.map { "\($0)" } ?? "unknown" }

  /// As a `BluetoothError`.
  /// - Parameter context: the attempted action, as the beginning of the text: "the scan could not be started".
  package func error(_ context: String? = nil) -> BluetoothError {
    let sentence = code?.sentence ?? "the controller gave an error that has no name"
    return BluetoothError(
      domain: .hci, code: Int(rawValue), name: name, message: context.map { "\($0): \(sentence)" } ?? sentence)
  }
}

extension HCIStatus: CustomStringConvertible {
  /// The number and the name: "0x3e connectionFailedToBeEstablished".
  package var description: String { "0x" + Hex.encode([rawValue]) + " " + name }
}

/// The error codes of controllers (Core 5.4, Vol 1, Part F, 1.3). `sentence` explains each.
package enum HCIErrorCode: UInt8, Hashable, Sendable, CaseIterable {
  case success = 0x00
  case unknownHCICommand = 0x01
  case unknownConnectionIdentifier = 0x02
  case hardwareFailure = 0x03
  case pageTimeout = 0x04
  case authenticationFailure = 0x05
  case pinOrKeyMissing = 0x06
  case memoryCapacityExceeded = 0x07
  case connectionTimeout = 0x08
  case connectionLimitExceeded = 0x09
  case synchronousConnectionLimitExceeded = 0x0A
  case connectionAlreadyExists = 0x0B
  case commandDisallowed = 0x0C
  case rejectedLimitedResources = 0x0D
  case rejectedSecurityReasons = 0x0E
  case rejectedUnacceptableAddress = 0x0F
  case connectionAcceptTimeoutExceeded = 0x10
  case unsupportedFeatureOrParameterValue = 0x11
  case invalidHCICommandParameters = 0x12
  case remoteUserTerminatedConnection = 0x13
  case remoteTerminatedLowResources = 0x14
  case remoteTerminatedPowerOff = 0x15
  case terminatedByLocalHost = 0x16
  case repeatedAttempts = 0x17
  case pairingNotAllowed = 0x18
  case unknownLMPPDU = 0x19
  case unsupportedRemoteFeature = 0x1A
  case scoOffsetRejected = 0x1B
  case scoIntervalRejected = 0x1C
  case scoAirModeRejected = 0x1D
  case invalidLMPParameters = 0x1E
  case unspecifiedError = 0x1F
  case unsupportedLMPParameterValue = 0x20
  case roleChangeNotAllowed = 0x21
  case lmpResponseTimeout = 0x22
  case lmpErrorTransactionCollision = 0x23
  case lmpPDUNotAllowed = 0x24
  case encryptionModeNotAcceptable = 0x25
  case linkKeyCannotBeChanged = 0x26
  case requestedQoSNotSupported = 0x27
  case instantPassed = 0x28
  case pairingWithUnitKeyNotSupported = 0x29
  case differentTransactionCollision = 0x2A
  case qosUnacceptableParameter = 0x2C
  case qosRejected = 0x2D
  case channelClassificationNotSupported = 0x2E
  case insufficientSecurity = 0x2F
  case parameterOutOfMandatoryRange = 0x30
  case roleSwitchPending = 0x32
  case reservedSlotViolation = 0x34
  case roleSwitchFailed = 0x35
  case extendedInquiryResponseTooLarge = 0x36
  case secureSimplePairingNotSupportedByHost = 0x37
  case hostBusyPairing = 0x38
  case rejectedNoSuitableChannel = 0x39
  case controllerBusy = 0x3A
  case unacceptableConnectionParameters = 0x3B
  case advertisingTimeout = 0x3C
  case terminatedMICFailure = 0x3D
  case connectionFailedToBeEstablished = 0x3E
  case macConnectionFailed = 0x3F
  case coarseClockAdjustmentRejected = 0x40
  case type0SubmapNotDefined = 0x41
  case unknownAdvertisingIdentifier = 0x42
  case limitReached = 0x43
  case operationCancelledByHost = 0x44
  case packetTooLong = 0x45
  case packetTooLate = 0x46
  case packetTooEarly = 0x47
  case insufficientChannels = 0x48

  /// The code as a sentence without its full stop.
  package var sentence: String {
    switch self {
    case .success: "the command went well"
    case .unknownHCICommand: "the controller does not know the command"
    case .unknownConnectionIdentifier: "there is no such connection"
    case .hardwareFailure: "the controller's hardware failed"
    case .pageTimeout: "the device did not answer the page"
    case .authenticationFailure: "pairing or authentication failed"
    case .pinOrKeyMissing: "the other device has no key for us: remove the bond on both sides and pair again"
    case .memoryCapacityExceeded: "the controller is out of memory"
    case .connectionTimeout: "the link was lost: nothing was heard from the device within the supervision timeout"
    case .connectionLimitExceeded: "the controller cannot hold one more connection"
    case .synchronousConnectionLimitExceeded: "the controller cannot hold one more synchronous connection"
    case .connectionAlreadyExists: "there is already a connection to this device"
    case .commandDisallowed: "the controller's state does not allow the command"
    case .rejectedLimitedResources: "the device refused the connection for want of resources"
    case .rejectedSecurityReasons: "the device refused the connection for reasons of security"
    case .rejectedUnacceptableAddress: "the device refused the connection because of our address"
    case .connectionAcceptTimeoutExceeded: "the connection was not accepted in time"
    case .unsupportedFeatureOrParameterValue: "the controller does not support a feature or the value of a parameter"
    case .invalidHCICommandParameters: "a parameter of the command is invalid"
    case .remoteUserTerminatedConnection: "the device ended the connection"
    case .remoteTerminatedLowResources: "the device ended the connection for want of resources"
    case .remoteTerminatedPowerOff: "the device ended the connection because it switches itself off"
    case .terminatedByLocalHost: "the connection was ended by us"
    case .repeatedAttempts: "the device allows no further attempt yet"
    case .pairingNotAllowed: "the device does not allow pairing now"
    case .unknownLMPPDU: "a link manager packet was not known"
    case .unsupportedRemoteFeature: "the device does not support the feature"
    case .scoOffsetRejected: "the SCO offset was rejected"
    case .scoIntervalRejected: "the SCO interval was rejected"
    case .scoAirModeRejected: "the SCO air mode was rejected"
    case .invalidLMPParameters: "a parameter of a link layer packet is invalid"
    case .unspecifiedError: "no other error code fits"
    case .unsupportedLMPParameterValue: "a value of a link layer packet is not supported"
    case .roleChangeNotAllowed: "the roles cannot be changed now"
    case .lmpResponseTimeout: "the device did not answer a link layer procedure in time"
    case .lmpErrorTransactionCollision: "two link layer procedures collided"
    case .lmpPDUNotAllowed: "a link layer packet came at the wrong time"
    case .encryptionModeNotAcceptable: "the encryption mode is not acceptable"
    case .linkKeyCannotBeChanged: "the link key cannot be changed"
    case .requestedQoSNotSupported: "the quality of service is not supported"
    case .instantPassed: "the moment at which something should have changed has passed"
    case .pairingWithUnitKeyNotSupported: "pairing with a unit key is not supported"
    case .differentTransactionCollision: "a different procedure was already under way"
    case .qosUnacceptableParameter: "the quality of service is not acceptable"
    case .qosRejected: "the quality of service was rejected"
    case .channelClassificationNotSupported: "channel assessment is not supported"
    case .insufficientSecurity: "the security of the link is not sufficient"
    case .parameterOutOfMandatoryRange: "a parameter is out of the mandatory range"
    case .roleSwitchPending: "a change of roles is under way"
    case .reservedSlotViolation: "a reserved slot was violated"
    case .roleSwitchFailed: "the change of roles failed"
    case .extendedInquiryResponseTooLarge: "the extended inquiry response does not fit"
    case .secureSimplePairingNotSupportedByHost: "the device's host does not support secure pairing"
    case .hostBusyPairing: "the device is busy with another pairing"
    case .rejectedNoSuitableChannel: "no suitable channel was found for the connection"
    case .controllerBusy: "the controller is busy"
    case .unacceptableConnectionParameters: "the connection parameters are not acceptable"
    case .advertisingTimeout: "advertising ended because its time was over"
    case .terminatedMICFailure: "the connection ended because a packet failed its integrity check: the keys differ"
    case .connectionFailedToBeEstablished: "the connection could not be established: the device did not answer any more"
    case .macConnectionFailed: "the connection of the other controller failed"
    case .coarseClockAdjustmentRejected: "the clock was not adjusted as wanted but may be dragged"
    case .type0SubmapNotDefined: "a channel map is not defined"
    case .unknownAdvertisingIdentifier: "there is no such advertising set"
    case .limitReached: "the limit of time or events was reached"
    case .operationCancelledByHost: "the operation was cancelled by us"
    case .packetTooLong: "the packet is too long"
    case .packetTooLate: "the packet came too late"
    case .packetTooEarly: "the packet came too early"
    case .insufficientChannels: "there are too few channels"
    }
  }
}
