import BledClient
import Bluetooth

/// A device's pending answer. If it is released without one, the daemon refuses the request.
enum PendingAnswer {
  case read(ReadRequest)
  case write(WriteRequest)

  /// Answers; from the second time on it does nothing.
  func finish(_ result: CBATTError.Code, value: Data?) {
    guard result == .success else {
      let error = BluetoothError(
        domain: .att, code: result.rawValue, name: "\(result)", message: "refused by the program")
      switch self {
      case .read(let request): request.refuse(error)
      case .write(let request): request.refuse(error)
      }
      return
    }
    switch self {
    case .read(let request): request.respond(fromOffset: Array(value ?? Data()))
    case .write(let request): request.respond()
    }
  }
}
