import Bluetooth
import DequeModule
import HeapModule

/// A clock that moves only on request; alarms fire in order of time, then of setting.
public final class VirtualScheduler: Scheduler {
  private struct Entry: Comparable {
    let time: Instant
    let sequence: UInt64
    let work: Work

    static func < (left: Entry, right: Entry) -> Bool { (left.time, left.sequence) < (right.time, right.sequence) }
    static func == (left: Entry, right: Entry) -> Bool { left.sequence == right.sequence }
  }

  private final class Work: ScheduledWork {
    var action: (() -> Void)?
    init(_ action: @escaping () -> Void) { self.action = action }
    func cancel() { action = nil }
  }

  /// The time on the virtual clock.
  public private(set) var now: Instant
  private let epoch: Double
  private var heap = Heap<Entry>()
  /// Calls work soon; nil if it waits in `queue`.
  private let later: ((@escaping () -> Void) -> Void)?
  private var queue: Deque<() -> Void> = []
  private var sequence: UInt64 = 0

  /// Makes a clock stopped at zero.
  /// - Parameters:
  ///   - epoch: the time of day at zero, in seconds since 1970.
  ///   - later: calls the work of `execute`, such as an event loop; without it, it is called when the clock next moves,
  ///     by any time, or by `settle`.
  public init(epoch: Double = 1_700_000_000, later: ((@escaping () -> Void) -> Void)? = nil) {
    now = .zero
    self.epoch = epoch
    self.later = later
  }

  /// The virtual time of day.
  public var secondsSinceEpoch: Double { epoch + Instant.zero.duration(to: now).inSeconds }

  /// Sets an alarm. An alarm in the past fires when the clock next moves.
  public func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    sequence += 1
    let entry = Entry(time: time, sequence: sequence, work: Work(work))
    heap.insert(entry)
    return entry.work
  }

  /// Calls `work` before the next alarm.
  public func execute(_ work: @escaping () -> Void) {
    if let later { later(work) } else { queue.append(work) }
  }

  /// Does the work of `execute`, and its consequences, at the present time.
  /// - Returns: true if there was any.
  @discardableResult
  public func settle() -> Bool {
    var hadWork = false
    while let work = queue.popFirst() {
      hadWork = true
      work()
    }
    return hadWork
  }

  /// Moves the clock by `duration` and fires every alarm on the way, including those set while it moves.
  public func advance(by duration: Duration) {
    let end = now.advanced(by: duration)
    while isDue(by: end) { ring() }
    now = end
  }

  /// Moves the clock towards a time and fires alarms on the way, at most `limit`.
  /// - Returns: true if it has arrived, and every alarm up to there has fired.
  public func advance(to end: Instant, ringing limit: Int) -> Bool {
    var rung = 0
    while isDue(by: end) {
      guard rung < limit else { return false }
      ring()
      rung += 1
    }
    now = max(now, end)
    return true
  }

  /// Moves the clock from alarm to alarm until `condition` holds.
  /// - Returns: false if it did not hold within `limit`; the clock then stands at the limit.
  @discardableResult
  public func run(for limit: Duration = .seconds(3600), until condition: () -> Bool) -> Bool {
    let end = now.advanced(by: limit)
    while !condition() {
      guard isDue(by: end) else {
        now = end
        return condition()
      }
      ring()
    }
    return true
  }

  private func isDue(by end: Instant) -> Bool { !queue.isEmpty || heap.min.map { $0.time <= end } ?? false }

  private func ring() {
    if let work = queue.popFirst() { return work() }
    guard let entry = heap.popMin() else { return }
    now = max(now, entry.time)
    let action = entry.work.action
    entry.work.action = nil
    action?()
  }
}
