import Bluetooth

/// Why a bearer is at its end (Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3). Nothing can be sent or received after it.
public enum BearerError: Error, Hashable, Sendable {
  /// The peer let a request or an indication wait for 30 s.
  case timeout(ATTOpcode)
  /// The peer answered what nobody had asked, so that later answers could not be told apart.
  case unexpectedResponse(ATTOpcode)
  /// The peer sent a request while its last one had no answer yet.
  case requestWhilePending(ATTOpcode)
  /// The link ended.
  case linkEnded(BluetoothError)

  /// The error as everybody carries it.
  public var bluetoothError: BluetoothError {
    switch self {
    case .timeout(let opcode):
      GAPError.timeout.error("The device did not answer the ATT packet \(opcode) within 30 s.")
    case .unexpectedResponse(let opcode):
      BledError.protocolViolation.error("The device sent the ATT answer \(opcode) that nobody had asked for.")
    case .requestWhilePending(let opcode):
      BledError.protocolViolation.error("The device sent the ATT request \(opcode) before its last one was answered.")
    case .linkEnded(let reason): reason
    }
  }
}
