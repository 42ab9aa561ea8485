import Bluetooth

/// The times at which the messages of a device are passed on.
///
/// A device collects messages until a connection event, so that they arrive late by up to the connection interval: a
/// regular rhythm arrives in groups. The timestamps show how long each message has waited. A message is passed on
/// `delay` after the time at which the quickest message of the last seconds would have arrived in its place, so all
/// have the same latency. No message is held for longer than `delay`, with any timestamp, and order is kept.
///
/// Of the device's clock only differences matter: the least difference between arrival and timestamp in a window
/// follows its drift.
public struct MIDIPlayout: Hashable, Sendable {
  private struct Window: Hashable {
    let start: Instant
    /// The least difference between arrival and timestamp, in nanoseconds modulo the period.
    var least: Int64
  }

  /// A clock drifts by a part of a millisecond in this time.
  private static let window = Duration.seconds(10)
  private static let millisecond: Int64 = 1_000_000
  private static let period = Int64(MIDIEvent.timestamps) * millisecond
  /// More is no delay: the clock of the device was set anew, or its timestamps mean nothing.
  private static let jump = 1000 * millisecond

  /// How long a message is held that the link has not delayed.
  public var delay: Duration
  private var current: Window?
  private var previous: Window?
  private var last = Instant(nanoseconds: .min)

  /// Makes the times of a device that has sent nothing yet.
  public init(delay: Duration) { self.delay = delay }

  /// Gives the time of a message, which is not before the one of the message before it.
  /// - Parameter timestamp: its timestamp; nil: the message is passed on with the one before it.
  public mutating func time(of timestamp: UInt16?, arrived now: Instant) -> Instant {
    var time = now
    if let timestamp {
      let difference = now.nanoseconds % Self.period - Int64(timestamp % MIDIEvent.timestamps) * Self.millisecond
      let late = min(.nanoseconds(lateness(difference, now)), delay)
      time = now.advanced(by: delay - late)
    }
    last = max(last, time)
    return last
  }

  /// How long after the quickest message of the last seconds this one has arrived, in nanoseconds.
  private mutating func lateness(_ difference: Int64, _ now: Instant) -> Int64 {
    guard var window = current, window.start.duration(to: now) < Self.window * 2,
      abs(Self.apart(difference, window.least)) < Self.jump
    else {
      (current, previous) = (Window(start: now, least: difference), nil)
      return 0
    }
    if window.start.duration(to: now) >= Self.window {
      previous = window
      window = Window(start: now, least: difference)
    } else if Self.apart(difference, window.least) < 0 {
      window.least = difference
    }
    current = window
    let before = previous.map { Self.apart(difference, $0.least) } ?? 0
    return max(Self.apart(difference, window.least), before)
  }

  /// The distance of two differences around the circle of a period.
  private static func apart(_ one: Int64, _ other: Int64) -> Int64 {
    let distance = (one - other) % period
    if distance >= period / 2 { return distance - period }
    return distance < -period / 2 ? distance + period : distance
  }
}
