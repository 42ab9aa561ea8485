import BledRPC
import Bluetooth

/// The distribution of measured times. Measuring allocates nothing.
struct Histogram {
  /// The buckets' bounds, in nanoseconds: 100 µs to 30 s.
  private static let bounds: [Int64] = [
    100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
    250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000, 30_000_000_000,
  ]

  /// The count per bucket; the last is beyond all bounds.
  private var counts = [Int](repeating: 0, count: bounds.count + 1)
  private var sum = 0.0

  /// Adds a measurement, in nanoseconds.
  mutating func add(_ nanoseconds: Int64) {
    counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
    sum += Double(nanoseconds) / 1e9
  }

  /// The sum in seconds, and how many were at most as great as each bound.
  var sample: Metric.Sample {
    var total = 0
    var buckets: [Metric.Bucket] = []
    for (index, count) in counts.enumerated() {
      total += count
      let most = index < Self.bounds.count ? Double(Self.bounds[index]) / 1e9 : nil
      buckets.append(.init(most: most, count: total))
    }
    return .init(sum, buckets: buckets)
  }
}
