import Adapter
import BledRPC
import Bluetooth

/// Measurements of calls: their number by method, and the time until their answers.
final class CallMetrics {
  /// The number of calls of one method.
  final class Counter {
    let method: String
    var count = 0

    fileprivate init(_ method: String) { self.method = method }
  }

  private let scheduler: any Scheduler
  /// All answered calls.
  private(set) var all = Histogram()
  /// Reads of devices' values.
  private(set) var reads = Histogram()
  private(set) var failed = 0
  /// Of all the daemon's methods.
  private(set) var counters: [Counter] = []

  init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

  var now: Instant { scheduler.now }

  /// The counter of a method.
  func counter(of method: String) -> Counter {
    let counter = Counter(method)
    counters.append(counter)
    return counter
  }

  /// A call failed at once.
  func refused() { failed += 1 }

  /// A call that began then is answered.
  func answered(since began: Instant, isRead: Bool, hasFailed: Bool) {
    let nanoseconds = scheduler.now.nanoseconds &- began.nanoseconds
    all.add(nanoseconds)
    if isRead, !hasFailed { reads.add(nanoseconds) }
    if hasFailed { failed += 1 }
  }
}
