/// A monotonic clock's instant. State machines receive instants and return deadlines; they never read a clock.
public struct Instant: InstantProtocol, Hashable, Sendable {
  /// Nanoseconds since the clock's own zero.
  public var nanoseconds: Int64

  /// The clock's own zero.
  public static let zero = Instant(nanoseconds: 0)

  /// Makes the instant this many nanoseconds after the clock's zero.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The instant `duration` later (earlier if negative), clamped to the clock's range.
  public func advanced(by duration: Duration) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// The time from here to `other`.
  public func duration(to other: Instant) -> Duration {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflow ? (other > self ? .max : .min) : difference)
  }

  /// Earlier instants come first.
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
  /// The duration in nanoseconds, clamped to the range of `Int64` (292 years).
  public var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// The duration in seconds, with a fraction.
  public var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
