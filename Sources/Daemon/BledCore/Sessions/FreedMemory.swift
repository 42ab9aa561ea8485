import Adapter
import Bluetooth
import EventLoop

/// Returns unused heap memory to the system, for example after a burst of traffic.
final class FreedMemory {
  /// The delay, so one pass follows many ends.
  private static let pause = Duration.seconds(2)
  /// The freed memory that may be kept, in octets.
  private static let spare = 4 << 20

  private let scheduler: any Scheduler
  private var isDue = false

  init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

  /// Much memory may have been freed: a session has ended or has read its queued lines.
  func mayHaveGrown() {
    guard !isDue else { return }
    isDue = true
    scheduler.schedule(after: Self.pause) { [weak self] in
      self?.isDue = false
      SystemMemory.giveBackFreed(above: Self.spare)
    }
  }
}
