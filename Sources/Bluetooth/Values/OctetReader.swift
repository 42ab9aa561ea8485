/// Takes numbers from the front of a value, least significant octet first; nil once there are too few octets.
struct OctetReader {
  private var rest: ArraySlice<UInt8>

  init(_ octets: [UInt8]) { rest = octets[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func uint8() -> UInt8? { rest.popFirst() }

  mutating func uint16() -> UInt16? { unsigned(2).map { UInt16(truncatingIfNeeded: $0) } }

  mutating func uint24() -> UInt32? { unsigned(3).map { UInt32(truncatingIfNeeded: $0) } }

  mutating func uint32() -> UInt32? { unsigned(4).map { UInt32(truncatingIfNeeded: $0) } }

  mutating func int16() -> Int16? { uint16().map(Int16.init(bitPattern:)) }

  /// The next `count` octets, at most 8, as a number.
  mutating func unsigned(_ count: Int) -> UInt64? {
    guard rest.count >= count, count <= 8 else { return nil }
    var value: UInt64 = 0
    for shift in 0..<count { value |= UInt64(rest.removeFirst()) << (8 * UInt64(shift)) }
    return value
  }
}
