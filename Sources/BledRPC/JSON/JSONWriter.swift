import Bluetooth
import FoundationEssentials

/// Writes JSON without `JSONEncoder`, for the envelope of every line and for messages that occur thousands of times a
/// second.
struct JSONWriter {
  /// The octets written so far.
  private(set) var codes: [UInt8] = []
  /// Whether a member precedes in the innermost object or array.
  private var needsComma = false

  /// Makes a writer with room for a short line.
  init() { codes.reserveCapacity(256) }

  /// The octets written so far, followed by a line feed.
  var line: Data { Data(codes + CollectionOfOne(UInt8(ascii: "\n"))) }

  /// Writes an object; `body` writes its members.
  mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    try nested("{", "}", body)
  }

  /// Writes an array; `body` writes its elements, each after `separate()`.
  mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
    try nested("[", "]", body)
  }

  /// Writes the comma before an element, if another one precedes.
  mutating func separate() {
    if needsComma { codes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes the name of a member, whose value must follow.
  mutating func name(_ name: StaticString) {
    separate()
    codes.append(UInt8(ascii: "\""))
    codes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    codes.append(UInt8(ascii: "\""))
    codes.append(UInt8(ascii: ":"))
  }

  /// Writes the name of a member that is not known in advance.
  mutating func name(_ name: String) {
    separate()
    value(name)
    codes.append(UInt8(ascii: ":"))
  }

  /// Writes a string.
  mutating func value(_ text: String) {
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

  /// Writes octets as a string of hex digits.
  mutating func value(_ octets: HexBytes) {
    codes.append(UInt8(ascii: "\""))
    for octet in octets.octets {
      codes.append(Self.digits[Int(octet >> 4)])
      codes.append(Self.digits[Int(octet & 15)])
    }
    codes.append(UInt8(ascii: "\""))
  }

  /// Writes an integer.
  mutating func value(_ number: some BinaryInteger) { codes.append(contentsOf: "\(number)".utf8) }

  /// Writes `null`.
  mutating func null() { codes.append(contentsOf: "null".utf8) }

  /// Writes `true` or `false`.
  mutating func value(_ bool: Bool) { codes.append(contentsOf: (bool ? "true" : "false").utf8) }

  /// Writes a number.
  /// - Throws: for infinities and NaN, which JSON does not have.
  mutating func value(_ number: Double) throws {
    guard number.isFinite else { return try encoded(number) }
    codes.append(contentsOf: "\(number)".utf8)
  }

  /// Writes any value: with its own method if it is `PlainWritable`, else with `JSONEncoder`.
  mutating func value(any value: some Encodable) throws {
    if let plain = value as? any PlainWritable { try plain.write(to: &self) } else { try encoded(value) }
  }

  private mutating func encoded(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    codes.append(contentsOf: try encoder.encode(value))
  }

  private mutating func nested(
    _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ body: (inout JSONWriter) throws -> Void
  ) rethrows {
    codes.append(UInt8(ascii: opening))
    needsComma = false
    try body(&self)
    codes.append(UInt8(ascii: closing))
    needsComma = true
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func mustBeEscaped(_ code: UInt8) -> Bool {
    code < 0x20 || code == UInt8(ascii: "\"") || code == UInt8(ascii: "\\")
  }

  private mutating func appendEscaped(_ code: UInt8) {
    guard Self.mustBeEscaped(code) else { return codes.append(code) }
    codes.append(UInt8(ascii: "\\"))
    guard code < 0x20 else { return codes.append(code) }
    codes.append(contentsOf: "u00".utf8)
    codes.append(Self.digits[Int(code >> 4)])
    codes.append(Self.digits[Int(code & 15)])
  }
}

/// Params or a result that write themselves without `JSONEncoder`, with the same result.
protocol PlainWritable {
  /// Writes all of it, as one JSON value.
  func write(to writer: inout JSONWriter) throws
}
