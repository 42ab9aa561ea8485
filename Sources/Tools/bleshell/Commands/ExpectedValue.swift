import Bluetooth

/// The values that `bleshell expect` is content with.
enum ExpectedValue: Equatable {
  case any
  /// These octets, as far as the bits of the mask are set.
  case octets([UInt8], mask: [UInt8]?)
  /// A number in a range, in the unit of the characteristic; without a known format, the octets as a whole number, the
  /// least significant first.
  case range(ClosedRange<Double>)

  /// - Parameters:
  ///   - text: Octets in hex, a text, or a range such as 60..100, 60.. or ..100; nil: any value.
  ///   - isText: True if it is a text.
  ///   - mask: Octets in hex.
  /// - Throws: `Failure` for other text.
  init(_ text: String?, isText: Bool, mask: String?) throws {
    guard let text else {
      guard !isText, mask == nil else { throw Failure("--text and --mask go with a value", status: 64) }
      self = .any
      return
    }
    let mask = try mask.map { try bleshell.octets($0) }
    if !isText, mask == nil, let range = Self.range(text) {
      self = .range(range)
      return
    }
    let hint = "; for text add --text, and a range is 60..100"
    let octets = isText ? Array(text.utf8) : try bleshell.octets(text, hint: hint)
    guard mask.map({ $0.count == octets.count }) ?? true else {
      throw Failure("--mask must have as many octets as the value", status: 64)
    }
    self = .octets(octets, mask: mask)
  }

  private static func range(_ text: String) -> ClosedRange<Double>? {
    guard let dots = text.firstRange(of: "..") else { return nil }
    let (before, behind) = (text[..<dots.lowerBound], text[dots.upperBound...])
    guard let lower = before.isEmpty ? -Double.infinity : Double(before),
      let upper = behind.isEmpty ? Double.infinity : Double(behind), lower <= upper, before.count + behind.count > 0
    else { return nil }
    return lower...upper
  }

  /// Returns true if a value is expected.
  func fits(_ value: [UInt8], of attribute: Attribute) -> Bool {
    switch self {
    case .any: true
    case .octets(let octets, nil): value == octets
    case .octets(let octets, let mask?):
      value.count == octets.count && zip(zip(value, octets), mask).allSatisfy { ($0.0 ^ $0.1) & $1 == 0 }
    case .range(let range): Self.number(value, of: attribute).map(range.contains) ?? false
    }
  }

  private static func number(_ value: [UInt8], of attribute: Attribute) -> Double? {
    if let number = attribute.meaning(of: value)?.number { return number }
    guard !value.isEmpty, value.count <= 8 else { return nil }
    return Double(value.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
