import Glibc

/// How many files the daemon may have open: each session and each link is one.
enum OpenFiles {
  /// Enough for the limits as they are without configuration.
  private static let wanted: rlim_t = 4096

  /// Raises the limit, as far as the system permits. One that is higher already stays.
  static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < wanted else { return }
    limit.rlim_cur = min(limit.rlim_max, wanted)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
