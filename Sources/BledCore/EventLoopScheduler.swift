import Adapter
import Bluetooth
import FoundationEssentials
import NIOCore

/// The event loop's clock and timers. Made and used on the loop only.
public final class EventLoopScheduler: Scheduler {
  private final class Work: ScheduledWork {
    var scheduled: Scheduled<Void>?
    func cancel() {
      scheduled?.cancel()
      scheduled = nil
    }
  }

  private let eventLoop: NIOIsolatedEventLoop

  /// Makes a scheduler of a loop; to be called on that loop.
  public init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop.assumeIsolated() }

  /// The monotonic clock that the loop's timers go by.
  public var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

  /// The time of day in seconds since 1970.
  public var secondsSinceEpoch: Double { Date().timeIntervalSince1970 }

  /// Calls `work` on the loop when the time has come.
  public func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    let entry = Work()
    let deadline = NIODeadline.uptimeNanoseconds(UInt64(clamping: time.nanoseconds))
    entry.scheduled = eventLoop.scheduleTask(deadline: deadline) {
      entry.scheduled = nil
      work()
    }
    return entry
  }
}
