/// A file's value and its beginning.
struct JSON5Node: Sendable {
  enum Content: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSON5Node])
    case object([Member])
  }

  struct Member: Sendable {
    let name: String
    let place: FilePlace
    let value: JSON5Node
  }

  let place: FilePlace
  let content: Content
}

/// Parses JSON5 (https://spec.json5.org) into a tree. A name may not occur twice in an object.
struct JSON5Parser {
  /// A syntax error: its place, and the expected value.
  struct Fault: Error {
    let place: FilePlace
    let message: String
  }

  /// The deepest nesting; it bounds the recursion, and no real file reaches it.
  private static let deepest = 200
  /// The longest name, and the longest value without quotation marks, in octets; all meaningful ones are shorter.
  private static let longestName = 256

  private let text: [UInt8]
  private var index = 0
  private var line = 1
  /// The progress of counting the line's columns.
  private var counted = (index: 0, column: 1)

  /// The value of a whole text.
  static func parse(_ text: [UInt8]) throws(Fault) -> JSON5Node {
    var parser = JSON5Parser(text: text)
    let value = try parser.value(depth: 0)
    try parser.blank()
    guard parser.index == text.count else {
      throw parser.fault("there is more after the end of the value: look for a superfluous bracket")
    }
    return value
  }

  private init(text: [UInt8]) { self.text = text }

  // MARK: Octets

  private var next: UInt8? { index < text.count ? text[index] : nil }

  /// True if these octets are next.
  private func isNext(_ octets: some Collection<UInt8>) -> Bool { text[index...].starts(with: octets) }

  private mutating func place() -> FilePlace {
    counted.column += text[counted.index..<index].count { $0 & 0xC0 != 0x80 }
    counted.index = index
    return FilePlace(line: line, column: counted.column)
  }

  private mutating func fault(_ message: String) -> Fault { Fault(place: place(), message: message) }

  private mutating func accept(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  /// Passes over one octet, which may end a line.
  private mutating func skip() {
    if next == UInt8(ascii: "\n") {
      line += 1
      counted = (index + 1, 1)
    }
    index += 1
  }

  /// Passes over white space and comments.
  private mutating func blank() throws(Fault) {
    while let octet = next {
      switch octet {
      case 0x20, 0x09...0x0D: skip()
      case UInt8(ascii: "/"): try comment()
      // No-break space, line and paragraph separator, byte order mark.
      case 0xC2 where isNext([0xC2, 0xA0]): index += 2
      case 0xE2 where isNext([0xE2, 0x80, 0xA8]) || isNext([0xE2, 0x80, 0xA9]): index += 3
      case 0xEF where isNext([0xEF, 0xBB, 0xBF]): index += 3
      default: return
      }
    }
  }

  private mutating func comment() throws(Fault) {
    if isNext("//".utf8) {
      while let octet = next, octet != UInt8(ascii: "\n") { index += 1 }
    } else if isNext("/*".utf8) {
      let open = fault("this comment has no end: close it with */")
      index += 2
      while !isNext("*/".utf8) {
        guard next != nil else { throw open }
        skip()
      }
      index += 2
    } else {
      throw fault("this / is not valid: a comment begins with // or /*")
    }
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(Fault) -> JSON5Node {
    try blank()
    guard depth < Self.deepest else { throw fault("this is nested too deeply") }
    let place = place()
    let content: JSON5Node.Content
    switch next {
    case UInt8(ascii: "{"): content = .object(try object(depth))
    case UInt8(ascii: "["): content = .array(try array(depth))
    case UInt8(ascii: "\""), UInt8(ascii: "'"): content = .text(try string())
    default: content = try word()
    }
    return JSON5Node(place: place, content: content)
  }

  private mutating func array(_ depth: Int) throws(Fault) -> [JSON5Node] {
    var elements: [JSON5Node] = []
    try list(to: "]") { parser throws(Fault) in elements.append(try parser.value(depth: depth + 1)) }
    return elements
  }

  private mutating func object(_ depth: Int) throws(Fault) -> [JSON5Node.Member] {
    var members: [JSON5Node.Member] = []
    // Strings that are equal in Swift may have different octets.
    var places: [[UInt8]: FilePlace] = [:]
    try list(to: "}") { parser throws(Fault) in
      let place = parser.place()
      let name = try parser.name()
      guard name.utf8.count <= Self.longestName else {
        throw Fault(place: place, message: "this name is longer than \(Self.longestName) octets: shorten it")
      }
      if let first = places.updateValue(place, forKey: Array(name.utf8)) {
        throw Fault(place: place, message: "\"\(shown(name))\" is already defined at \(first): remove one of them")
      }
      try parser.blank()
      guard parser.accept(":") else { throw parser.fault("a colon is missing here") }
      members.append(JSON5Node.Member(name: name, place: place, value: try parser.value(depth: depth + 1)))
    }
    return members
  }

  /// Elements separated by commas, with an optional comma after the last.
  private mutating func list(
    to end: Unicode.Scalar, _ element: (inout JSON5Parser) throws(Fault) -> Void
  ) throws(Fault) {
    let open = fault("this bracket is never closed: add \(end)")
    index += 1
    try blank()
    while !accept(end) {
      guard next != nil else { throw open }
      try element(&self)
      try blank()
      guard next != nil else { throw open }
      guard accept(",") || next == UInt8(ascii: end) else { throw fault("a comma or \(end) is missing here") }
      try blank()
    }
  }

  /// The octets up to a delimiter: a number, a name without quotes, true, false or null.
  private mutating func token() -> ArraySlice<UInt8> {
    let start = index
    while let octet = next, octet > 0x20, !Self.delimiters.contains(octet) { index += 1 }
    return text[start..<index]
  }

  private static let delimiters = Array("{}[]:,\"'/".utf8)

  private mutating func word() throws(Fault) -> JSON5Node.Content {
    let missing = fault("a value is missing here")
    let token = token()
    guard !token.isEmpty else { throw missing }
    let word = String(decoding: token.prefix(Self.longestName), as: UTF8.self)
    switch word {
    case "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      guard token.count <= Self.longestName, let number = JSON5Number.value(of: token) else {
        throw Fault(
          place: missing.place, message: "\"\(shown(word))\" is not a value: put strings between quotation marks")
      }
      return .number(number)
    }
  }

  // MARK: Text

  private mutating func name() throws(Fault) -> String {
    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return try string() }
    let missing = fault("a name is missing here")
    let token = token()
    guard !token.isEmpty else { throw missing }
    guard let name = String(validating: token, as: UTF8.self), Self.isIdentifier(name) else {
      throw Fault(place: missing.place, message: "this name needs quotation marks")
    }
    return name
  }

