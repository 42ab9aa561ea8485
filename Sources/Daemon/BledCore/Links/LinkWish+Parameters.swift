import Adapter
import BledRPC
import Bluetooth

extension ConnectionParameters {
  /// The parameters requested by a session, in the controllers' units: 0.125 ms for intervals below 7.5 ms, 1.25 ms for
  /// others, 10 ms for the timeout. Omitted values are chosen to fit the rest.
  /// - Throws: `BledError.invalidParameter` with the violated rule (Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2).
  init(_ wish: LinkWish) throws(BluetoothError) {
    try Self.check(wish.minimumInterval, "minimumInterval", 0.000375...4)
    try Self.check(wish.maximumInterval, "maximumInterval", 0.000375...4)
    let (usualMinimum, usualMaximum) = (0.015, 0.045)
    let shortest = wish.minimumInterval ?? min(usualMinimum, wish.maximumInterval ?? usualMinimum)
    let longest = wish.maximumInterval ?? max(usualMaximum, wish.minimumInterval ?? usualMaximum)
    guard shortest <= longest else {
      throw BledError.invalidParameter.error(
        "\"minimumInterval\" is \(shortest) s: it must be at most \"maximumInterval\", \(longest) s")
    }
    let latency = wish.latency ?? 0
    guard (0...499).contains(latency) else {
      throw BledError.invalidParameter.error("\"latency\" is \(latency): it must be 0 to 499 connection events")
    }
    let (subrate, continuation) = try Self.subrating(wish, latency: latency)
    let interval = Self.roundedInterval(shortest)...Self.roundedInterval(longest)
    let skipped = interval.upperBound * subrate.upperBound * (1 + latency) * 2
    try Self.check(wish.timeout, "timeout", 0.1...32)
    let timeout = wish.timeout.map { Self.rounded($0, to: 10_000) } ?? max(.seconds(4), skipped + .milliseconds(100))
    guard timeout > skipped, timeout <= .seconds(32) else {
      throw BledError.invalidParameter.error(
        """
        "timeout" must be more than (1 + latency) × \(subrate.upperBound > 1 ? "maximumSubrate × " : "")\
        maximumInterval × 2, here \(skipped.inSeconds) s, and at most 32 s: \
        give \(wish.timeout == nil ? "" : "a longer timeout, ")a shorter interval or a lower latency
        """)
    }
    self.init(
      interval: interval, latency: latency, supervisionTimeout: timeout, subrate: subrate, continuation: continuation)
  }

  /// The subrate factor and the continuation number.
  /// - Throws: as above (Core 5.4, Vol 4, Part E, 7.8.124).
  private static func subrating(
    _ wish: LinkWish, latency: Int
  ) throws(BluetoothError) -> (ClosedRange<Int>, continuation: Int) {
    try check(wish.minimumSubrate, "minimumSubrate", 1...500)
    try check(wish.maximumSubrate, "maximumSubrate", 1...500)
    try check(wish.continuation, "continuation", 0...499)
    let lowest = wish.minimumSubrate ?? wish.maximumSubrate ?? 1
    let highest = wish.maximumSubrate ?? lowest
    guard lowest <= highest else {
      throw BledError.invalidParameter.error(
        "\"minimumSubrate\" is \(lowest): it must be at most \"maximumSubrate\", \(highest)")
    }
    guard highest * (1 + latency) <= 500 else {
      throw BledError.invalidParameter.error(
        """
        maximumSubrate × (1 + latency) is \(highest * (1 + latency)): it must be at most 500: give a lower subrate or a \
        lower latency
        """)
    }
    let continuation = wish.continuation ?? 0
    guard continuation < highest else {
      throw BledError.invalidParameter.error(
        "\"continuation\" is \(continuation): it must be less than \"maximumSubrate\", \(highest)")
    }
    return (lowest...highest, continuation)
  }

  private static func check(_ events: Int?, _ name: String, _ range: ClosedRange<Int>) throws(BluetoothError) {
    guard let events, !range.contains(events) else { return }
    throw BledError.invalidParameter.error(
      "\"\(name)\" is \(events): it must be \(range.lowerBound) to \(range.upperBound) connection events")
  }

  private static func check(
    _ seconds: Double?, _ name: String, _ range: ClosedRange<Double>
  ) throws(BluetoothError) {
    guard let seconds, !range.contains(seconds) else { return }
    throw BledError.invalidParameter.error(
      "\"\(name)\" is \(seconds) s: it must be \(range.lowerBound) to \(range.upperBound) s")
  }

  private static func roundedInterval(_ seconds: Double) -> Duration {
    rounded(seconds, to: seconds < shortestOrdinaryInterval.inSeconds ? 125 : 1250)
  }

  private static func rounded(_ seconds: Double, to microseconds: Int64) -> Duration {
    .microseconds(Int64((seconds * 1_000_000 / Double(microseconds)).rounded()) * microseconds)
  }
}
