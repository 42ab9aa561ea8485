import Bluetooth
import JSONFiles

/// A time that is the same always, or one of a range, drawn anew each time: `2` or `[1, 3]`, in seconds.
struct TimeSpan: ReadableFromFile, Sendable {
  let range: ClosedRange<Duration>

  init(_ seconds: Double) { range = .seconds(seconds)...(.seconds(seconds)) }

  /// The longest time that makes sense here: a year.
  private static let limit: Double = 365 * 86400

  init(_ value: FileValue) throws(FileError) {
    var numbers: [Double] = []
    if value.isNumber {
      let number = try value.number()
      numbers = [number, number]
    } else if let elements = try? value.elements() {
      for element in elements { numbers.append(try element.number()) }
    }
    guard numbers.count == 2, numbers[0] >= 0, numbers[0] <= numbers[1], numbers[1] <= Self.limit else {
      throw value.failure("this is no time: give seconds, as 2 or as a range [1, 3].")
    }
    range = .seconds(numbers[0])...(.seconds(numbers[1]))
  }

  /// One time of the range.
  func draw(_ generator: inout SeededGenerator) -> Duration { generator.duration(in: range) }
}
