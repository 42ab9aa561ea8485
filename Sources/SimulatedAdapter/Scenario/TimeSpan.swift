import Bluetooth

/// A time that is the same always, or one of a range, drawn anew each time: `2` or `[1, 3]`, in seconds.
struct TimeSpan: Decodable, Sendable {
  let range: ClosedRange<Duration>

  init(_ seconds: Double) { range = .seconds(seconds)...(.seconds(seconds)) }

  /// The longest time that makes sense here: a year.
  private static let limit: Double = 365 * 86400

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let numbers: [Double]
    if let number = try? container.decode(Double.self) {
      numbers = [number, number]
    } else {
      numbers = (try? container.decode([Double].self)) ?? []
    }
    guard numbers.count == 2, numbers[0] >= 0, numbers[0] <= numbers[1], numbers[1] <= Self.limit else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "this is no time: give seconds, as 2 or as a range [1, 3].")
    }
    range = .seconds(numbers[0])...(.seconds(numbers[1]))
  }

  /// One time of the range.
  func draw(_ generator: inout SeededGenerator) -> Duration { generator.duration(in: range) }
}
