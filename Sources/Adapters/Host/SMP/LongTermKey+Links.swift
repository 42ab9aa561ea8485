import Adapter
import Bluetooth
import BluetoothCrypto

extension Bond {
  /// The key for links on which we have this role.
  func key(for role: LinkRole) -> LongTermKey? {
    longTermKeys.first { $0.isSecureConnections || $0.role == role }
  }
}

extension LongTermKey {
  /// Its octets that count; nil if they are no secret.
  var secret: Key128? {
    guard let value = Key128(littleEndian: value)?.truncated(to: size), value != .zero else { return nil }
    return value
  }

  /// Whether it protects a link as a Security Request demands.
  func meets(_ requirements: AuthenticationRequirements) -> Bool {
    isAuthenticated || !requirements.contains(.mitm)
  }
}
