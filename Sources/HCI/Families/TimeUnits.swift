import Bluetooth

/// Durations in the units of the controller. What is out of range becomes the nearest value within.
public enum TimeUnits {
  /// A number of units of `microseconds` each, rounded to the nearest.
  public static func units<Number: FixedWidthInteger>(
    _ duration: Duration, of microseconds: Int64, within range: ClosedRange<Number>
  ) -> Number {
    let unit = microseconds * 1000
    let nanoseconds = max(0, duration.wholeNanoseconds)
    let rounded = nanoseconds / unit + (nanoseconds % unit * 2 >= unit ? 1 : 0)
    return min(max(Number(clamping: rounded), range.lowerBound), range.upperBound)
  }

  /// Scan intervals and windows in 0.625 ms, 2.5 ms to 10.24 s (Core 5.4, Vol 4, Part E, 7.8.10).
  public static func scan(_ duration: Duration) -> UInt16 { units(duration, of: 625, within: 0x0004...0x4000) }
  /// Legacy advertising intervals in 0.625 ms, 20 ms to 10.24 s (7.8.5).
  public static func advertising(_ duration: Duration) -> UInt16 { units(duration, of: 625, within: 0x0020...0x4000) }
  /// Connection intervals in 1.25 ms, 7.5 ms to 4 s (7.8.12).
  public static func connection(_ duration: Duration) -> UInt16 { units(duration, of: 1250, within: 0x0006...0x0C80) }
  /// Supervision timeouts in 10 ms, 100 ms to 32 s (7.8.12).
  public static func supervision(_ duration: Duration) -> UInt16 {
    units(duration, of: 10_000, within: 0x000A...0x0C80)
  }

  /// How long `count` units of 0.625 ms are.
  public static func slots(_ count: UInt16) -> Duration { .microseconds(Int64(count) * 625) }
  /// How long `count` units of 1.25 ms are.
  public static func connectionUnits(_ count: UInt16) -> Duration { .microseconds(Int64(count) * 1250) }
  /// How long `count` units of 10 ms are.
  public static func supervisionUnits(_ count: UInt16) -> Duration { .milliseconds(Int64(count) * 10) }
}
