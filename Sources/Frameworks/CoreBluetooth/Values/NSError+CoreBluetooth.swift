// Delegates get objects of this class, as on Apple's systems: `as? NSError` gives nil for a Swift type here, while `as?
// CBError` works for both. The description is from Apple's framework; ours is the reason, printed by Foundation on
// Linux.
extension NSError {
  /// A device's answer.
  static func answered(_ code: CBATTError.Code, _ reason: String) -> NSError {
    CBATTError(code, userInfo: userInfo(code.localizedDescription, reason))._nsError
  }

  /// Any other failure.
  static func failed(_ code: CBError.Code, _ reason: String) -> NSError {
    CBError(code, userInfo: userInfo(code.localizedDescription, reason))._nsError
  }

  private static func userInfo(_ description: String, _ reason: String) -> [String: Any] {
    [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: reason]
  }
}

/// The error behind a `CBError` or `CBATTError` made by a program. Foundation on Linux has no texts for foreign
/// domains.
final class DescribedError: NSError, @unchecked Sendable {
  override var localizedDescription: String {
    userInfo[NSLocalizedDescriptionKey] as? String
      ?? (domain == CBErrorDomain
        ? CBError.Code(code).localizedDescription : CBATTError.Code(code).localizedDescription)
  }
}

extension CBError.Code {
  /// The text of Apple's framework.
  var localizedDescription: String {
    switch self {
    case .unknown, ._other: "Unknown error."
    case .invalidParameters: "One or more parameters were invalid."
    case .invalidHandle: "The handle is invalid."
    case .notConnected: "The specified device is not connected."
    case .outOfSpace: "The device has run out of space."
    case .operationCancelled: "The operation was cancelled."
    case .connectionTimeout: "The connection has timed out unexpectedly."
    case .peripheralDisconnected: "The specified device has disconnected from us."
    case .uuidNotAllowed: "The specified UUID is not allowed for this operation."
    case .alreadyAdvertising: "Advertising has already started."
    case .connectionFailed: "The connection has failed unexpectedly."
    case .connectionLimitReached: "The maximum number of connections has been reached."
    case .unknownDevice: "The specified device is unknown."
    case .operationNotSupported: "The specified operation is not supported."
    case .peerRemovedPairingInformation: "Peer removed pairing information"
    case .encryptionTimedOut: "Failed to encrypt the connection, the connection has timed out unexpectedly."
    case .tooManyLEPairedDevices: "There are too many paired devices."
    case .leGattExceededBackgroundNotificationLimit: "The limit of notifications in the background was exceeded."
    case .leGattNearBackgroundNotificationLimit: "The limit of notifications in the background is near."
    }
  }
}

extension CBATTError.Code {
  /// The text of Apple's framework.
  var localizedDescription: String {
    switch self {
    case .success: "The operation completed successfully."
    case .invalidHandle: "The handle is invalid."
    case .readNotPermitted: "Reading is not permitted."
    case .writeNotPermitted: "Writing is not permitted."
    case .invalidPdu: "The command is invalid."
    case .insufficientAuthentication: "Authentication is insufficient."
    case .requestNotSupported: "The request is not supported."
    case .invalidOffset: "The offset is invalid."
    case .insufficientAuthorization: "Authorization is insufficient."
    case .prepareQueueFull: "The prepare queue is full."
    case .attributeNotFound: "The attribute could not be found."
    case .attributeNotLong: "The attribute is not long."
    case .insufficientEncryptionKeySize: "The encryption key size is insufficient."
    case .invalidAttributeValueLength: "The value's length is invalid."
    case .unlikelyError: "Unlikely error."
    case .insufficientEncryption: "Encryption is insufficient."
    case .unsupportedGroupType: "The group type is unsupported."
    case .insufficientResources: "Resources are insufficient."
    case ._other: "Unknown ATT error."
    }
  }
}
