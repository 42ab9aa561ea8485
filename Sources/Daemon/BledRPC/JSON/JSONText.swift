import Bluetooth

/// JSON validated by `JSONChecker` or `JSONScanner`, with access to values by their place. Names and words are compared
/// as octets.
struct JSONText {
  let codes: UnsafeBufferPointer<UInt8>

  /// A member of an object. The name is without its quotation marks.
  struct Member {
    let name: Range<Int>
    let value: Range<Int>
  }

  private func skipSpace(from start: Int, to end: Int) -> Int {
    var position = start
    while position < end, codes[position].isJSONSpace { position += 1 }
    return position
  }

  /// The place of the first value within these octets.
  func value(in range: Range<Int>) -> Range<Int> {
    let start = skipSpace(from: range.lowerBound, to: range.upperBound)
    return start..<self.end(ofValueAt: start, before: range.upperBound)
  }

  /// The end of the value that begins at `start`; at most `end`.
  private func end(ofValueAt start: Int, before end: Int) -> Int {
    guard start < end else { return end }
    var position = start
    var depth = 0
    repeat {
      switch codes[position] {
      case UInt8(ascii: "\""): position = self.end(ofStringAt: position, before: end)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case .brace, .bracket:
        depth -= 1
        position += 1
      default:
        position += 1
        guard depth == 0 else { continue }
        // A number or a word.
        while position < end, !codes[position].endsJSONWord { position += 1 }
      }
    } while depth > 0 && position < end
    return position
  }

  private func end(ofStringAt start: Int, before end: Int) -> Int {
    var position = start + 1
    while position < end {
      switch codes[position] {
      case UInt8(ascii: "\""): return position + 1
      case UInt8(ascii: "\\"): position += 2
      default: position += 1
      }
    }
    return end
  }

  // MARK: Objects and arrays

  /// The members of an object.
  func members(of object: Range<Int>) -> [Member] {
    var members: [Member] = []
    let end = object.upperBound - 1
    var position = skipSpace(from: object.lowerBound + 1, to: end)
    while position < end {
      let name = position..<self.end(ofStringAt: position, before: end)
      // The colon.
      position = skipSpace(from: name.upperBound, to: end) + 1
      guard name.count >= 2, position <= end else { break }
      let value = value(in: position..<end)
      members.append(Member(name: name.lowerBound + 1..<name.upperBound - 1, value: value))
      position = skipSpace(from: afterComma(value.upperBound, end), to: end)
    }
    return members
  }

  /// The place of the next element of an array; nil behind the last.
  /// - Parameters:
  ///   - position: behind the opening bracket or the element before.
  ///   - array: the place of the array.
  func element(after position: Int, in array: Range<Int>) -> Range<Int>? {
    let end = array.upperBound - 1
    let start = skipSpace(from: afterComma(position, end), to: end)
    return start < end ? value(in: start..<end) : nil
  }

  private func afterComma(_ position: Int, _ end: Int) -> Int {
    let next = skipSpace(from: position, to: end)
    return next < end && codes[next] == UInt8(ascii: ",") ? next + 1 : next
  }

  /// True if a member has this name.
  func isNamed(_ member: Member, _ name: StaticString) -> Bool {
    isNamed(member, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  /// True if a member has this name.
  func isNamed(_ member: Member, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    let octets = codes[member.name]
    if octets.elementsEqual(name) { return true }
    guard octets.count > name.count, octets.contains(UInt8(ascii: "\\")) else { return false }
    return unescaped(member.name)?.elementsEqual(name) ?? false
  }

  // MARK: Simple values

  /// The first octet of a value, which determines its kind.
  func kind(of value: Range<Int>) -> UInt8? { value.isEmpty ? nil : codes[value.lowerBound] }

  /// True if a value is `null`.
  func isNull(_ value: Range<Int>) -> Bool { kind(of: value) == UInt8(ascii: "n") }

  /// The text between quotation marks; nil if it has half a surrogate pair.
  func string(_ content: Range<Int>) -> String? {
    let octets = codes[content]
    guard octets.contains(UInt8(ascii: "\\")) else { return String(decoding: octets, as: UTF8.self) }
    return unescaped(content).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The octets that text with escape sequences represents; nil if it has half a surrogate pair.
  private func unescaped(_ content: Range<Int>) -> [UInt8]? {
    var octets: [UInt8] = []
    octets.reserveCapacity(content.count)
    var rest = codes[content]
    while let code = rest.popFirst() {
      guard code == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
        octets.append(code)
        continue
      }
      switch escaped {
      case UInt8(ascii: "b"): octets.append(0x08)
      case UInt8(ascii: "f"): octets.append(0x0C)
      case UInt8(ascii: "n"): octets.append(0x0A)
      case UInt8(ascii: "r"): octets.append(0x0D)
      case UInt8(ascii: "t"): octets.append(0x09)
      case UInt8(ascii: "u"):
        guard let scalar = Self.scalar(&rest) else { return nil }
        octets.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      default: octets.append(escaped)
      }
    }
    return octets
  }

  /// Reads the digits behind "\u", and the second half of a surrogate pair.
  private static func scalar(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Unicode.Scalar? {
    guard let first = UInt16(hex: rest.prefix(4)) else { return nil }
    rest = rest.dropFirst(4)
    guard UTF16.isSurrogate(first) else { return Unicode.Scalar(first) }
    guard UTF16.isLeadSurrogate(first), rest.starts(with: "\\u".utf8),
      let second = UInt16(hex: rest.dropFirst(2).prefix(4)), UTF16.isTrailSurrogate(second)
    else { return nil }
    rest = rest.dropFirst(6)
    return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
  }

  /// The integer value of a number, which may be written as "1.0" or "1e3"; nil if it is not an integer, or out of
  /// range.
  func integer<Value: FixedWidthInteger>(_ value: Range<Int>, as _: Value.Type = Value.self) -> Value? {
    var result: Value = 0
    let isNegative = kind(of: value) == UInt8(ascii: "-")
    for code in codes[value].dropFirst(isNegative ? 1 : 0) {
      guard case UInt8(ascii: "0")...UInt8(ascii: "9") = code else {
        return double(value).flatMap { Value(exactly: $0) }
      }
      let digit = Value(truncatingIfNeeded: code - UInt8(ascii: "0"))
      let (product, isLarge) = result.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) =
        isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if isLarge || isLarger { return nil }
      result = sum
    }
    return result
  }

  /// The number; nil if it is infinite as a `Double`, or has more than 128 digits.
  func double(_ value: Range<Int>) -> Double? {
    guard value.count <= 128 else { return nil }
    return Double(String(decoding: codes[value], as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
  }
}

extension UInt8 {
  /// True if it can follow a number or a word.
  fileprivate var endsJSONWord: Bool {
    switch self {
    case UInt8(ascii: ","), .brace, .bracket: true
    default: isJSONSpace
    }
  }
}
