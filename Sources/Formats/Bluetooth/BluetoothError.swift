/// The form of every error: the domain defining its code, the code, its name, and a human-readable message.
public struct BluetoothError: Error, Hashable, Sendable {
  /// The domain defining a code.
  public enum Domain: String, Vocabulary {
    /// Attribute protocol error codes (Core 5.4, Vol 3, Part F, 3.4.1.1).
    case att
    /// Controller error codes (Core 5.4, Vol 1, Part F).
    case hci
    /// Failures of connecting, scanning and advertising; `GAPError`.
    case gap
    /// Errors of the daemon itself; `BledError`.
    case bled
  }

  /// The domain defining `code`.
  public let domain: Domain
  /// The code within the domain.
  public let code: Int
  /// The code's name, in lower camel case: "insufficientEncryption".
  public let name: String
  /// A human-readable message with the fault and, if there is one, the remedy.
  public let message: String

  /// Makes an error from its parts.
  public init(domain: Domain, code: Int, name: String, message: String) {
    self.domain = domain
    self.code = code
    self.name = name
    self.message = message
  }
}

extension BluetoothError: CustomStringConvertible {
  /// The message followed by the code: "… (att 0x0f insufficientEncryption)".
  public var description: String { "\(message) (\(domain.rawValue) 0x\(String(code, radix: 16)) \(name))" }
}

/// Failures of connecting, scanning and advertising.
public enum GAPError: Int, Hashable, Sendable, CaseIterable {
  /// The caller's deadline passed.
  case timeout = 1
  /// The caller cancelled the operation.
  case cancelled = 2
  /// The operation needs a connection and there is none.
  case notConnected = 3
  /// The connection ended before the operation did.
  case disconnected = 4
  /// No device with that identifier, name or address is known.
  case unknownDevice = 5
  /// The adapter is powered off.
  case adapterOff = 6
  /// The adapter does not exist, or it was unplugged.
  case adapterAbsent = 7
  /// The adapter supports no more connections.
  case connectionLimitReached = 8
  /// The connection could not be established.
  case connectionFailed = 9
  /// The content does not fit into the advertising packets.
  case advertisingDataTooLong = 10
  /// All advertising sets are in use.
  case advertisingSetsExhausted = 11
  /// The adapter failed; the message says why.
  case adapterFailed = 12
  /// The operation is not supported.
  case notSupported = 13
  /// Pairing failed or was refused, or the link could not be encrypted.
  case pairingFailed = 14
  /// This machine refuses to be connected with the device.
  case blocked = 15

  /// The error as a `BluetoothError`, with a message more specific than the code.
  public func error(_ message: String) -> BluetoothError {
    BluetoothError(domain: .gap, code: rawValue, name: "\(self)", message: message)
  }
}

/// Errors of the daemon itself.
public enum BledError: Int, Hashable, Sendable, CaseIterable {
  /// A parameter of the request is invalid; the message names it.
  case invalidParameter = 1
  /// The session lacks the permission.
  case notPermitted = 2
  /// No service, characteristic, descriptor or advertisement has that handle or number.
  case unknownHandle = 3
  /// A limit of the daemon was reached.
  case limitReached = 4
  /// The operation is already under way.
  case alreadyInProgress = 5
  /// The client did not read fast enough.
  case tooSlow = 6
  /// The daemon is shutting down.
  case shuttingDown = 7
  /// The peer violated the protocol.
  case protocolViolation = 8
  /// The characteristic's properties do not allow this.
  case notAllowedByProperties = 9
  /// The daemon could not be reached, or the connection to it ended.
  case daemonUnreachable = 10
  /// The device has no attribute with these UUIDs.
  case unknownAttribute = 11
  /// The device has several attributes with these UUIDs.
  case ambiguousAttribute = 12

  /// The error as a `BluetoothError`, with a message more specific than the code.
  public func error(_ message: String) -> BluetoothError {
    BluetoothError(domain: .bled, code: rawValue, name: "\(self)", message: message)
  }
}
