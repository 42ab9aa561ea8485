import Bluetooth

/// A timer that can be stopped and continued.
struct Countdown {
  private var left: Duration
  /// When it is over; nil while it stands still.
  private(set) var end: Instant?

  /// Makes a stopped one.
  init(_ duration: Duration) { left = duration }

  /// Lets it pass from now on, or not.
  mutating func run(_ isRunning: Bool, at now: Instant) {
    if let end, !isRunning {
      left = max(.zero, now.duration(to: end))
      self.end = nil
    } else if end == nil, isRunning {
      end = now.advanced(by: left)
    }
  }

  /// True if it is over.
  func isOver(at now: Instant) -> Bool { end.map { $0 <= now } ?? (left <= .zero) }
}
