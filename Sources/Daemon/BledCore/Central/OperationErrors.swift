import Bluetooth
import GATT

extension Result<GATTResult, GATTError> {
  /// The result, or the error as reported to sessions.
  func orBluetoothError() throws -> GATTResult {
    switch self {
    case .success(let result): result
    case .failure(.att(.databaseOutOfSync, _)): throw BledError.servicesChanged
    case .failure(let error): throw error.bluetoothError
    }
  }
}

extension BledError {
  /// A handle valid until now.
  static var servicesChanged: BluetoothError {
    unknownHandle.error("the device's services changed; this handle is no longer valid")
  }
}

extension Error {
  /// The error of an operation's step, which throws nothing else.
  var asBluetoothError: BluetoothError {
    (self as? BluetoothError) ?? BledError.protocolViolation.error("\(self)")
  }
}
