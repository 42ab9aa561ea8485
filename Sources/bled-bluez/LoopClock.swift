import Adapter
import Bluetooth
import EventLoop
import FoundationEssentials

/// The event loop's clock and timers.
final class LoopClock: Scheduler {
  private let loop: EventLoop

  init(_ loop: EventLoop) { self.loop = loop }

  var now: Instant { Instant(nanoseconds: EventLoop.now) }

  var secondsSinceEpoch: Double { Date().timeIntervalSince1970 }

  func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    Alarm(loop.schedule(at: time.nanoseconds, work))
  }

  private final class Alarm: ScheduledWork {
    private let timer: Timer

    init(_ timer: Timer) { self.timer = timer }

    func cancel() { timer.cancel() }
  }
}
