import Adapter
import Bluetooth

extension Bond {
  /// Whether a link on which we have this role has at least this level with its keys.
  func reaches(_ level: Int, as role: LinkRole) -> Bool {
    longTermKeys.contains { ($0.isSecureConnections || $0.role == role) && $0.level >= level }
  }
}
