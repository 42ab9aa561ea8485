import Bluetooth

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A number that changes by a rule. It is computed on demand, so that an unread value costs nothing, and depends only
/// on the time, not on the number of reads.
package struct MovingNumber {
  private let rule: NumberRule
  private var generator: SeededGenerator
  /// The position of the random walk, and the number of its steps.
  private var walked: (number: Double, steps: Int64)

  /// A walk that was not read for more than this many steps continues from its last position.
  private static let longestWalk: Int64 = 100_000

  package init(_ rule: NumberRule, generator: SeededGenerator) {
    self.rule = rule
    self.generator = generator
    walked = (0, 0)
    if case .randomWalk(let start, _, let range, _) = rule.motion {
      walked.number = min(max(start, range.lowerBound), range.upperBound)
    }
  }

  /// Writes the number for this time, counted from the beginning of the scenario, into its place in the template.
  package mutating func value(at time: Duration, in template: [UInt8]) -> [UInt8] {
    let octets = rule.format.encode(number(at: time) * rule.scale)
    var value = template
    let end = rule.offset + octets.count
    if value.count < end { value += repeatElement(0, count: end - value.count) }
    value.replaceSubrange(rule.offset..<end, with: octets)
    return value
  }

  private mutating func number(at time: Duration) -> Double {
    switch rule.motion {
    case .counter(let start, let end, let step, let every):
      let count = Double(time.wholeNanoseconds / every.wholeNanoseconds)
      guard step != 0, (end - start) / step >= 1 else { return start }
      return start + step * fmod(count, ((end - start) / step).rounded(.down) + 1)
    case .ramp(let start, let end, let over):
      return start + (end - start) * fmod(time.inSeconds, over.inSeconds) / over.inSeconds
    case .sine(let mean, let amplitude, let period):
      return mean + amplitude * sin(2 * .pi * time.inSeconds / period.inSeconds)
    case .randomWalk(_, let step, let range, let every):
      let steps = time.wholeNanoseconds / every.wholeNanoseconds
      for _ in 0..<min(max(steps - walked.steps, 0), Self.longestWalk) {
        let next = walked.number + generator.number(in: -abs(step)...abs(step))
        walked.number = min(max(next, range.lowerBound), range.upperBound)
      }
      walked.steps = steps
      return walked.number
    }
  }
}
