import Bluetooth
import CSystemd
import Glibc
import HeapModule

/// Work that is done once at a certain time, unless it is cancelled before.
public final class Timer: ScheduledWork {
  fileprivate var work: (() -> Void)?
  private unowned let timers: Timers

  fileprivate init(_ timers: Timers, _ work: @escaping () -> Void) {
    self.timers = timers
    self.work = work
  }

  /// After this call the work is not executed.
  public func cancel() {
    guard work != nil else { return }
    work = nil
    timers.cancelled()
  }
}

extension EventLoop {
  /// The time on the timers' monotonic clock, in nanoseconds.
  public static var now: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)
  }

  /// Does `work` once the clock shows `time`, in nanoseconds: never earlier, and later by at most a 64th of the delay
  /// and 50 ms, so that close timers share a wake-up.
  public func schedule(at time: Int64, _ work: @escaping () -> Void) -> Timer { timers.schedule(at: time, work) }
}

extension EventLoop: Scheduler {
  /// The clock by which timers go.
  public var now: Instant { Instant(nanoseconds: Self.now) }

  /// The time of day in seconds since 1970.
  public var secondsSinceEpoch: Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
  }

  /// As with a number of nanoseconds.
  public func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    timers.schedule(at: time.nanoseconds, work)
  }
}

/// The timers of a loop. They share one source of sd-event, which is set earlier but never later: to set and to cancel
/// a timer that is not the next one, as the time-out of each request is, costs no system call.
final class Timers: EventSource {
  private struct Entry: Comparable {
    let time: Int64
    let number: UInt64
    let timer: Timer

    static func < (left: Entry, right: Entry) -> Bool { (left.time, left.number) < (right.time, right.number) }
    static func == (left: Entry, right: Entry) -> Bool { left.number == right.number }
  }

  /// Maximum delay of a timer for sharing others' wake-up, in nanoseconds.
  private static let longestDelay: Int64 = 50_000_000
  /// So many timers are rung before others get their turn.
  private static let burst = 64

  private var heap = Heap<Entry>()
  /// Cancelled timers in the heap.
  private var cancelledCount = 0
  private var lastNumber: UInt64 = 0
  /// The time the source fires; nil if it does not.
  private var armed: Int64?

  init(loop: EventLoop) { super.init(loop: loop, priority: .low) }

  func schedule(at time: Int64, _ work: @escaping () -> Void) -> Timer {
    let timer = Timer(self, work)
    lastNumber += 1
    heap.insert(Entry(time: time, number: lastNumber, timer: timer))
    arm(time)
    return timer
  }

  /// Cancelled timers are dropped when they are the larger part.
  fileprivate func cancelled() {
    cancelledCount += 1
    guard cancelledCount > 64, cancelledCount > heap.count / 2 else { return }
    heap = Heap(heap.unordered.filter { $0.timer.work != nil })
    cancelledCount = 0
  }

  /// Drops all of them, without ringing.
  func discard() {
    let dropped = heap.unordered
    heap = Heap()
    cancelledCount = 0
    for entry in dropped { entry.timer.work = nil }
  }

  private func arm(_ time: Int64) {
    if let armed, armed <= time { return }
    let accuracy = max(1000, min((time &- EventLoop.now) / 64, Self.longestDelay))
    armed = time
    // Rounded up: sd-event's clock has microseconds.
    let microseconds = UInt64(max(0, time) / 1000 + 1)
    if let source {
      sd_event_source_set_time_accuracy(source, UInt64(accuracy / 1000))
      sd_event_source_set_time(source, microseconds)
      sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT))
    } else {
      // Memory may lack, or a descriptor for the clock; then the next timer tries again.
      do {
        try adopt("sd_event_add_time") { source, context in
          sd_event_add_time(
            loop.event, &source, CLOCK_MONOTONIC, microseconds, UInt64(accuracy / 1000),
            { _, _, context in
              Timers.from(context)?.ring()
              return 0
            }, context)
        }
      } catch {
        armed = nil
      }
    }
  }

  private func ring() {
    loop.serving(self)
    armed = nil
    let now = EventLoop.now
    // Timers set meanwhile have their turn later, even if they are due.
    let last = lastNumber
    for _ in 0..<Self.burst {
      guard let next = heap.min, next.timer.work == nil || (next.time <= now && next.number <= last) else { break }
      heap.removeMin()
      guard let work = next.timer.work else {
        cancelledCount -= 1
        continue
      }
      next.timer.work = nil
      work()
    }
    if let next = heap.min { arm(next.time) }
  }
}
