import Bluetooth
import FoundationEssentials

/// Writes JSON without an encoder, for the envelope of every line and for messages that occur thousands of times a
/// second.
public struct JSONWriter {
  /// The octets written so far.
  package private(set) var codes: [UInt8] = []
  /// True if a member precedes in the innermost object or array.
  private var needsComma = false

  /// Makes a writer with room for a short line.
  package init() { codes.reserveCapacity(256) }

  /// Ends the line, and gives it.
  mutating func finishLine() -> Data {
    codes.append(UInt8(ascii: "\n"))
    return Data(copying: codes[...])
  }

  /// Begins an object with a constant first member; to be closed.
  mutating func beginObject(_ start: StaticString) {
    codes.append(contentsOf: UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount))
    needsComma = true
  }

  /// Writes an object; `body` writes its members.
  package mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    try nested("{", "}", body)
  }

  /// Writes an array; `body` writes its elements, each after `separate()`.
  package mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
    try nested("[", "]", body)
  }

  /// Writes the comma before an element, if another one precedes.
  package mutating func separate() {
    if needsComma { codes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes the name of a member, whose value must follow.
  package mutating func name(_ name: StaticString) {
    separate()
    codes.append(UInt8(ascii: "\""))
    codes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    codes.append(UInt8(ascii: "\""))
    codes.append(UInt8(ascii: ":"))
  }

  /// Writes the name of a member that is not known in advance.
  package mutating func name(_ name: String) {
    separate()
    value(name)
    codes.append(UInt8(ascii: ":"))
  }

  /// Writes a string.
  package mutating func value(_ text: String) {
    codes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      if utf8.contains(where: Self.mustBeEscaped) {
        for code in utf8 { appendEscaped(code) }
      } else {
        codes.append(contentsOf: utf8)
      }
    }
    codes.append(UInt8(ascii: "\""))
  }

  /// Writes a word.
  mutating func value<Known>(_ word: Word<Known>) { value(word.text) }

  /// Writes octets as a string of hex digits.
  package mutating func value(_ octets: HexBytes) {
    codes.append(UInt8(ascii: "\""))
    let count = 2 * octets.octets.count
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { digits in
      var place = 0
      for octet in octets.octets {
        digits[place] = Self.digit(octet >> 4)
        digits[place + 1] = Self.digit(octet & 15)
        place += 2
      }
      codes.append(contentsOf: UnsafeBufferPointer(digits))
    }
    codes.append(UInt8(ascii: "\""))
  }

  /// Writes an integer.
  package mutating func value(_ number: some FixedWidthInteger) {
    if number < 0 { codes.append(UInt8(ascii: "-")) }
    var first = codes.count
    var rest = number.magnitude
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      codes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      rest = quotient
    } while rest > 0
    // Not reversed as a slice, which would copy all codes.
    var last = codes.count - 1
    while first < last {
      codes.swapAt(first, last)
      first += 1
      last -= 1
    }
  }

  /// Writes `null`.
  package mutating func null() { codes.append(contentsOf: "null".utf8) }

  /// Writes `true` or `false`.
  package mutating func value(_ bool: Bool) { codes.append(contentsOf: (bool ? "true" : "false").utf8) }

  /// Writes a number.
  /// - Throws: for infinities and NaN, which JSON does not have.
  package mutating func value(_ number: Double) throws {
    guard number.isFinite else { return try encode(number) }
    codes.append(contentsOf: "\(number)".utf8)
  }

  /// Writes a number that is in digits already.
  mutating func value(digits: Substring) { codes.append(contentsOf: digits.utf8) }

  /// Writes a value that is JSON already.
  package mutating func value(encoded value: Data) { codes.append(contentsOf: value) }

  /// Writes any value, with `JSONMemberEncoder`.
  package mutating func encode(_ value: some Encodable) throws {
    codes.append(contentsOf: try JSONMemberEncoder.encode(value).codes)
  }

  private mutating func nested(
    _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ body: (inout JSONWriter) throws -> Void
  ) rethrows {
    open(opening)
    try body(&self)
    close(closing)
  }

  /// Begins an object or an array, to be closed.
  mutating func open(_ bracket: Unicode.Scalar) {
    codes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  /// Ends an object or an array.
  mutating func close(_ bracket: Unicode.Scalar) {
    codes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// The code of a hex digit, 0 to 15; computed, since a table of this module costs a check of its initialisation.
  private static func digit(_ value: UInt8) -> UInt8 {
    value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }

  private static func mustBeEscaped(_ code: UInt8) -> Bool {
    code < 0x20 || code == UInt8(ascii: "\"") || code == UInt8(ascii: "\\")
  }

  private mutating func appendEscaped(_ code: UInt8) {
    guard Self.mustBeEscaped(code) else { return codes.append(code) }
    codes.append(UInt8(ascii: "\\"))
    guard code < 0x20 else { return codes.append(code) }
    codes.append(contentsOf: "u00".utf8)
    codes.append(Self.digit(code >> 4))
    codes.append(Self.digit(code & 15))
  }
}

extension Data {
  /// Copies octets at once: the initializer for any sequence examines its argument at run time.
  init(copying octets: ArraySlice<UInt8>) {
    self = octets.withUnsafeBytes { octets in octets.baseAddress.map { Data(bytes: $0, count: octets.count) } ?? Data()
    }
  }
}
