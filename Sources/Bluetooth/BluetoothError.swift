/// The one shape of every failure: where its number comes from, the number, its name there, and a sentence for people.
public struct BluetoothError: Error, Hashable, Sendable {
  /// Who defines the code.
  public enum Domain: String, Hashable, Sendable, Codable, CaseIterable {
    /// Attribute protocol error codes (Core 5.4, Vol 3, Part F, 3.4.1.1).
    case att
    /// Controller error codes (Core 5.4, Vol 1, Part F).
    case hci
    /// What connecting, scanning and advertising can end with; `GAPError`.
    case gap
    /// What the daemon itself refuses; `BledError`.
    case bled
  }

  /// Who defines `code`.
  public let domain: Domain
  /// The number in that domain.
  public let code: Int
  /// The name of the code in that domain, as one word in lower camel case: "insufficientEncryption".
  public let name: String
  /// A sentence for people that says what happened and, where something can be done, what to do.
  public let message: String

  /// Makes an error of its parts.
  public init(domain: Domain, code: Int, name: String, message: String) {
    self.domain = domain
    self.code = code
    self.name = name
    self.message = message
  }
}

extension BluetoothError: CustomStringConvertible {
  /// The message with the code behind it: "… (att 0x0f insufficientEncryption)".
  public var description: String { "\(message) (\(domain.rawValue) 0x\(String(code, radix: 16)) \(name))" }
}

/// What connecting, scanning and advertising can end with.
public enum GAPError: Int, Hashable, Sendable, CaseIterable {
  /// A deadline that the caller set passed.
  case timeout = 1
  /// The caller took its wish back.
  case cancelled = 2
  /// The operation needs a connection and there is none.
  case notConnected = 3
  /// The connection ended before the operation did.
  case disconnected = 4
  /// No device of that identifier, name or address is known.
  case unknownDevice = 5
  /// The adapter is there but powered off.
  case adapterOff = 6
  /// There is no such adapter, or it was unplugged.
  case adapterAbsent = 7
  /// The adapter cannot hold one more connection.
  case connectionLimitReached = 8
  /// The connection could not be established.
  case connectionFailed = 9
  /// What is to be advertised does not fit into the packets.
  case advertisingDataTooLong = 10
  /// All advertising sets are in use.
  case advertisingSetsExhausted = 11
  /// The adapter failed and says why.
  case adapterFailed = 12
  /// The operation is not possible here.
  case notSupported = 13

  /// The error as everybody carries it, with a sentence that says more than the code.
  public func error(_ message: String) -> BluetoothError {
    BluetoothError(domain: .gap, code: rawValue, name: "\(self)", message: message)
  }
}

/// What the daemon itself refuses.
public enum BledError: Int, Hashable, Sendable, CaseIterable {
  /// A value of the request makes no sense; the message names it.
  case invalidParameter = 1
  /// The session may not do this.
  case notPermitted = 2
  /// There is no service, characteristic, descriptor or advertisement of that handle or number.
  case unknownHandle = 3
  /// A bound of the daemon was reached.
  case limitReached = 4
  /// The operation is already under way.
  case alreadyInProgress = 5
  /// The client did not read fast enough.
  case tooSlow = 6
  /// The daemon is going down.
  case shuttingDown = 7
  /// The peer broke the protocol.
  case protocolViolation = 8
  /// The characteristic's properties do not allow this.
  case notAllowedByProperties = 9
  /// The daemon could not be reached, or the connection to it ended.
  case daemonUnreachable = 10

  /// The error as everybody carries it, with a sentence that says more than the code.
  public func error(_ message: String) -> BluetoothError {
    BluetoothError(domain: .bled, code: rawValue, name: "\(self)", message: message)
  }
}
