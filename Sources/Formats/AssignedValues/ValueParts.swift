/// Decimal numbers as exact text, without a detour through binary fractions.
package enum DecimalText {
  /// Writes `mantissa` × 10 to the power of `exponent`: (365, −1) is "36.5", (3, 2) is "300".
  /// Beyond 18 places it is "3e60".
  package static func text(_ mantissa: some BinaryInteger, exponent: Int) -> String {
    guard exponent != 0, mantissa != 0 else { return "\(mantissa)" }
    guard (-18...18).contains(exponent) else { return "\(mantissa)e\(exponent)" }
    if exponent > 0 { return "\(mantissa)" + String(repeating: "0", count: exponent) }
    var digits = String(mantissa.magnitude)
    if digits.utf8.count <= -exponent {
      digits = String(repeating: "0", count: 1 - exponent - digits.utf8.count) + digits
    }
    let point = digits.index(digits.endIndex, offsetBy: exponent)
    return (mantissa < 0 ? "-" : "") + digits[..<point] + "." + digits[point...]
  }

  /// Writes `numerator` / `denominator` rounded to `places` decimal places.
  static func text(_ numerator: some BinaryInteger, over denominator: Int, places: Int) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let magnitude = (Int(numerator.magnitude) * scale * 2 + denominator) / (2 * denominator)
    return text(numerator < 0 ? -magnitude : magnitude, exponent: -places)
  }
}

/// A decimal floating point number as medical devices send it (IEEE 11073-20601; GATT Specification Supplement, 2.2):
/// FLOAT with 24 + 8 bits, SFLOAT with 12 + 4 bits.
public enum MedicalFloat: Hashable, Sendable {
  /// `mantissa` × 10 to the power of `exponent`.
  case number(mantissa: Int32, exponent: Int8)
  /// Not a number: the measurement failed.
  case notANumber
  /// The result cannot be shown at this resolution.
  case notAtThisResolution
  /// Above the range.
  case positiveInfinity
  /// Below the range.
  case negativeInfinity
  /// A bit pattern reserved for later.
  case reserved

  /// Reads a FLOAT (medfloat32).
  public init(float bits: UInt32) {
    let mantissa = Int32(bitPattern: bits << 8) >> 8
    self.init(mantissa: mantissa, exponent: Int8(truncatingIfNeeded: bits >> 24), largest: 0x7F_FFFF)
  }

  /// Reads an SFLOAT (medfloat16).
  public init(sfloat bits: UInt16) {
    let mantissa = Int16(bitPattern: bits << 4) >> 4
    let exponent = Int16(bitPattern: bits) >> 12
    self.init(mantissa: Int32(mantissa), exponent: Int8(truncatingIfNeeded: exponent), largest: 0x7FF)
  }

  // The five special values are the largest and smallest mantissas, with exponent 0.
  private init(mantissa: Int32, exponent: Int8, largest: Int32) {
    switch (exponent, mantissa) {
    case (0, largest): self = .notANumber
    case (0, largest - 1): self = .positiveInfinity
    case (0, -largest - 1): self = .notAtThisResolution
    case (0, -largest): self = .reserved
    case (0, -largest + 1): self = .negativeInfinity
    default: self = .number(mantissa: mantissa, exponent: exponent)
    }
  }

  /// The number as binary floating point; nil for the special values without one.
  public var value: Double? {
    switch self {
    case .number(let mantissa, let exponent): Double("\(mantissa)e\(exponent)")
    case .positiveInfinity: .infinity
    case .negativeInfinity: -.infinity
    case .notANumber, .notAtThisResolution, .reserved: nil
    }
  }
}

extension MedicalFloat: CustomStringConvertible {
  /// The number with all the places the device sent: "36.50".
  public var description: String {
    switch self {
    case .number(let mantissa, let exponent): DecimalText.text(mantissa, exponent: Int(exponent))
    case .notANumber: "no number"
    case .notAtThisResolution: "not at this resolution"
    case .positiveInfinity: "above range"
    case .negativeInfinity: "below range"
    case .reserved: "reserved"
    }
  }
}
