import Bluetooth

extension BluetoothError {
  /// The error as the delegate gets it: in the domain of `CBATTError` for a device's answer, else of `CBError`.
  var coreBluetooth: NSError { domain == .att ? .answered(.init(code), message) : .failed(cbCode, message) }

  /// The error as the device would have answered it, if the daemon refused an operation not allowed by the
  /// characteristic's properties.
  func coreBluetooth(refusedAs refusal: CBATTError.Code) -> NSError {
    guard domain == .bled, code == BledError.notAllowedByProperties.rawValue else { return coreBluetooth }
    return .answered(refusal, message)
  }

  /// The error for a write of so many octets: no value has more than 512 (Core 5.4, Vol 3, Part F, 3.2.9).
  func coreBluetooth(refusedAs refusal: CBATTError.Code, writing length: Int) -> NSError {
    guard domain == .bled, length > 512 else { return coreBluetooth(refusedAs: refusal) }
    return .answered(.invalidAttributeValueLength, message)
  }

  /// The error for a link that was established and has ended: a change of the adapter is not a failure to connect.
  var coreBluetoothOfLostLink: NSError { isOfAdapter ? .failed(.peripheralDisconnected, message) : coreBluetooth }

  /// True if the adapter was switched off, removed or failed.
  var isOfAdapter: Bool {
    domain == .gap && [.adapterOff, .adapterAbsent, .adapterFailed].contains(GAPError(rawValue: code))
  }

  /// True if the session with the daemon has ended, or is about to.
  var isEndOfSession: Bool {
    domain == .bled && [.daemonUnreachable, .shuttingDown].contains(BledError(rawValue: code))
  }

  /// True if the operation failed without a connection.
  var isEndOfConnection: Bool {
    switch domain {
    case .gap: [.disconnected, .notConnected, .cancelled].contains(GAPError(rawValue: code))
    case .bled: isEndOfSession
    case .att, .hci: false
    }
  }

  private var cbCode: CBError.Code {
    switch domain {
    case .att: .unknown
    case .hci: Self.code(ofController: code)
    case .gap: GAPError(rawValue: code).map(Self.code(of:)) ?? .unknown
    case .bled: BledError(rawValue: code).map(Self.code(of:)) ?? .unknown
    }
  }

  /// Controller error codes (Core 5.4, Vol 1, Part F, 2).
  private static func code(ofController code: Int) -> CBError.Code {
    switch code {
    case 0x02: .unknownDevice
    // A pairing not finished in time ended the link (Vol 3, Part H, 3.4).
    case 0x05: .encryptionTimedOut
    case 0x06: .peerRemovedPairingInformation
    case 0x08, 0x22: .connectionTimeout
    case 0x09, 0x0D: .connectionLimitReached
    case 0x11, 0x1A: .operationNotSupported
    case 0x12: .invalidParameters
    case 0x13, 0x14, 0x15, 0x16: .peripheralDisconnected
    case 0x3C, 0x3D, 0x3E: .connectionFailed
    default: .unknown
    }
  }

  private static func code(of error: GAPError) -> CBError.Code {
    switch error {
    case .timeout: .connectionTimeout
    case .cancelled: .operationCancelled
    case .notConnected: .notConnected
    case .disconnected: .peripheralDisconnected
    case .unknownDevice: .unknownDevice
    case .connectionLimitReached: .connectionLimitReached
    case .connectionFailed, .adapterOff, .adapterAbsent, .adapterFailed, .blocked: .connectionFailed
    case .advertisingDataTooLong, .advertisingSetsExhausted: .outOfSpace
    case .notSupported: .operationNotSupported
    case .pairingFailed: .unknown
    }
  }

  private static func code(of error: BledError) -> CBError.Code {
    switch error {
    case .invalidParameter: .invalidParameters
    case .unknownHandle, .unknownAttribute, .ambiguousAttribute: .invalidHandle
    case .limitReached: .outOfSpace
    case .notPermitted, .notAllowedByProperties: .operationNotSupported
    case .alreadyInProgress, .tooSlow, .shuttingDown, .protocolViolation, .daemonUnreachable: .unknown
    }
  }
}
