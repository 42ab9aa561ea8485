import ATT
import Bluetooth

/// The reason why a procedure or an indication failed.
public enum GATTError: Error, Hashable, Sendable {
  /// The server refused it at this handle (0 for none).
  case att(ATTErrorCode, handle: UInt16)
  /// The server's response does not match the request.
  case invalidResponse(ATTOpcode, ResponseFault)
  /// The server's response to a search has handles that do not ascend, are outside of the requested range, or end
  /// before they begin; with the attributes found before.
  case irregularHandles(GATTResult, ATTOpcode)
  /// The server refused a search at this handle after it had answered with these attributes.
  case partlyRefused(GATTResult, ATTErrorCode, handle: UInt16)
  /// The bearer ended first.
  case bearer(BearerError)
  /// Another procedure is under way.
  case busy
  /// Too many indications wait already.
  case queueFull
  /// The value does not fit into a packet, or not into an attribute.
  case valueTooLong(maximum: Int)
  /// The request is not valid, such as Read Multiple with one handle.
  case invalidParameter
  /// The peer has not subscribed to it, or must discover the database again first.
  case notSubscribed

  /// A response's fault.
  public enum ResponseFault: String, Hashable, Sendable {
    /// The response is malformed, or its elements have an invalid length.
    case malformed
    /// A prepared write was echoed with changes.
    case echo
  }

  /// As a `BluetoothError`.
  public var bluetoothError: BluetoothError {
    switch self {
    case .att(let code, 0), .partlyRefused(_, let code, 0): code.bluetoothError
    case .att(let code, let handle), .partlyRefused(_, let code, let handle):
      code.bluetoothError("handle \(handle.handleText)")
    case .invalidResponse(let opcode, let fault):
      BledError.protocolViolation.error("the device's ATT answer \(opcode) is unusable: \(fault.rawValue)")
    case .irregularHandles(_, let opcode):
      BledError.protocolViolation.error("the device's ATT answer \(opcode) has irregular handles")
    case .bearer(let error): error.bluetoothError
    case .busy: BledError.alreadyInProgress.error("another procedure is under way on this link")
    case .queueFull: BledError.limitReached.error("too many requests wait for the device already")
    case .valueTooLong(let maximum): BledError.invalidParameter.error("the value is longer than \(maximum) octets")
    case .invalidParameter: BledError.invalidParameter.error("the request makes no sense")
    case .notSubscribed: BledError.notPermitted.error("the device has not subscribed to this value")
    }
  }
}
