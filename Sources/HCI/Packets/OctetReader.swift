import Bluetooth

/// Reads the fields of a packet one after the other, least significant octet first, and never beyond the end: what does not
/// lie before it throws `HCICodingError.truncated`.
public struct OctetReader {
  private let octets: ArraySlice<UInt8>
  private var position: Int

  /// Begins at the first of these octets.
  public init(_ octets: ArraySlice<UInt8>) {
    self.octets = octets
    position = octets.startIndex
  }

  /// Begins at the first of these octets.
  public init(_ octets: [UInt8]) { self.init(octets[...]) }

  /// How many octets are left.
  public var remaining: Int { octets.endIndex - position }

  /// Reads a number of `count` octets, at the most 8.
  private mutating func number(_ count: Int) throws(HCICodingError) -> UInt64 {
    guard remaining >= count else { throw .truncated(missing: count - remaining) }
    var value: UInt64 = 0
    for index in 0..<count { value |= UInt64(octets[position + index]) << (8 * UInt64(index)) }
    position += count
    return value
  }

  /// Reads one octet.
  public mutating func uint8() throws(HCICodingError) -> UInt8 { UInt8(truncatingIfNeeded: try number(1)) }
  /// Reads one octet as a number with a sign.
  public mutating func int8() throws(HCICodingError) -> Int8 { Int8(truncatingIfNeeded: try number(1)) }
  /// Reads two octets.
  public mutating func uint16() throws(HCICodingError) -> UInt16 { UInt16(truncatingIfNeeded: try number(2)) }
  /// Reads three octets.
  public mutating func uint24() throws(HCICodingError) -> UInt32 { UInt32(truncatingIfNeeded: try number(3)) }
  /// Reads four octets.
  public mutating func uint32() throws(HCICodingError) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }
  /// Reads the six octets of an address.
  public mutating func uint48() throws(HCICodingError) -> UInt64 { try number(6) }
  /// Reads eight octets.
  public mutating func uint64() throws(HCICodingError) -> UInt64 { try number(8) }
  /// Reads one octet that is 0 or 1.
  public mutating func bool() throws(HCICodingError) -> Bool {
    let value = try number(1)
    guard value < 2 else { throw .invalidValue(value) }
    return value == 1
  }
  /// Reads a status.
  public mutating func status() throws(HCICodingError) -> HCIStatus { HCIStatus(rawValue: try uint8()) }
  /// Reads the type of an address and the address, in this order.
  public mutating func address() throws(HCICodingError) -> HCIAddress {
    let type = AddressType(rawValue: try uint8())
    return HCIAddress(type: type, value: try uint48())
  }

  /// Reads `count` octets.
  public mutating func octets(_ count: Int) throws(HCICodingError) -> [UInt8] {
    guard count >= 0, remaining >= count else { throw .truncated(missing: count - remaining) }
    defer { position += count }
    return Array(octets[position..<(position + count)])
  }

  /// Reads all octets that are left.
  public mutating func rest() -> [UInt8] {
    defer { position = octets.endIndex }
    return Array(octets[position...])
  }

  /// Throws if anything is left.
  public func end() throws(HCICodingError) {
    guard remaining == 0 else { throw .trailingOctets(count: remaining) }
  }
}
