import BledRPC
import Bluetooth

/// The ATT error for an error of an application (BlueZ, org.bluez.GattCharacteristic, ReadValue and WriteValue).
enum ApplicationError {
  static let unlikely = error(0x0E)

  static func att(_ failure: BusError, isRead: Bool) -> RPCError {
    switch failure.name {
    case "org.bluez.Error.NotSupported": error(0x06)
    case "org.bluez.Error.NotAuthorized": error(0x08)
    case "org.bluez.Error.InvalidValueLength": error(0x0D)
    case "org.bluez.Error.InvalidOffset": error(0x07)
    case "org.bluez.Error.InProgress": error(0xFE)
    case "org.bluez.Error.ImproperlyConfigured": error(0xFD)
    case "org.bluez.Error.NotPermitted": error(isRead ? 0x02 : 0x03)
    case "org.bluez.Error.Failed": error(code(failure.message) ?? 0x80)
    default: unlikely
    }
  }

  /// The code of an application's own error, "0x80" to "0x9f".
  private static func code(_ text: String) -> Int? {
    guard text.utf8.starts(with: "0x".utf8), let code = Int(text.dropFirst(2), radix: 16), (0x80...0x9F).contains(code)
    else { return nil }
    return code
  }

  private static func error(_ code: Int) -> RPCError {
    RPCError(
      BluetoothError(domain: .att, code: code, name: "application", message: "the application refused the request"))
  }
}
