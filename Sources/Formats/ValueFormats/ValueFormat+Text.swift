extension ValueFormat {
  /// The longest text, in octets.
  static let longest = 1024
  /// The longest value of an attribute (Core 5.4, Vol 3, Part F, 3.2.9).
  static let longestValue = 512

  /// Reads a format, as `ValueFormat` describes it.
  public init(_ text: some StringProtocol) throws(ValueFormatError) {
    guard text.utf8.count <= Self.longest else {
      throw ValueFormatError(description: "the format is longer than \(Self.longest) octets: shorten it")
    }
    let parts = Self.parts(Array(String(text).unicodeScalars))
    var fields: [Field] = []
    for part in parts {
      var reader = FieldReader(part)
      let field = try reader.field(isOneOfSeveral: parts.count > 1)
      if let name = field.name, fields.contains(where: { $0.name == name }) {
        throw ValueFormatError(description: "two fields are named \(name)")
      }
      fields.append(field)
    }
    self.init(fields: fields)
  }

  /// Splits at the commas that are not in parentheses.
  private static func parts(_ text: [Unicode.Scalar]) -> [[Unicode.Scalar]] {
    var parts: [[Unicode.Scalar]] = [[]]
    var isInside = false
    for scalar in text {
      if scalar == "(" { isInside = true }
      if scalar == ")" { isInside = false }
      if scalar == ",", !isInside { parts.append([]) } else { parts[parts.count - 1].append(scalar) }
    }
    return parts
  }
}

/// Reads one field from the front of a text.
private struct FieldReader {
  private var rest: ArraySlice<Unicode.Scalar>

  init(_ text: [Unicode.Scalar]) {
    rest = text[...]
    while rest.last == " " { rest.removeLast() }
    skipBlanks()
  }

  mutating func field(isOneOfSeveral: Bool) throws(ValueFormatError) -> ValueFormat.Field {
    var field = ValueFormat.Field(type: try type())
    if take("@") { field.offset = try number(atMost: ValueFormat.longestValue, "an offset") }
    field.name = name(isOneOfSeveral: isOneOfSeveral)
    guard !isOneOfSeveral || field.name != nil else {
      throw fault("each of several fields needs a name behind its type, such as \"u8 state, i16 speed\"")
    }
    while let step = try step() { field.steps.append(step) }
    if let next = rest.first, next != " " { throw fault("\"\(shown(rest))\" is not understood behind a type") }
    skipBlanks()
    field.unit = String(String.UnicodeScalarView(rest))
    guard !rest.contains(";") else {
      throw fault("\"\(shown(rest))\" is not a unit: several fields have commas between them, \"u8 state, i16 speed\"")
    }
    guard field.unit.utf8.count <= 32, !rest.contains(where: isControl) else {
      throw fault("\"\(shown(rest))\" is not a unit: give at most 32 octets of text")
    }
    guard field.type.isNumber || field.steps.isEmpty && field.unit.isEmpty else {
      throw fault("only numbers have a scale and a unit")
    }
    return field
  }

  // MARK: The type

  private mutating func type() throws(ValueFormatError) -> ValueFormat.FieldType {
    let word = take { $0.properties.isAlphabetic && $0.isASCII || ("0"..."9").contains($0) }
    let letters = word.prefix { !("0"..."9").contains($0) }
    let digits = word.dropFirst(letters.count).prefix { ("0"..."9").contains($0) }
    let order = text(word.dropFirst(letters.count + digits.count))
    let isBig = order == "be"
    let bits = digits.count <= 3 ? Int(text(digits)) : nil
    let isOrdered = order.isEmpty || order == "le" || isBig
    let width = isOrdered ? bits.flatMap { (1...64).contains($0) ? $0 : nil } : nil
    let integer = width.map { ValueFormat.Integer(bits: $0, isBigEndian: isBig) }
    switch (text(letters), bits) {
    case ("u", _), ("uint", _): if let integer { return .integer(integer, isSigned: false) }
    case ("i", _), ("int", _), ("sint", _): if let integer { return .integer(integer, isSigned: true) }
    case ("f", 32?) where isOrdered, ("float", 32?) where isOrdered: return .float(octets: 4, isBigEndian: isBig)
    case ("f", 64?) where isOrdered, ("float", 64?) where isOrdered: return .float(octets: 8, isBigEndian: isBig)
    case ("medfloat", 16?) where order.isEmpty: return .medicalFloat(octets: 2)
    case ("medfloat", 32?) where order.isEmpty: return .medicalFloat(octets: 4)
    case ("bool", nil) where digits.isEmpty && order.isEmpty: return .flag
    case ("flags", _): if let integer { return .flags(integer, try flags(atMost: integer.bits)) }
    case ("enum", _): if let integer { return .choice(integer, try choices()) }
    case ("text", nil) where digits.isEmpty && order.isEmpty: return .text(octets: try length())
    case ("hex", nil) where digits.isEmpty && order.isEmpty: return .octets(try length())
    default: break
    }
    throw fault(
      "\"\(shown(word))\" is not a type: give one such as u8, i16, u16be, f32, bool, text, hex, flags8(a|b) or enum8(a|b)"
    )
  }

