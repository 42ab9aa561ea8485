import Bluetooth
import JSONFiles

/// A fixed time, or one drawn from a range each time: `2` or `[1, 3]`, in seconds.
package struct TimeSpan: ReadableFromFile, Sendable {
  package let range: ClosedRange<Duration>

  package init(_ seconds: Double) { range = .seconds(seconds)...(.seconds(seconds)) }

  /// The longest valid time: a year.
  private static let limit: Double = 365 * 86400

  package init(_ value: FileValue) throws(FileError) {
    var numbers: [Double] = []
    if value.isNumber {
      let number = try value.number()
      numbers = [number, number]
    } else if let elements = try? value.elements() {
      for element in elements { numbers.append(try element.number()) }
    }
    guard numbers.count == 2, numbers[0] >= 0, numbers[0] <= numbers[1], numbers[1] <= Self.limit else {
      throw value.failure("this is not a time: give seconds, such as 2, or a range, such as [1, 3]")
    }
    range = .seconds(numbers[0])...(.seconds(numbers[1]))
  }

  /// A time from the range.
  package func draw(_ generator: inout SeededGenerator) -> Duration { generator.duration(in: range) }
}