  /// Letters, digits, `_` and `$`, and no digit first (ECMAScript 5.1, 7.6).
  private static func isIdentifier(_ name: String) -> Bool {
    func isPart(_ scalar: Unicode.Scalar) -> Bool {
      scalar == "$" || scalar == "_" || scalar.properties.isIDContinue
    }
    guard let first = name.unicodeScalars.first else { return false }
    return isPart(first) && (first == "_" || first == "$" || first.properties.isIDStart)
      && name.unicodeScalars.allSatisfy(isPart)
  }

  private mutating func string() throws(Fault) -> String {
    let open = fault("this string has no end: add a quotation mark")
    let quote = next
    index += 1
    var octets: [UInt8] = []
    while let octet = next, octet != UInt8(ascii: "\n") {
      if octet == quote {
        index += 1
        guard let text = String(validating: octets, as: UTF8.self) else {
          throw Fault(place: open.place, message: "this string is not valid UTF-8: save the file as UTF-8")
        }
        return text
      }
      if octet == UInt8(ascii: "\\") {
        try escape(into: &octets)
      } else {
        octets.append(octet)
        index += 1
      }
    }
    throw open
  }

  private mutating func escape(into octets: inout [UInt8]) throws(Fault) {
    let wrong = fault("this escape sequence is not valid: write \\\\ for a backslash")
    index += 1
    guard let octet = next else { return }
    switch octet {
    case UInt8(ascii: "b"): octets.append(0x08)
    case UInt8(ascii: "f"): octets.append(0x0C)
    case UInt8(ascii: "n"): octets.append(0x0A)
    case UInt8(ascii: "r"): octets.append(0x0D)
    case UInt8(ascii: "t"): octets.append(0x09)
    case UInt8(ascii: "v"): octets.append(0x0B)
    case UInt8(ascii: "0"): octets.append(0)
    case UInt8(ascii: "1")...UInt8(ascii: "9"): throw wrong
    case UInt8(ascii: "\r") where isNext("\r\n".utf8): index += 1
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): break
    case UInt8(ascii: "x"), UInt8(ascii: "u"):
      index += 1
      guard let scalar = character(digits: octet == UInt8(ascii: "x") ? 2 : 4) else { throw wrong }
      octets += Array(String(scalar).utf8)
      return
    default: octets.append(octet)
    }
    // A string may continue on the next line.
    skip()
  }

  /// The character of an escape sequence after its letter was read; a surrogate pair takes two sequences.
  private mutating func character(digits: Int) -> Unicode.Scalar? {
    guard let first = hex(digits) else { return nil }
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard isNext("\\u".utf8) else { return nil }
    index += 2
    guard let second = hex(4), (0xDC00..<0xE000).contains(second) else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private mutating func hex(_ count: Int) -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<count {
      guard let octet = next, let digit = JSON5Number.digit(octet) else { return nil }
      value = value << 4 | digit
      index += 1
    }
    return value
  }
}

/// Numbers as JSON5 writes them: numbers of JSON, and also `+1`, `.5`, `5.`, `0xFF`, `Infinity` and `NaN`.
private enum JSON5Number {
  /// The number denoted by these octets, rounded to a `Double`; nil if there is none.
  static func value(of octets: some BidirectionalCollection<UInt8>) -> Double? {
    let isNegative = octets.first == UInt8(ascii: "-")
    let hasSign = isNegative || octets.first == UInt8(ascii: "+")
    let digits = Array(octets.dropFirst(hasSign ? 1 : 0))
    guard let value = magnitude(digits) else { return nil }
    return isNegative ? -value : value
  }

  private static func magnitude(_ digits: [UInt8]) -> Double? {
    if digits.elementsEqual("Infinity".utf8) { return .infinity }
    if digits.elementsEqual("NaN".utf8) { return .nan }
    if digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8) {
      var value = 0.0
      for octet in digits.dropFirst(2) {
        guard let digit = digit(octet) else { return nil }
        value = value * 16 + Double(digit)
      }
      return digits.count > 2 ? value : nil
    }
    var rest = digits[...]
    let whole = readDigits(&rest)
    guard whole.count < 2 || whole.first != UInt8(ascii: "0") else { return nil }
    var fraction: ArraySlice<UInt8> = []
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      fraction = readDigits(&rest)
    }
    guard !whole.isEmpty || !fraction.isEmpty else { return nil }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
      guard !readDigits(&rest).isEmpty else { return nil }
    }
    guard rest.isEmpty else { return nil }
    return Double(String(decoding: digits, as: UTF8.self))
  }

  private static func readDigits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest.dropFirst(digits.count)
    return digits
  }

  /// A hex digit's value.
  static func digit(_ octet: UInt8) -> UInt32? {
    Character(Unicode.Scalar(octet)).hexDigitValue.map(UInt32.init)
  }
}
