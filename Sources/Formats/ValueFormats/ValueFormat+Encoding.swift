import Bluetooth

extension ValueFormat {
  /// Makes the octets of a value: the reverse of `read`.
  /// - Parameter text: The value of the field; of several fields, all of them in their order with commas between them.
  ///   A value may have the name of its field before it and the unit behind it, as in the text of a value.
  /// - Throws: A value that does not fit its field: its type, its range, or the steps of its arithmetic.
  public func octets(of text: String) throws(ValueFormatError) -> [UInt8] {
    let parts = fields.count == 1 ? [text[...]] : text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == fields.count else {
      throw ValueFormatError(
        description: "the format has \(fields.count) fields: give as many values, with commas between them")
    }
    var all: [UInt8] = []
    var end = 0
    for (field, part) in zip(fields, parts) {
      let octets = try FieldWriter(field, part).octets()
      let start = field.offset ?? end
      end = start + octets.count
      guard end <= Self.longestValue else {
        throw ValueFormatError(description: "the value is longer than \(Self.longestValue) octets")
      }
      if all.count < end { all += [UInt8](repeating: 0, count: end - all.count) }
      all.replaceSubrange(start..<end, with: octets)
    }
    return all
  }
}

/// Makes the octets of one field.
private struct FieldWriter {
  private let field: ValueFormat.Field
  private let text: String

  init(_ field: ValueFormat.Field, _ part: Substring) {
    self.field = field
    var rest = part
    func trim() {
      while rest.first == " " { rest.removeFirst() }
      while rest.last == " " { rest.removeLast() }
    }
    trim()
    if let name = field.name, rest.hasPrefix(name + " ") { rest = rest.dropFirst(name.count) }
    if field.type.isNumber, !field.unit.isEmpty, rest.hasSuffix(field.unit) { rest = rest.dropLast(field.unit.count) }
    if case .text = field.type {} else { trim() }
    text = String(rest)
  }

  func octets() throws(ValueFormatError) -> [UInt8] {
    switch field.type {
    case .integer(let integer, let isSigned): return try integer.octets(raw(integer, isSigned: isSigned))
    case .float(let octets, let isBigEndian):
      let number = try binary()
      guard octets == 8 || Float(number).isFinite else { throw fault("\"\(text)\" does not fit into f32") }
      let bits = octets == 4 ? UInt64(Float(number).bitPattern) : number.bitPattern
      return ValueFormat.Integer(bits: octets * 8, isBigEndian: isBigEndian).octets(bits)
    case .medicalFloat: throw fault("a medfloat cannot be written: give its octets in hex, without --as")
    case .flag:
      switch text {
      case "yes", "true", "on", "1": return [1]
      case "no", "false", "off", "0": return [0]
      default: throw fault("\"\(text)\" is neither yes nor no")
      }
    case .flags(let integer, let names): return integer.octets(try bits(of: names))
    case .choice(let integer, let names):
      let number = names.filter { $0.value == text }.map(\.key).min() ?? UInt64(text)
      guard let number, number <= integer.largest else { throw fault("\"\(text)\" is not one of its names") }
      return integer.octets(number)
    case .text(let count): return try padded(Array(text.utf8), to: count)
    case .octets(let count):
      guard let octets = Hex.decode(text.filter { $0 != " " }) else {
        throw fault("\"\(text)\" is not an even number of hex digits")
      }
      guard octets.count == count ?? octets.count else { throw fault("it has \(count ?? 0) octets") }
      return octets
    }
  }

  /// The integer before the steps of the arithmetic, as bits.
  private func raw(_ integer: ValueFormat.Integer, isSigned: Bool) throws(ValueFormatError) -> UInt64 {
    if field.steps.isEmpty {
      if isSigned, let number = Int64(text), integer.signedRange.contains(number) { return UInt64(bitPattern: number) }
      if !isSigned, let number = UInt64(text), number <= integer.largest { return number }
    }
    let number = try binary()
    let whole = number.rounded()
    guard abs(number - whole) <= 1e-6 * max(1, abs(number)) else {
      throw fault("\"\(text)\" is between two values of its format")
    }
    if isSigned, let exact = Int64(exactly: whole), integer.signedRange.contains(exact) {
      return UInt64(bitPattern: exact)
    }
    if !isSigned, let exact = UInt64(exactly: whole), exact <= integer.largest { return exact }
    throw fault("\"\(text)\" does not fit into \(isSigned ? "i" : "u")\(integer.bits)")
  }

  /// The number before the steps.
  private func binary() throws(ValueFormatError) -> Double {
    guard let number = Double(text), number.isFinite else { throw fault("\"\(text)\" is not a number") }
    var rest = number
    for step in field.steps.reversed() {
      switch step {
      case .times(let other): rest /= other.value
      case .over(let other): rest *= other.value
      case .plus(let other): rest -= other.value
      }
    }
    guard rest.isFinite else { throw fault("\"\(text)\" does not fit") }
    return rest
  }

  /// Names with + or blanks between them; "none" for no bit.
  private func bits(of names: [String]) throws(ValueFormatError) -> UInt64 {
    var bits: UInt64 = 0
    for word in text.split(whereSeparator: { $0 == "+" || $0 == " " }) where word != "none" {
      guard let place = names.firstIndex(of: String(word)) else { throw fault("\"\(word)\" is not one of its names") }
      bits |= 1 << UInt64(place)
    }
    return bits
  }

  private func padded(_ octets: [UInt8], to count: Int?) throws(ValueFormatError) -> [UInt8] {
    guard let count else { return octets }
    guard octets.count <= count else { throw fault("\"\(text)\" is longer than \(count) octets") }
    return octets + [UInt8](repeating: 0, count: count - octets.count)
  }

  private func fault(_ text: String) -> ValueFormatError {
    ValueFormatError(description: (field.name.map { "\($0): " } ?? "") + text)
  }
}

extension ValueFormat.Integer {
  fileprivate var largest: UInt64 { bits < 64 ? 1 << UInt64(bits) - 1 : .max }

  fileprivate var signedRange: ClosedRange<Int64> {
    let unused = Int64(64 - bits)
    return Int64.min >> unused...Int64.max >> unused
  }

  /// The lowest bits of a number, in order.
  fileprivate func octets(_ number: UInt64) -> [UInt8] {
    let kept = number & largest
    let little = (0..<octets).map { UInt8(truncatingIfNeeded: kept >> (8 * UInt64($0))) }
    return isBigEndian ? little.reversed() : little
  }
}
