import Adapter
import BledRPC
import Bluetooth

/// The measurements of calls: how many of each method there were, and how long they took until they were answered.
final class CallMetrics {
  private let scheduler: any Scheduler
  /// All calls with an answer.
  private(set) var all = Histogram()
  /// Reads of values of devices.
  private(set) var reads = Histogram()
  private(set) var failed = 0
  /// By method, of which there are as many as the daemon has.
  private(set) var counts: [String: Int] = [:]

  init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

  var now: Instant { scheduler.now }

  /// A session calls a method that there is.
  func called(_ method: String) { counts[method, default: 0] += 1 }

  /// A call failed at once.
  func refused() { failed += 1 }

  /// A call is answered that began then.
  func answered(since began: Instant, isRead: Bool, hasFailed: Bool) {
    let time = began.duration(to: scheduler.now)
    all.add(time)
    if isRead, !hasFailed { reads.add(time) }
    if hasFailed { failed += 1 }
  }
}
