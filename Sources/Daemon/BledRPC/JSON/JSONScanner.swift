import Bluetooth
import Glibc

/// Reads JSON of the plain form in one pass: ASCII only, no escapes in strings, integers of at most 18 digits where one
/// is expected, no repeated member, within the limits of `JSONChecker`.
///
/// Almost every line on the socket has this form. For any other the methods return nil, and the caller uses
/// `JSONChecker` and `JSONReader`, which support all of JSON and describe the error. So this may reject valid JSON, but
/// must never accept invalid JSON; the fuzz target `rpc` compares the two.
public struct JSONScanner {

  /// The characters of a string, without its quotation marks.
  struct Text {
    fileprivate let codes: UnsafeBufferPointer<UInt8>

    /// The number of octets.
    var count: Int { codes.count }

    /// The string itself.
    var string: String { String(decoding: codes, as: UTF8.self) }

    /// The octets that a string of hex digits represents.
    var hex: [UInt8]? { Hex.decode(codes) }

    static func ~= (literal: StaticString, text: Text) -> Bool {
      let count = literal.utf8CodeUnitCount
      guard count == text.codes.count, let start = text.codes.baseAddress else { return false }
      return memcmp(start, literal.utf8Start, count) == 0
    }
  }

  private let codes: UnsafeBufferPointer<UInt8>
  /// The number of octets read.
  private(set) var position = 0

  /// Makes a scanner, which must not outlive the buffer; nor must the strings that it returns.
  @usableFromInline init(_ codes: UnsafeBufferPointer<UInt8>) { self.codes = codes }

  /// Returns true if nothing but white space follows.
  @usableFromInline mutating func isAtEnd() -> Bool { next() == nil }

  /// The code of the next character that is not white space; it is not consumed.
  private mutating func next() -> UInt8? {
    while position < codes.count {
      switch codes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      case let code: return code
      }
    }
    return nil
  }

  private mutating func accept(_ character: Unicode.Scalar) -> Bool {
    guard next() == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func accept(word: StaticString) -> Bool {
    let end = position + word.utf8CodeUnitCount
    guard end <= codes.count, word ~= Text(codes: UnsafeBufferPointer(rebasing: codes[position..<end])) else {
      return false
    }
    position = end
    return true
  }

  /// True if an object is next.
  var isAtObject: Bool {
    mutating get { next() == UInt8(ascii: "{") }
  }

  /// True if a string is next.
  var isAtText: Bool {
    mutating get { next() == UInt8(ascii: "\"") }
  }

  /// Reads an object. `body` reads the value of each member.
  /// - Returns: true if it is one and `body` never returned false.
  mutating func object(_ body: (Text, inout JSONScanner) -> Bool) -> Bool {
    guard accept("{") else { return false }
    if accept("}") { return true }
    while true {
      guard let name = text(), name.count <= JSONChecker.longestName, accept(":"), body(name, &self) else {
        return false
      }
      if accept(",") { continue }
      return accept("}")
    }
  }

  /// Reads a string.
  mutating func text() -> Text? {
    guard accept("\"") else { return nil }
    let start = position
    while position < codes.count {
      switch codes[position] {
      case UInt8(ascii: "\""):
        defer { position += 1 }
        return Text(codes: UnsafeBufferPointer(rebasing: codes[start..<position]))
      case UInt8(ascii: "\\"), 0..<0x20, 0x7F...: return nil
      default: position += 1
      }
    }
    return nil
  }

  /// Reads an integer that is written without fraction and exponent.
  mutating func integer() -> Int? {
    let isNegative = accept("-")
    guard let first = position < codes.count ? codes[position] : nil else { return nil }
    var value = 0
    let start = position
    while position < codes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = codes[position] {
      guard position - start < 18 else { return nil }
      value = value * 10 + Int(codes[position] - UInt8(ascii: "0"))
      position += 1
    }
    guard position > start, first != UInt8(ascii: "0") || position == start + 1 else { return nil }
    if position < codes.count {
      switch codes[position] {
      case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
      default: break
      }
    }
    return isNegative ? -value : value
  }

  /// Reads a number that is written without exponent, in at most 24 characters.
  mutating func decimal() -> Double? {
    _ = next()
    let start = position
    _ = accept("-")
    let whole = position
    guard let digits = digits(), digits == 1 || codes[whole] != UInt8(ascii: "0") else { return nil }
    if position < codes.count, codes[position] == UInt8(ascii: ".") {
      position += 1
      guard self.digits() != nil else { return nil }
    }
    guard position - start <= 24, position == codes.count || codes[position] | 0x20 != UInt8(ascii: "e") else {
      return nil
    }
    return Double(String(decoding: codes[start..<position], as: UTF8.self))
  }

  /// Skips digits.
  /// - Returns: their number; nil if there are none, or more than any valid number has.
  private mutating func digits() -> Int? {
    let start = position
    while position < codes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = codes[position] {
      guard position - start < 20 else { return nil }
      position += 1
    }
    return position > start ? position - start : nil
  }

  /// Reads `true` or `false`.
  mutating func bool() -> Bool? {
    switch next() {
    case UInt8(ascii: "t"): accept(word: "true") ? true : nil
    case UInt8(ascii: "f"): accept(word: "false") ? false : nil
    default: nil
    }
  }

  /// Skips any value.
  /// - Returns: where it is; nil if it does not have the plain form.
  mutating func skip() -> Range<Int>? {
    guard next() != nil else { return nil }
    let start = position
    return skipValue(depth: 0) ? start..<position : nil
  }

  private mutating func skipValue(depth: Int) -> Bool {
    guard depth < JSONChecker.deepest, let first = next() else { return false }
    switch first {
    case UInt8(ascii: "{"): return object { $1.skipValue(depth: depth + 1) }
    case UInt8(ascii: "["):
      position += 1
      if accept("]") { return true }
      while skipValue(depth: depth + 1) {
        if !accept(",") { return accept("]") }
      }
      return false
    case UInt8(ascii: "\""): return text() != nil
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return bool() != nil
    case UInt8(ascii: "n"): return accept(word: "null")
    default: return skipNumber()
    }
  }

  private mutating func skipNumber() -> Bool {
    _ = accept("-")
    let start = position
    let whole = skipDigits()
    guard whole > 0, whole == 1 || codes[start] != UInt8(ascii: "0") else { return false }
    if octet == UInt8(ascii: ".") {
      position += 1
      guard skipDigits() > 0 else { return false }
    }
    if octet == UInt8(ascii: "e") || octet == UInt8(ascii: "E") {
      position += 1
      if octet == UInt8(ascii: "+") || octet == UInt8(ascii: "-") { position += 1 }
      guard skipDigits() > 0 else { return false }
    }
    return true
  }

  /// The octet at `position`, white space or not.
  private var octet: UInt8? { position < codes.count ? codes[position] : nil }

  /// - Returns: their number.
  private mutating func skipDigits() -> Int {
    let start = position
    while position < codes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = codes[position] { position += 1 }
    return position - start
  }
}
