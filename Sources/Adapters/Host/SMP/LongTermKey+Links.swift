import Adapter
import Bluetooth
import BluetoothCrypto

extension Bond {
  /// The key for links with this role of ours.
  func key(for role: LinkRole) -> LongTermKey? {
    longTermKeys.first { $0.isSecureConnections || $0.role == role }
  }
}

extension LongTermKey {
  /// Its significant octets; nil if they are no secret.
  var secret: Key128? {
    guard let value = Key128(littleEndian: value)?.truncated(to: size), value != .zero else { return nil }
    return value
  }

  /// True if it protects a link as required by a Security Request.
  func meets(_ requirements: AuthenticationRequirements) -> Bool {
    isAuthenticated || !requirements.contains(.mitm)
  }
}
