import Adapter
import Bluetooth
import EventLoop

/// Returns unused heap memory to the system, for example after a burst of traffic.
final class FreedMemory {
  /// How long to wait, so that one pass follows many ends.
  private static let pause = Duration.seconds(2)
  /// So much may be kept, in octets.
  private static let spare = 4 << 20

  private let scheduler: any Scheduler
  private var isDue = false

  init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

  /// Something may have been freed that took much memory: a session has ended or has read its waiting lines.
  func mayHaveGrown() {
    guard !isDue else { return }
    isDue = true
    scheduler.schedule(after: Self.pause) { [weak self] in
      self?.isDue = false
      SystemMemory.giveBackFreed(above: Self.spare)
    }
  }
}
