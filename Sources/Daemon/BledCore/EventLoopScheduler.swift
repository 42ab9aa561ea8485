import Adapter
import Bluetooth
import EventLoop
import FoundationEssentials

/// The event loop's clock and timers, for everything that is written against `Scheduler`.
public final class EventLoopScheduler: Scheduler {
  private let loop: EventLoop

  /// Makes a scheduler for a loop.
  public init(_ loop: EventLoop) { self.loop = loop }

  /// The monotonic clock that the loop's timers go by.
  public var now: Instant { Instant(nanoseconds: EventLoop.now) }

  /// The time of day in seconds since 1970.
  public var secondsSinceEpoch: Double { Date().timeIntervalSince1970 }

  /// Calls `work` on the loop when the time has come.
  public func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    loop.schedule(at: time.nanoseconds, work)
  }
}

extension Timer: ScheduledWork {}
