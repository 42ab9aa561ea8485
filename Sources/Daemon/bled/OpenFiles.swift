import Glibc
import Logging

/// The daemon's limit of open files: each session and each link is one.
enum OpenFiles {
  /// Enough for the default limits.
  private static let wanted: rlim_t = 4096

  /// Raises the limit, as far as the system permits. A higher one stays.
  static func raiseLimit() {
    var limit = limit
    guard limit.rlim_cur < wanted else { return }
    limit.rlim_cur = min(limit.rlim_max, wanted)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Warns if sessions would run out of files before they reach their configured limit.
  static func checkLimit(for sessions: Int?, _ logger: Logger) {
    let most = limit.rlim_cur
    guard let sessions, most < sessions else { return }
    logger.warning(
      "only \(most) files may be open, fewer than the \(sessions) of limits.sessions: raise LimitNOFILE in bled's unit")
  }

  private static var limit: rlimit {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return rlimit() }
    return limit
  }
}
