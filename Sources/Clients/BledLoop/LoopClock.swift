import Adapter
import Bluetooth
import EventLoop
import FoundationEssentials

/// The event loop's clock and timers.
package final class LoopClock: Scheduler {
  private let loop: EventLoop

  package init(_ loop: EventLoop) { self.loop = loop }

  package var now: Instant { Instant(nanoseconds: EventLoop.now) }

  package var secondsSinceEpoch: Double { Date().timeIntervalSince1970 }

  package func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    Alarm(loop.schedule(at: time.nanoseconds, work))
  }

  private final class Alarm: ScheduledWork {
    private let timer: Timer

    init(_ timer: Timer) { self.timer = timer }

    func cancel() { timer.cancel() }
  }
}
