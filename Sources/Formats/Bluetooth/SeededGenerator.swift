/// Reproducible random numbers: the same seed and stream give the same numbers on every machine (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator.
  /// - Parameter stream: the user, so that adding a device does not change the numbers of all others.
  package init(seed: UInt64, stream: UInt64) {
    state = seed
    state = next() ^ stream
    state = next()
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }

  /// A number of the range, uniformly distributed.
  package mutating func number(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + (range.upperBound - range.lowerBound) * Double(next() >> 11) / Double(1 << 53)
  }

  /// True with this probability, 0 to 1.
  package mutating func chance(_ probability: Double) -> Bool {
    probability > 0 && number(in: 0...1) < probability
  }

  /// A time of the range, uniformly distributed.
  package mutating func duration(in range: ClosedRange<Duration>) -> Duration {
    guard range.lowerBound < range.upperBound else { return range.lowerBound }
    return .seconds(number(in: range.lowerBound.inSeconds...range.upperBound.inSeconds))
  }
}
