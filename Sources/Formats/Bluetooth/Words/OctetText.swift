import Glibc

/// A text that equals another one only octet for octet.
///
/// Swift compares and hashes strings by canonical equivalence (Unicode Standard Annex 15): "é" equals "e" with a
/// combining accent, in a time quadratic in the run of combining characters. Neither is acceptable for a text from
/// outside: different identifiers stay different, and none costs more than its length. Limit its length before it is
/// stored as a key.
public struct OctetText: Hashable, Sendable {
  /// The text itself.
  public let string: String

  /// Wraps a text.
  public init(_ string: String) { self.string = string }

  /// Returns true if both have the same octets in UTF-8.
  public static func == (left: OctetText, right: OctetText) -> Bool { left.string.hasSameOctets(as: right.string) }

  /// Hashes the octets.
  public func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension OctetText: ExpressibleByStringLiteral {
  /// Wraps a literal, such as a `case` pattern.
  public init(stringLiteral value: String) { self.init(value) }
}

extension String {
  /// Returns true if both have the same octets in UTF-8; see `OctetText`.
  public func hasSameOctets(as other: String) -> Bool {
    var (left, right) = (self, other)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
          return left.count == right.count
        }
        return memcmp(start, other, left.count) == 0
      }
    }
  }

  /// A text from outside as a message may quote it: its first 64 octets at the most, without control characters.
  public var excerpt: String {
    var excerpt = String.UnicodeScalarView()
    var octets = 0
    for scalar in unicodeScalars {
      octets += UTF8.width(scalar)
      guard octets <= 64 else { return String(excerpt) + "…" }
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      excerpt.append(isControl ? "\u{FFFD}" : scalar)
    }
    return String(excerpt)
  }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
  /// The case with this name, which may be from outside: `init(rawValue:)` compares by canonical equivalence.
  public init?(word: String) {
    guard let found = Self.allCases.first(where: { $0.rawValue.hasSameOctets(as: word) }) else { return nil }
    self = found
  }
}
