import Adapter
import BledRPC
import Bluetooth

/// Measurements of calls: their number by method, and the time until their answers.
final class CallMetrics {
  private let scheduler: any Scheduler
  /// All answered calls.
  private(set) var all = Histogram()
  /// Reads of devices' values.
  private(set) var reads = Histogram()
  private(set) var failed = 0
  /// By method; bounded by the daemon's methods.
  private(set) var counts: [String: Int] = [:]

  init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

  var now: Instant { scheduler.now }

  /// A session calls an existing method.
  func called(_ method: String) { counts[method, default: 0] += 1 }

  /// A call failed at once.
  func refused() { failed += 1 }

  /// A call that began then is answered.
  func answered(since began: Instant, isRead: Bool, hasFailed: Bool) {
    let time = began.duration(to: scheduler.now)
    all.add(time)
    if isRead, !hasFailed { reads.add(time) }
    if hasFailed { failed += 1 }
  }
}
