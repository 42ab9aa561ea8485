/// Octets read from the front; numbers have their most significant octet first.
struct OctetReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ octets: some Sequence<UInt8>) { rest = ArraySlice(Array(octets)) }

  /// The next octets; nil if there are fewer.
  mutating func octets(_ count: Int) -> [UInt8]? {
    guard count >= 0, rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// A number; nil if there are fewer octets than it has.
  mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type) -> Number? {
    octets(Number.bitWidth / 8)?.reduce(0) { $0 << 8 | Number($1) }
  }

  /// A text behind an octet with its length; nil if it is cut short or not UTF-8.
  mutating func text() -> String? {
    guard let length = number(UInt8.self), let octets = octets(Int(length)) else { return nil }
    return String(validating: octets, as: UTF8.self)
  }
}

extension [UInt8] {
  /// Appends a number, most significant octet first.
  mutating func append<Number: FixedWidthInteger & UnsignedInteger>(number: Number) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }

  /// Appends a text behind an octet with its length, cut to 255 octets.
  mutating func append(text: String) {
    let octets = text.cut(to: 255).utf8
    append(UInt8(clamping: octets.count))
    append(contentsOf: octets)
  }
}

extension String {
  /// The longest beginning with at most this number of octets in UTF-8, ending with a whole character.
  func cut(to limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var result = ""
    var length = 0
    for character in self {
      length += character.utf8.count
      guard length <= limit else { break }
      result.append(character)
    }
    return result
  }
}
