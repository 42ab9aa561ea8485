import Bluetooth

/// The delay before the next attempt: doubled after each failure, up to a limit.
package struct BackOff: Hashable {
  package let first: Duration
  package let limit: Duration
  /// Consecutive failures.
  package private(set) var failures = 0
  /// No attempt before this time.
  package private(set) var notBefore = Instant.zero

  package init(first: Duration, limit: Duration) {
    self.first = first
    self.limit = limit
  }

  /// True if it is time for an attempt.
  package func allows(at now: Instant) -> Bool { failures == 0 || notBefore <= now }

  /// When the next attempt is due, if it is not time yet.
  package func deadline(after now: Instant) -> Instant? { allows(at: now) ? nil : notBefore }

  /// Records a failure.
  /// - Parameter most: a shorter limit for this one.
  package mutating func fail(at now: Instant, atMost most: Duration? = nil) {
    let delay = min(first * (1 << min(failures, 20)), most ?? limit)
    failures += 1
    notBefore = now.advanced(by: delay)
  }

  /// Records a success: the next attempt may follow at once.
  package mutating func reset() { self = BackOff(first: first, limit: limit) }
}
