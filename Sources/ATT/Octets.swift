import Bluetooth

extension ArraySlice<UInt8> {
  /// The octet `offset` behind the start; 0 behind the end, so that remote octets can never trap here.
  @inlinable
  package func octet(at offset: Int) -> UInt8 {
    let index = startIndex &+ offset
    return index < endIndex ? self[index] : 0
  }

  /// The 16-bit number `offset` octets behind the start, least significant octet first.
  @inlinable
  package func word(at offset: Int) -> UInt16 { UInt16(octet(at: offset)) | UInt16(octet(at: offset &+ 1)) << 8 }
}

extension [UInt8] {
  /// Appends a 16-bit number, least significant octet first.
  @inlinable
  package mutating func append(word: UInt16) {
    append(UInt8(truncatingIfNeeded: word))
    append(UInt8(truncatingIfNeeded: word >> 8))
  }

  /// Appends a UUID as ATT carries it: 2 octets where there is a 16-bit form, else 16.
  package mutating func append(uuid: BluetoothUUID) {
    if let short = uuid.short16 {
      append(word: short)
    } else {
      for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: uuid.low >> shift)) }
      for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: uuid.high >> shift)) }
    }
  }
}
