/// The checksum of Ethernet and zip (ISO/IEC/IEEE 8802-3, 3.2.9).
package struct CRC32 {
  private var register = UInt32.max

  package init() {}

  /// The checksum of all octets added.
  package var value: UInt32 { ~register }

  package mutating func add(_ octets: some Sequence<UInt8>) {
    for octet in octets { register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ octet)] }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
  }
}
