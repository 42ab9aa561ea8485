/// Writes the fields of a packet one after the other, least significant octet first.
public struct OctetWriter {
  /// What was written.
  public private(set) var octets: [UInt8] = []

  /// Begins with nothing.
  public init() {}

  private mutating func number(_ value: UInt64, _ count: Int) {
    for index in 0..<count { octets.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
  }

  /// Writes one octet.
  public mutating func uint8(_ value: UInt8) { octets.append(value) }
  /// Writes one octet with a sign.
  public mutating func int8(_ value: Int8) { octets.append(UInt8(bitPattern: value)) }
  /// Writes two octets.
  public mutating func uint16(_ value: UInt16) { number(UInt64(value), 2) }
  /// Writes three octets; the fourth is dropped.
  public mutating func uint24(_ value: UInt32) { number(UInt64(value), 3) }
  /// Writes four octets.
  public mutating func uint32(_ value: UInt32) { number(UInt64(value), 4) }
  /// Writes the six octets of an address.
  public mutating func uint48(_ value: UInt64) { number(value, 6) }
  /// Writes eight octets.
  public mutating func uint64(_ value: UInt64) { number(value, 8) }
  /// Writes 0 or 1.
  public mutating func bool(_ value: Bool) { octets.append(value ? 1 : 0) }
  /// Writes a status.
  public mutating func status(_ value: HCIStatus) { octets.append(value.rawValue) }
  /// Writes the type of an address and the address, in this order.
  public mutating func address(_ value: HCIAddress) {
    uint8(value.type.rawValue)
    uint48(value.value)
  }
  /// Writes octets as they are.
  public mutating func octets(_ values: some Sequence<UInt8>) { octets.append(contentsOf: values) }
  /// Writes exactly `count` octets: what is too much is dropped, what is missing is zero.
  public mutating func octets(_ values: some Collection<UInt8>, count: Int) {
    octets.append(contentsOf: values.prefix(count))
    octets.append(contentsOf: repeatElement(0, count: Swift.max(0, count - values.count)))
  }
}
