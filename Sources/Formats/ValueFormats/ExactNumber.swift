import AssignedValues

/// A decimal number: `mantissa` × 10 to the power of `exponent`, so that 0.1 stays 0.1.
public struct ExactNumber: Hashable, Sendable {
  /// Its digits.
  public let mantissa: Int64
  /// −18 to 18.
  public let exponent: Int

  static let exponents = -18...18

  /// - Returns: nil for an exponent beyond −18 to 18.
  public init?(_ mantissa: Int64, exponent: Int = 0) {
    guard Self.exponents.contains(exponent) else { return nil }
    (self.mantissa, self.exponent) = (mantissa, exponent)
  }

  /// Reads a decimal number with at most 15 digits, such as 0.01, -273.15 or 1e-3.
  init?(_ text: Substring) {
    let parts = text.utf8.split(separator: UInt8(ascii: "e"), maxSplits: 1, omittingEmptySubsequences: false)
    var digits = ""
    var places: Int?
    var isNegative = false
    for (index, code) in (parts.first ?? "".utf8[...]).enumerated() {
      switch code {
      case UInt8(ascii: "-") where index == 0: isNegative = true
      case UInt8(ascii: ".") where places == nil: places = 0
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits.unicodeScalars.append(Unicode.Scalar(code))
        places = places.map { $0 + 1 }
      default: return nil
      }
    }
    guard (1...15).contains(digits.utf8.count), let magnitude = Int64(digits) else { return nil }
    var power = 0
    if parts.count > 1 {
      guard parts[1].count <= 3, let given = Int(String(Substring(parts[1]))) else { return nil }
      power = given
    }
    self.init(isNegative ? -magnitude : magnitude, exponent: power - (places ?? 0))
  }

  /// The product; nil where it cannot be kept exactly.
  func times(_ other: ExactNumber) -> ExactNumber? {
    let (product, overflows) = mantissa.multipliedReportingOverflow(by: other.mantissa)
    return overflows ? nil : ExactNumber(product, exponent: exponent + other.exponent)
  }

  /// The sum; nil where it cannot be kept exactly.
  func plus(_ other: ExactNumber) -> ExactNumber? {
    let common = min(exponent, other.exponent)
    guard let one = digits(at: common), let two = other.digits(at: common) else { return nil }
    let (sum, overflows) = one.addingReportingOverflow(two)
    return overflows ? nil : ExactNumber(sum, exponent: common)
  }

  private func digits(at lower: Int) -> Int64? {
    var digits = mantissa
    for _ in lower..<exponent {
      let (next, overflows) = digits.multipliedReportingOverflow(by: 10)
      guard !overflows else { return nil }
      digits = next
    }
    return digits
  }

  /// The nearest binary number.
  public var value: Double {
    exponent < 0 ? Double(mantissa) / Self.power(-exponent) : Double(mantissa) * Self.power(exponent)
  }

  /// 10 to the power of 0 to 22, which is exact.
  static func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1.0) { power, _ in power * 10 } }

  /// With all its places: "22.60".
  var text: String { DecimalText.text(mantissa, exponent: exponent) }
}

/// A binary number as text and, without the noise of binary fractions, as a number.
struct RoundedNumber {
  let text: String
  let value: Double

  /// - Parameter digits: How many are kept, 1 to 15.
  init(_ number: Double, digits: Int) {
    guard number.isFinite else {
      (text, value) = (number.isNaN ? "no number" : number > 0 ? "above range" : "below range", number)
      return
    }
    var (size, exponent) = (abs(number), 0)
    let isPlain = size == 0 || size >= 1e-5 && size < 1e15
    while !isPlain, size >= 10 { (size, exponent) = (size / 10, exponent + 1) }
    while !isPlain, size < 1 { (size, exponent) = (size * 10, exponent - 1) }
    var places = 0
    let limit = ExactNumber.power(digits - 1)
    while places < 18, size != 0, size * ExactNumber.power(places) < limit { places += 1 }
    var mantissa = Int64((size * ExactNumber.power(places) + 0.5).rounded(.down))
    while places > 0, mantissa % 10 == 0 { (mantissa, places) = (mantissa / 10, places - 1) }
    let plain = (number < 0 ? "-" : "") + DecimalText.text(mantissa, exponent: -places)
    let rounded = Double(mantissa) / ExactNumber.power(places)
    text = isPlain ? plain : "\(plain)e\(exponent)"
    value = isPlain ? (number < 0 ? -rounded : rounded) : number
  }
}
