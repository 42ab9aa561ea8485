import CSystemd

/// Reports a descriptor's readiness, from its creation to `cancel` or the object's end.
public final class Watch: EventSource {
  /// A descriptor's states.
  public struct Readiness: OptionSet, Sendable {
    /// The bits of epoll(7).
    public let rawValue: UInt32
    /// Makes it from the bits of epoll(7).
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There is input, or its end.
    public static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    /// There is room for writing.
    public static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Instead of `readable`: new input was received, or the other end sends no more. Reported once each time, not
    /// again while it is unread.
    public static let news = Readiness(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue)
    /// The other end is closed, or there is an error to fetch. Always reported, repeatedly until the watch ends.
    public static let failed = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue | EPOLLRDHUP.rawValue)
  }

  private let handler: (Readiness) -> Void

  /// Watches a pollable descriptor; it stays the caller's.
  /// - Parameters:
  ///   - interest: the events to report besides `failed`.
  ///   - handler: called on the loop's thread. It may change, cancel and close anything, itself included.
  /// - Throws: `EventLoopError`, for instance for a file, which cannot be polled.
  public init(
    _ descriptor: Int32, on loop: EventLoop, interest: Readiness = .readable, priority: EventLoop.Priority = .normal,
    _ handler: @escaping (Readiness) -> Void
  ) throws(EventLoopError) {
    wanted = interest
    self.handler = handler
    super.init(loop: loop, priority: priority)
    try adopt("sd_event_add_io") { source, context in
      sd_event_add_io(
        loop.event, &source, descriptor, interest.rawValue,
        { _, _, events, context in
          if let watch = Watch.from(context) { watch.ready(Readiness(rawValue: events)) }
          return 0
        }, context)
    }
  }

  /// The states to report besides `failed`.
  public var interest: Readiness {
    get { wanted }
    set {
      guard newValue != wanted, let source else { return }
      wanted = newValue
      sd_event_source_set_io_events(source, newValue.rawValue)
    }
  }
  private var wanted: Readiness

  /// While false nothing is reported, not even `failed`.
  public var isEnabled: Bool {
    get { isOn }
    set {
      guard newValue != isOn, let source else { return }
      isOn = newValue
      sd_event_source_set_enabled(source, Int32(newValue ? SD_EVENT_ON : SD_EVENT_OFF))
    }
  }
  private var isOn = true

  private func ready(_ readiness: Readiness) {
    loop.serving(self)
    // An error or a hang-up of either kind.
    handler(readiness.isDisjoint(with: .failed) ? readiness : readiness.union(.failed))
  }
}
