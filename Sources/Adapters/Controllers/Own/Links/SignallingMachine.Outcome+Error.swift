import Adapter
import Bluetooth
import Host

extension SignallingMachine.Outcome {
  /// The error for a request for parameters that was not accepted; nil if it was.
  func error(of peer: DeviceAddress) -> BluetoothError? {
    switch self {
    case .accepted: nil
    case .refused: GAPError.notSupported.error("\(peer) refuses the connection's parameters")
    case .notUnderstood: GAPError.notSupported.error("\(peer) does not let a peripheral ask for parameters")
    case .noAnswer: GAPError.timeout.error("\(peer) did not answer the request for parameters")
    }
  }
}
