/// A clock and its alarms: the daemon's event loop, or virtual time in tests.
public protocol Scheduler: AnyObject {
  /// The time on a monotonic clock.
  var now: Instant { get }
  /// The time of day in seconds since the epoch (1970-01-01 00:00 UTC).
  var secondsSinceEpoch: Double { get }
  /// Calls `work` once, on the daemon's thread, when the time has come; never from inside this call.
  func schedule(at time: Instant, _ work: @escaping () -> Void) -> any ScheduledWork
  /// Calls `work` soon, on the daemon's thread: after the current handler, in the order of the calls.
  func execute(_ work: @escaping () -> Void)
}

/// A pending alarm.
public protocol ScheduledWork: AnyObject {
  /// Cancels the alarm; after this call its work is not called.
  func cancel()
}

extension Scheduler {
  /// Calls `work` once, after `delay`.
  @discardableResult
  public func schedule(after delay: Duration, _ work: @escaping () -> Void) -> any ScheduledWork {
    schedule(at: now.advanced(by: delay), work)
  }
}
