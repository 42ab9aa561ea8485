import Bluetooth
import Glibc

/// The process's last descriptors, reserved for root, the daemon's own user and the store: other users cannot exhaust
/// them.
enum DescriptorReserve {
  /// The reserve at the default limit of 4096; with a limit below 256 it is a quarter.
  private static let size: rlim_t = 64

  /// True if this descriptor, the lowest free number, is one of the last.
  static func contains(_ descriptor: CInt) -> Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
    return rlim_t(max(0, descriptor)) >= limit.rlim_cur - min(size, limit.rlim_cur / 4)
  }

  /// True if only the last ones are free.
  private static var isReached: Bool {
    let next = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard next >= 0 else { return true }
    defer { close(next) }
    return contains(next)
  }

  /// Checks if a session may have resources with descriptors.
  /// - Throws: `BledError.limitReached`.
  static func admit(_ session: Session) throws(BluetoothError) {
    guard !session.rules.policy.isPrivileged(session.credentials), isReached else { return }
    throw BledError.limitReached.error("bled has few descriptors left: \(remedy)")
  }

  /// The error for a program refused a session.
  static let refusal = BledError.limitReached.error("bled has no descriptor left for another program: \(remedy)")

  /// How to have more of them.
  static let remedy = "stop some programs, or raise LimitNOFILE in bled's unit"
}
