import Adapter
import Bluetooth

extension Bond {
  /// True if a link in this role of ours reaches this level with its keys.
  func reaches(_ level: Int, as role: LinkRole) -> Bool {
    longTermKeys.contains { ($0.isSecureConnections || $0.role == role) && $0.level >= level }
  }
}
