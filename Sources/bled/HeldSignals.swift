import Glibc

/// Signals that wait until somebody listens for them.
enum HeldSignals {
  /// Holds the signals to which the daemon answers, for the thread that calls and all that it starts. To be called before
  /// there is any other: so none of them comes too early, and ends the daemon without order or is not heard by it.
  static func hold() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
