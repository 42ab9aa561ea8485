/// Limits for all forms of recordings.
enum RecordedPacket {
  /// The longest plausible packet, in octets.
  static let longest = 1 << 17
}

extension ArraySlice<UInt8> {
  /// The number of two octets at an offset, least significant first; nil beyond the end.
  func little16(at offset: Int) -> UInt16? {
    guard offset + 2 <= count else { return nil }
    return UInt16(self[startIndex + offset]) | UInt16(self[startIndex + offset + 1]) << 8
  }

  /// The number with this many octets at an offset, most significant first; nil beyond the end.
  func big(_ octets: Int, at offset: Int) -> UInt64? {
    guard offset + octets <= count else { return nil }
    return dropFirst(offset).prefix(octets).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The number of four octets at an offset in an order; nil beyond the end.
  func number32(at offset: Int, isLittle: Bool) -> UInt32? {
    guard let number = big(4, at: offset).map({ UInt32(truncatingIfNeeded: $0) }) else { return nil }
    return isLittle ? number.byteSwapped : number
  }

  /// The number of two octets at an offset in an order; nil beyond the end.
  func number16(at offset: Int, isLittle: Bool) -> UInt16? {
    guard let number = big(2, at: offset).map({ UInt16(truncatingIfNeeded: $0) }) else { return nil }
    return isLittle ? number.byteSwapped : number
  }
}
