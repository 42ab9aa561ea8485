import Bluetooth
import JSONFiles

/// A characteristic's value and how it changes.
package struct ValueDescription: Hashable, Sendable {
  /// The octets around the number, or the whole value if it does not change.
  package var template: [UInt8]
  package var rule: ValueRule?

  /// No value is longer (Core 5.4, Vol 3, Part F, 3.2.9).
  package static let longest = 512

  package init(template: [UInt8], rule: ValueRule?) { (self.template, self.rule) = (template, rule) }
}

/// How a value changes.
package enum ValueRule: Hashable, Sendable {
  /// A number changes with time.
  case number(NumberRule)
  /// Takes over and notifies the value written to this characteristic (nil), or to another one of the device.
  case echo(of: BluetoothUUID?)
  /// The values of a recording, in its time.
  case recording(RecordedValues)
}

/// A number that changes with time, and its position in the value.
package struct NumberRule: Hashable, Sendable {
  package enum Motion: Hashable, Sendable {
    /// Increases by `step` each `every`, and returns from `end` to `start`.
    case counter(start: Double, end: Double, step: Double, every: Duration)
    /// Goes from `start` to `end` in `over`, and then from `start` again.
    case ramp(start: Double, end: Double, over: Duration)
    /// Swings around `mean`.
    case sine(mean: Double, amplitude: Double, period: Duration)
    /// Takes a step of up to `step` up or down each `every`, and stays within `range`.
    case randomWalk(start: Double, step: Double, range: ClosedRange<Double>, every: Duration)

    /// The smallest and the largest number that it reaches.
    package var extent: ClosedRange<Double> {
      switch self {
      case .counter(let start, let end, _, _), .ramp(let start, let end, _): min(start, end)...max(start, end)
      case .sine(let mean, let amplitude, _): mean - abs(amplitude)...mean + abs(amplitude)
      case .randomWalk(_, _, let range, _): range
      }
    }
  }

  package var motion: Motion
  package var format: NumberFormat
  /// The offset of the number in the value.
  package var offset: Int
  /// The factor of the number before it is encoded.
  package var scale: Double

  package init(motion: Motion, format: NumberFormat, offset: Int, scale: Double) {
    (self.motion, self.format, self.offset, self.scale) = (motion, format, offset, scale)
  }
}

/// The encoding of a number, least significant octet first.
package enum NumberFormat: String, CaseIterable, Sendable {
  case uint8, uint16, uint32, sint16
  /// IEEE 11073 32-bit float with one decimal: exponent −1, 24 bits of mantissa.
  case medfloat32

  /// Its size in octets.
  package var size: Int {
    switch self {
    case .uint8: 1
    case .uint16, .sint16: 2
    case .uint32, .medfloat32: 4
    }
  }

  /// Its range.
  package var range: ClosedRange<Double> {
    switch self {
    case .uint8: 0...255
    case .uint16: 0...65535
    case .uint32: 0...4_294_967_295
    case .sint16: -32768...32767
    case .medfloat32: -838_860...838_860
    }
  }

  /// The octets of the nearest number that can be encoded.
  package func encode(_ number: Double) -> [UInt8] {
    let clamped = number.isNaN ? 0 : min(max(number, range.lowerBound), range.upperBound)
    var bits: UInt64
    if self == .medfloat32 {
      bits = UInt64(bitPattern: Int64((clamped * 10).rounded())) & 0xFF_FFFF | 0xFF00_0000
    } else {
      bits = UInt64(bitPattern: Int64(clamped.rounded()))
    }
    return (0..<size).map { _ in
      defer { bits >>= 8 }
      return UInt8(truncatingIfNeeded: bits)
    }
  }
}

extension ValueRule: ReadableFromFile {
  private enum Kind: String, CaseIterable { case counter, ramp, sine, randomWalk, echo, recording }

  private enum Keys: String, CaseIterable {
    case kind, `as`, at, scale, from, to, step, every, over, mean, amplitude, period, minimum, maximum, of
    case read, sent
  }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    let kind: Kind = try members.word(.kind)
    if kind == .echo {
      self = .echo(of: try members.optional(.of))
      return
    }
    if kind == .recording {
      self = .recording(
        RecordedValues(read: try members.value(.read, default: []), sent: try members.value(.sent, default: [])))
      return
    }
    let format: NumberFormat = try members.word(.as, default: .uint8)
    let offset = try members.integer(.at, in: 0...ValueDescription.longest, default: 0)
    let scale = try members.number(.scale, in: -1e9...1e9, default: 1)
    func number(_ key: Keys, _ standard: Double?) throws(FileError) -> Double {
      try members.number(key, in: -1e12...1e12, default: standard)
    }
    func time(_ key: Keys, _ standard: Double?) throws(FileError) -> Duration {
      try members.seconds(key, in: 0.001...31_536_000, default: standard)
    }
    let motion: NumberRule.Motion
    switch kind {
    case .counter:
      motion = .counter(
        start: try number(.from, 0), end: try number(.to, format.range.upperBound / (scale > 0 ? scale : 1)),
        step: try number(.step, 1), every: try time(.every, 1))
    case .ramp:
      motion = .ramp(start: try number(.from, nil), end: try number(.to, nil), over: try time(.over, nil))
    case .sine:
      motion = .sine(
        mean: try number(.mean, nil), amplitude: try number(.amplitude, nil), period: try time(.period, nil))
    default:
      let minimum = try number(.minimum, nil)
      let maximum = try number(.maximum, nil)
      guard minimum <= maximum else { throw members.failure(.maximum, "this is less than \"minimum\": swap them") }
      motion = .randomWalk(
        start: try number(.from, (minimum + maximum) / 2), step: try number(.step, 1), range: minimum...maximum,
        every: try time(.every, 1))
    }
    let ends = [motion.extent.lowerBound * scale, motion.extent.upperBound * scale]
    if let end = ends.first(where: { !format.range.contains($0.rounded()) }) {
      throw members.failure(
        .kind, "the number reaches \(end), beyond the range of \(format): give another \"as\", \"scale\" or range.")
    }
    self = .number(NumberRule(motion: motion, format: format, offset: offset, scale: scale))
  }
}
