/// Writes a message of Protocol Buffers (encoding, proto3): fields with their default value are left out.
struct ProtobufWriter {
  private(set) var octets: [UInt8] = []

  mutating func number(_ field: UInt32, _ value: UInt64) {
    guard value != 0 else { return }
    tag(field, .number)
    append(value)
  }

  mutating func number(_ field: UInt32, _ value: UInt32) { number(field, UInt64(value)) }

  /// An `int32`: ten octets if it is negative.
  mutating func signed(_ field: UInt32, _ value: Int32) { number(field, UInt64(bitPattern: Int64(value))) }

  /// An `sint32`: numbers near zero are short.
  mutating func zigzag(_ field: UInt32, _ value: Int32) {
    number(field, UInt32(bitPattern: value << 1 ^ value >> 31))
  }

  mutating func flag(_ field: UInt32, _ value: Bool) { number(field, UInt64(value ? 1 : 0)) }

  mutating func bytes(_ field: UInt32, _ value: some Collection<UInt8>) {
    if !value.isEmpty { delimited(field, value) }
  }

  mutating func text(_ field: UInt32, _ value: String) { bytes(field, value.utf8) }

  /// Repeated numbers, packed.
  mutating func numbers(_ field: UInt32, _ values: [UInt64]) {
    var packed = ProtobufWriter()
    for value in values { packed.append(value) }
    bytes(field, packed.octets)
  }

  /// A message within this one, also if it is empty.
  mutating func message(_ field: UInt32, _ write: (inout ProtobufWriter) -> Void) {
    var inner = ProtobufWriter()
    write(&inner)
    delimited(field, inner.octets)
  }

  private mutating func delimited(_ field: UInt32, _ value: some Collection<UInt8>) {
    tag(field, .delimited)
    append(UInt64(value.count))
    octets.append(contentsOf: value)
  }

  private mutating func tag(_ field: UInt32, _ type: ProtobufFields.WireType) {
    append(UInt64(field) << 3 | UInt64(type.rawValue))
  }

  private mutating func append(_ value: UInt64) {
    var rest = value
    while rest > 0x7F {
      octets.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    octets.append(UInt8(truncatingIfNeeded: rest))
  }
}
