import CSystemd
import Glibc

/// Reports a signal, which no longer has its ordinary effect on the process.
public final class SignalWatch: EventSource {
  private let handler: () -> Void
  /// The source closes it.
  private let descriptor: Int32

  /// Watches a signal of signal(7). It must be blocked in every thread: see `block`.
  ///
  /// Watches its own descriptor (signalfd(2)) rather than a signal source of sd-event: a source's priority changes
  /// within a round, and sd-event delivers no signal after one whose priority changed while pending.
  /// - Throws: `EventLoopError`; with `EBUSY` if it is not blocked.
  public init(_ signal: Int32, on loop: EventLoop, _ handler: @escaping () -> Void) throws(EventLoopError) {
    self.handler = handler
    var set = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &set)
    guard sigismember(&set, signal) == 1 else { throw EventLoopError(call: "signalfd", code: EBUSY) }
    sigemptyset(&set)
    sigaddset(&set, signal)
    descriptor = signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
    guard descriptor >= 0 else { throw EventLoopError(call: "signalfd", code: errno) }
    super.init(loop: loop, priority: .highest)
    do throws(EventLoopError) {
      try adopt("sd_event_add_io") { [descriptor] source, context in
        sd_event_add_io(
          loop.event, &source, descriptor, EPOLLIN.rawValue,
          { _, _, _, context in
            if let watch = SignalWatch.from(context) { watch.received() }
            return 0
          }, context)
      }
    } catch {
      close(descriptor)
      throw error
    }
    if let source { sd_event_source_set_io_fd_own(source, 1) }
  }

  /// Blocks signals for the calling thread and the threads it starts. To be called before there is another thread: so
  /// no early signal ends the process, and none is missed.
  public static func block(_ signals: [Int32]) {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  private func received() {
    loop.serving(self)
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    guard read(descriptor, &information, size) == size else { return }
    handler()
  }
}