  private mutating func length() throws(ValueFormatError) -> Int? {
    guard take("[") else { return nil }
    let count = try number(atMost: ValueFormat.longestValue, "a length")
    guard take("]") else { throw fault("the closing ] is missing") }
    return count
  }

  /// The names in parentheses.
  private mutating func words() throws(ValueFormatError) -> [ArraySlice<Unicode.Scalar>] {
    guard take("(") else { throw fault("names in parentheses are missing, such as (off|on)") }
    let inside = take { $0 != ")" }
    guard take(")") else { throw fault("the closing ) is missing") }
    guard !inside.contains(where: isControl) else { throw fault("\"\(shown(inside))\" are not names") }
    return inside.split(separator: "|", omittingEmptySubsequences: false)
  }

  private mutating func flags(atMost bits: Int) throws(ValueFormatError) -> [String] {
    let names = try words().map(text)
    guard names.count <= bits else { throw fault("there are more names than bits: give at most \(bits)") }
    return names
  }

  private mutating func choices() throws(ValueFormatError) -> [UInt64: String] {
    var choices: [UInt64: String] = [:]
    var next: UInt64 = 0
    for word in try words() {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 {
        guard parts[0].count <= 18, let number = UInt64(text(parts[0])), !parts[0].contains("+") else {
          throw fault("\"\(shown(parts[0]))\" is not a number before =")
        }
        next = number
      }
      choices[next] = text(parts.last ?? [])
      next += 1
    }
    return choices
  }

  // MARK: Behind the type

  private mutating func name(isOneOfSeveral: Bool) -> String? {
    guard rest.first == " " else { return nil }
    var ahead = self
    ahead.skipBlanks()
    let word = ahead.take { $0 != " " && !"*+-/@()[]|=".unicodeScalars.contains($0) && !isControl($0) }
    guard !word.isEmpty, word.count <= 64 else { return nil }
    var behind = ahead
    // A single word behind a single field is a unit.
    guard isOneOfSeveral || (try? behind.step()) ?? nil != nil else { return nil }
    self = ahead
    return text(word)
  }

  private mutating func step() throws(ValueFormatError) -> ValueFormat.Step? {
    var ahead = self
    ahead.skipBlanks()
    guard let sign = ahead.rest.popFirst(), "*/+-".unicodeScalars.contains(sign) else { return nil }
    ahead.skipBlanks()
    let isNegative = sign == "*" || sign == "/" ? ahead.take("-") : false
    var digits = ahead.take { ("0"..."9").contains($0) || $0 == "." }
    // "m/s" is a unit.
    guard !digits.isEmpty else { return nil }
    if ahead.rest.first == "e", let next = ahead.rest.dropFirst().first, next == "-" || ("0"..."9").contains(next) {
      ahead.rest.removeFirst()
      digits = digits + "e".unicodeScalars + (ahead.take("-") ? Array("-".unicodeScalars) : [])
      digits += ahead.take { ("0"..."9").contains($0) }
    }
    let written = (isNegative || sign == "-" ? "-" : "") + text(digits)
    guard let number = ExactNumber(written[...]) else {
      throw fault("\"\(written)\" is not a number with at most 15 digits and 18 places")
    }
    self = ahead
    switch sign {
    case "*": return .times(number)
    case "/":
      guard number.mantissa != 0 else { throw fault("nothing can be divided by 0") }
      return .over(number)
    default: return .plus(number)
    }
  }

  private mutating func number(atMost limit: Int, _ what: String) throws(ValueFormatError) -> Int {
    let digits = take { ("0"..."9").contains($0) }
    guard digits.count <= 4, let number = Int(text(digits)), number <= limit else {
      throw fault("\"\(shown(digits))\" is not \(what): give 0 to \(limit)")
    }
    return number
  }

  // MARK: Scalars

  private mutating func skipBlanks() { while rest.first == " " { rest.removeFirst() } }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == scalar else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func take(while fits: (Unicode.Scalar) -> Bool) -> ArraySlice<Unicode.Scalar> {
    let taken = rest.prefix(while: fits)
    rest = rest.dropFirst(taken.count)
    return taken
  }

  private func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(scalars)) }

  private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
  }

  /// Text of the user in a message.
  private func shown(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    text(ArraySlice(scalars.prefix(40).map { isControl($0) ? "\u{FFFD}" : $0 }))
  }

  private func fault(_ text: String) -> ValueFormatError { ValueFormatError(description: text) }
}
