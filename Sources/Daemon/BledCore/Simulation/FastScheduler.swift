import Adapter
import Bluetooth

/// A clock that runs a number of times as fast as another one.
public final class FastScheduler: Scheduler {
  private let other: any Scheduler
  private let factor: Double
  private let beginning: Instant
  private let epoch: Double

  /// Makes a clock with the other one's present time.
  /// - Parameter factor: the speed, 1 or more.
  public init(_ other: any Scheduler, times factor: Double) {
    self.other = other
    self.factor = factor
    beginning = other.now
    epoch = other.secondsSinceEpoch
  }

  /// The time on the clock.
  public var now: Instant { beginning.advanced(by: elapsed) }

  /// The time of day on the clock.
  public var secondsSinceEpoch: Double { epoch + elapsed.inSeconds }

  private var elapsed: Duration { beginning.duration(to: other.now) * factor }

  /// Sets an alarm.
  public func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork {
    other.schedule(at: beginning.advanced(by: beginning.duration(to: time) / factor), work)
  }

  /// Calls `work` soon.
  public func execute(_ work: @escaping () -> Void) { other.execute(work) }
}
