import CSystemd

/// Work that can wait: each request causes one execution, behind everything of a higher priority that is ready by then,
/// at most once in a round.
public final class DeferredWork: EventSource {
  private let work: () -> Void

  /// - Parameter work: called on the loop's thread. It may request itself again.
  /// - Throws: `EventLoopError` if memory is lacking.
  public init(on loop: EventLoop, _ work: @escaping () -> Void) throws(EventLoopError) {
    self.work = work
    super.init(loop: loop, priority: .low)
    try adopt("sd_event_add_defer") { source, context in
      sd_event_add_defer(
        loop.event, &source,
        { _, context in
          if let deferred = DeferredWork.from(context) { deferred.perform() }
          return 0
        }, context)
    }
    if let source { sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF)) }
  }

  /// Has the work done.
  public func request() {
    if let source { sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT)) }
  }

  private func perform() {
    loop.serving(self)
    work()
  }
}
