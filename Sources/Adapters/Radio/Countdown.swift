import Bluetooth

/// A time that passes only while something goes on.
struct Countdown {
  private var left: Duration
  /// When it is over; nil while it stands still.
  private(set) var end: Instant?

  /// Makes one that stands still.
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

  /// Whether it is over.
  func isOver(at now: Instant) -> Bool { end.map { $0 <= now } ?? (left <= .zero) }
}
