import CSystemd
import Glibc

/// Tells of a signal, which no longer has its ordinary effect on the process.
public final class SignalWatch: EventSource {
  private let handler: () -> Void

  /// Watches a signal of signal(7). It must be blocked in every thread: see `block`.
  /// - Throws: `EventLoopError`, for instance if it is not blocked.
  public init(_ signal: Int32, on loop: EventLoop, _ handler: @escaping () -> Void) throws(EventLoopError) {
    self.handler = handler
    super.init(loop: loop, priority: .highest)
    try adopt("sd_event_add_signal") { source, context in
      sd_event_add_signal(
        loop.event, &source, signal,
        { _, _, context in
          if let watch = SignalWatch.from(context) { watch.received() }
          return 0
        }, context)
    }
  }

  /// Blocks signals for the calling thread and those that it starts. To be called before there is another thread: so
  /// none comes too early and ends the process, or is missed.
  public static func block(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  private func received() {
    loop.serving(self)
    handler()
  }
}
