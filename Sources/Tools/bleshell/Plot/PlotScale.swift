/// A scale with round numbers as marks: 1, 2 or 5 times a power of ten apart.
struct PlotScale: Equatable {
  /// The first and the last mark.
  let range: ClosedRange<Double>
  /// The distance between marks.
  let step: Double

  /// The smallest scale that contains all numbers, with about this number of intervals.
  /// - Parameters:
  ///   - least: The smallest number; finite, as is `most`.
  ///   - intervals: 1 or more.
  init(from least: Double, to most: Double, intervals: Int) {
    // A single number has a scale around it; so have numbers too close to each other to be told apart.
    let smallest = max(abs(least), abs(most), 1) * 1e-9
    let half = max(0.5, smallest)
    let (low, high) = most - least > smallest ? (least, most) : (least - half, most + half)
    let raw = (high - low) / Double(max(1, intervals))
    let power = Self.power(of: raw)
    // A mark may be off by the rounding of binary fractions.
    step = ([1, 2, 5].first { $0 * power >= raw * (1 - 1e-9) } ?? 10) * power
    range = (low / step + 1e-9).rounded(.down) * step...(high / step - 1e-9).rounded(.up) * step
  }

  /// The marks, from the least to the greatest.
  var marks: [Double] {
    let count = Int(((range.upperBound - range.lowerBound) / step).rounded())
    return (0...max(0, min(count, 1000))).map { range.lowerBound + Double($0) * step }
  }

  /// The position of a number: 0 is the first mark, 1 the last one.
  func share(of number: Double) -> Double {
    (number - range.lowerBound) / (range.upperBound - range.lowerBound)
  }

  /// The greatest power of ten that is not more.
  private static func power(of number: Double) -> Double {
    var power = 1.0
    while power * 10 <= number, power < 1e300 { power *= 10 }
    while power > number, power > 1e-300 { power /= 10 }
    return power
  }
}
