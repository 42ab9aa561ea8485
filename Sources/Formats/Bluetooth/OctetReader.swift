/// Reads numbers from the front of a value, least significant octet first; nil without enough octets.
package struct OctetReader {
  private var rest: ArraySlice<UInt8>

  /// Begins with the first octet.
  package init(_ octets: [UInt8]) { rest = octets[...] }

  package var isAtEnd: Bool { rest.isEmpty }

  /// The remaining octets.
  package var count: Int { rest.count }

  /// The next octet.
  package mutating func uint8() -> UInt8? { rest.popFirst() }

  /// The next 2 octets.
  package mutating func uint16() -> UInt16? { unsigned(2).map { UInt16(truncatingIfNeeded: $0) } }

  /// The next 3 octets.
  package mutating func uint24() -> UInt32? { unsigned(3).map { UInt32(truncatingIfNeeded: $0) } }

  /// The next 4 octets.
  package mutating func uint32() -> UInt32? { unsigned(4).map { UInt32(truncatingIfNeeded: $0) } }

  /// The next 2 octets, in two's complement.
  package mutating func int16() -> Int16? { uint16().map(Int16.init(bitPattern:)) }

  /// The next `count` octets as they are.
  package mutating func octets(_ count: Int) -> [UInt8]? {
    guard count >= 0, rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// The next `count` octets, at most 7, as a number, most significant octet first.
  package mutating func bigEndian(_ count: Int) -> Int? {
    guard count <= 7 else { return nil }
    return octets(count)?.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The number in two's complement.
  package mutating func signedBigEndian(_ count: Int) -> Int? { bigEndian(count).map { Self.signed($0, count) } }

  /// The next `count` octets, at most 7, as a number in two's complement.
  package mutating func signed(_ count: Int) -> Int? {
    guard count <= 7 else { return nil }
    return unsigned(count).map { Self.signed(Int($0), count) }
  }

  private static func signed(_ number: Int, _ count: Int) -> Int {
    let shift = Int.bitWidth - 8 * count
    return (number << shift) >> shift
  }

  /// The next `count` octets, at most 8, as a number.
  package mutating func unsigned(_ count: Int) -> UInt64? {
    guard rest.count >= count, count <= 8 else { return nil }
    var value: UInt64 = 0
    for shift in 0..<count { value |= UInt64(rest.removeFirst()) << (8 * UInt64(shift)) }
    return value
  }
}
