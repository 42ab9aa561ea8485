/// AES-CCM with a key of 128 bits (RFC 3610; Core 5.4, Vol 6, Part E, 2): encryption with a check.
public enum AESCCM {
  /// Decrypts, if the check fits.
  /// - Parameters:
  ///   - payload: the encrypted part, less than 65,536 octets.
  ///   - check: the message authentication code, 4 to 16 octets, an even number (M in the RFC).
  ///   - nonce: 7 to 13 octets; the rest of 15 is for the length (L in the RFC).
  ///   - associatedData: the part checked and not encrypted, less than 65,280 octets.
  /// - Returns: the message; nil if the check does not fit, or for other numbers of octets.
  public static func open(
    _ payload: [UInt8], check: [UInt8], nonce: [UInt8], associatedData: [UInt8] = [], key: Key128
  ) -> [UInt8]? {
    guard let length = UInt16(exactly: payload.count), (4...16).contains(check.count), check.count % 2 == 0,
      (7...13).contains(nonce.count), associatedData.count < 0xFF00
    else { return nil }
    // The octets before numbers in the blocks: 13 without the flags and the last two.
    let start = nonce + [UInt8](repeating: 0, count: 13 - nonce.count)
    let lengthFlag = UInt8(14 - nonce.count)
    // The counter blocks: the first encrypts the check, the others the message (2.3).
    func keyStream(_ number: UInt16) -> [UInt8] {
      encrypt([lengthFlag] + start + octets(number), key)
    }
    var message: [UInt8] = []
    message.reserveCapacity(payload.count)
    for place in stride(from: 0, to: payload.count, by: 16) {
      let stream = keyStream(UInt16(truncatingIfNeeded: place / 16 + 1))
      message += zip(payload[place..<min(place + 16, payload.count)], stream).map { $0 ^ $1 }
    }
    // The check is a CBC-MAC over a first block, the associated data with its length, and the message (2.2).
    let flags = UInt8((associatedData.isEmpty ? 0 : 0x40) + (check.count - 2) / 2 * 8) + lengthFlag
    var code = encrypt([flags] + start + octets(length), key)
    if !associatedData.isEmpty {
      authenticate(octets(UInt16(truncatingIfNeeded: associatedData.count)) + associatedData, &code, key)
    }
    authenticate(message, &code, key)
    // All octets are compared, so the time does not reveal the number of matches.
    let difference = zip(zip(code, keyStream(0)), check).reduce(0 as UInt8) { $0 | ($1.0.0 ^ $1.0.1 ^ $1.1) }
    return difference == 0 ? message : nil
  }

  /// Adds octets, filled up with zeros, to a CBC-MAC.
  private static func authenticate(_ octets: [UInt8], _ code: inout [UInt8], _ key: Key128) {
    for start in stride(from: 0, to: octets.count, by: 16) {
      for (index, octet) in octets[start..<min(start + 16, octets.count)].enumerated() { code[index] ^= octet }
      code = encrypt(code, key)
    }
  }

  /// Most significant octet first.
  private static func octets(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  private static func encrypt(_ block: [UInt8], _ key: Key128) -> [UInt8] {
    AES128.encrypt(Key128(trusted: block), key: key).bigEndian
  }
}
