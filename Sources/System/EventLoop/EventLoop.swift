import CSystemd
import Glibc

/// One thread's event loop, a thin layer over libsystemd's sd-event: descriptors, timers, signals and a queue of work.
///
/// Everything runs on the thread that calls `run`; the loop and its objects belong to that thread, which sleeps without
/// events.
///
/// Events are served in rounds. Within a round ready sources are served by priority, and none twice: a served source
/// goes behind all waiting ones, regardless of its priority. So a constantly ready descriptor starves no other and no
/// timer, as long as its handler does a bounded amount of work. Readiness is level-triggered: a handler that leaves
/// something unread is called again in the next round.
public final class EventLoop {
  /// The order within a round.
  public enum Priority: Int64, Sendable, CaseIterable {
    case highest = -20
    case high = -10
    case normal = 0
    case low = 10

    /// Behind everything not served in this round.
    static let served: Int64 = 100
  }

  /// The loop's sd-event, for libraries that attach themselves to it.
  package let event: OpaquePointer
  private var queue: [() -> Void] = []
  /// The room of an earlier queue, which had at most so many entries.
  private var spare: [() -> Void] = []
  private static let kept = 1024
  /// The sources served in this round.
  private var served: [EventSource] = []
  /// Deferred sources.
  private var deferredCount = 0
  private var isStopping = false
  /// The number of the round, in which every ready source is served once before any is served again.
  public var round: UInt64 { rounds }
  private var rounds: UInt64 = 0
  private(set) lazy var timers = Timers(loop: self)

  /// Makes a loop for the calling thread. If systemd wants to hear from a watchdog (`WATCHDOG_USEC`), the loop feeds
  /// it.
  /// - Throws: `EventLoopError` if descriptors or memory are lacking.
  public init() throws(EventLoopError) {
    var event: OpaquePointer?
    try EventLoopError.check(sd_event_new(&event), "sd_event_new")
    guard let event else { throw EventLoopError(call: "sd_event_new", code: ENOMEM) }
    self.event = event
    sd_event_set_watchdog(event, 1)
  }

  deinit { sd_event_unref(event) }

  /// Serves events until `stop`.
  /// - Throws: `EventLoopError` if the kernel refuses to wait for them.
  public func run() throws(EventLoopError) {
    isStopping = false
    while !isStopping { try turn(wait: true) }
  }

  /// Makes `run` return when the handler at work has returned.
  public func stop() { isStopping = true }

  /// Drops the pending timers and work, without executing it: their captures may hold the loop. To be called by an
  /// owner that will not run it again.
  public func discard() {
    timers.discard()
    queue.removeAll()
  }

  /// Serves a pending event, without waiting for one, and the queued work.
  /// - Returns: true if there was anything to do.
  @discardableResult
  public func poll() throws(EventLoopError) -> Bool { try turn(wait: false) }

  /// Calls `work` soon: after the current handler, and before the loop sleeps.
  public func execute(_ work: @escaping () -> Void) { queue.append(work) }

  // MARK: Rounds

  @discardableResult
  private func turn(wait: Bool) throws(EventLoopError) -> Bool {
    let hadWork = runQueue()
    guard !isStopping else { return hadWork }
    let isWaiting = try EventLoopError.check(sd_event_prepare(event), "sd_event_prepare") > 0
    if isWaiting {
      while deferredCount < served.count {
        served[deferredCount].defer()
        deferredCount += 1
      }
    } else {
      beginRound()
      let mayWait = wait && queue.isEmpty
      let count = sd_event_wait(event, mayWait ? UInt64.max : 0)
      if count == -EINTR { return true }
      guard try EventLoopError.check(count, "sd_event_wait") > 0 else { return hadWork }
    }
    try EventLoopError.check(sd_event_dispatch(event), "sd_event_dispatch")
    return true
  }

  /// Runs the queue's present content; later additions are left for the next turn, so they starve no other work.
  private func runQueue() -> Bool {
    guard !queue.isEmpty else { return false }
    var batch = queue
    queue = spare
    spare = []
    for work in batch { work() }
    // The room of a rare burst is given back.
    guard batch.count <= Self.kept else { return true }
    batch.removeAll(keepingCapacity: true)
    spare = batch
    return true
  }

  /// A source is served.
  func serving(_ source: EventSource) {
    // A deferred source is served when no other one waits.
    if source.isDeferred { beginRound() }
    guard !source.isServed else { return }
    source.isServed = true
    served.append(source)
  }

  private func beginRound() {
    rounds &+= 1
    guard !served.isEmpty else { return }
    for source in served { source.restore() }
    served.removeAll(keepingCapacity: true)
    deferredCount = 0
  }
}

/// A failure reported by the kernel.
public struct EventLoopError: Error, Hashable, CustomStringConvertible {
  /// The failed function.
  public let call: String
  /// Its errno.
  public let code: Int32

  /// The failed call, and the reason.
  public var description: String { "\(call): \(String(cString: strerror(code)))" }

  /// Passes on a successful result.
  @discardableResult
  static func check(_ result: Int32, _ call: String) throws(EventLoopError) -> Int32 {
    guard result >= 0 else { throw EventLoopError(call: call, code: -result) }
    return result
  }
}
