/// Decimal numbers as exact text, without a detour through binary fractions.
enum DecimalText {
  /// Writes `mantissa` × 10 to the power of `exponent`: (365, −1) is "36.5", (3, 2) is "300".
  /// Beyond 18 places it is "3e60".
  static func text(_ mantissa: some BinaryInteger, exponent: Int) -> String {
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
