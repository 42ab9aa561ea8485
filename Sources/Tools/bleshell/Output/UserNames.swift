import Bluetooth
import Glibc

/// The name of a user of this machine; nil if the number has none.
func userName(_ user: UInt32) -> String? { getpwuid(user).map { String(cString: $0.pointee.pw_name) } }

extension BluetoothError {
  /// The error with the name of this process's user in place of the number, where the daemon names the user: it looks
  /// up no names, as a directory server could keep it waiting.
  func naming(_ user: UInt32 = geteuid(), _ name: (UInt32) -> String? = userName) -> BluetoothError {
    let beginning = "user \(user) "
    guard domain == .bled, message.hasPrefix(beginning), let name = name(user) else { return self }
    let rest = message.dropFirst(beginning.count).replacing("\"user:\(user)\"", with: "\"user:\(name)\"")
    return BluetoothError(domain: domain, code: code, name: self.name, message: "user \(name) \(rest)")
  }
}
