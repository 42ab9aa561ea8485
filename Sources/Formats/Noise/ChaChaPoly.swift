import CNettle

/// ChaCha20-Poly1305 with a nonce of 96 bits (RFC 8439, 2.8), as Noise uses it (Noise, 12.3).
enum ChaChaPoly {
  /// Length of the tag behind the ciphertext, in octets.
  static let tagLength = 16

  /// - Parameter key: 32 octets.
  static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: UInt64, associatedData: [UInt8]) -> [UInt8] {
    var context = context(key, nonce, associatedData)
    return [UInt8](unsafeUninitializedCapacity: plaintext.count + tagLength) { octets, length in
      guard let start = octets.baseAddress else { return }
      nettle_chacha_poly1305_encrypt(&context, plaintext.count, start, plaintext)
      cnettle_chacha_poly1305_digest(&context, start + plaintext.count)
      length = plaintext.count + tagLength
    }
  }

  /// - Returns: the plaintext; nil if the tag does not match.
  static func open(_ ciphertext: [UInt8], key: [UInt8], nonce: UInt64, associatedData: [UInt8]) -> [UInt8]? {
    let count = ciphertext.count - tagLength
    guard count >= 0 else { return nil }
    var context = context(key, nonce, associatedData)
    let plaintext = [UInt8](unsafeUninitializedCapacity: count) { octets, length in
      if let start = octets.baseAddress { nettle_chacha_poly1305_decrypt(&context, count, start, ciphertext) }
      length = count
    }
    var tag = [UInt8](repeating: 0, count: tagLength)
    cnettle_chacha_poly1305_digest(&context, &tag)
    // All octets are compared, so the time does not reveal the number of matches.
    var difference: UInt8 = 0
    for place in 0..<tagLength { difference |= tag[place] ^ ciphertext[count + place] }
    return difference == 0 ? plaintext : nil
  }

  private static func context(_ key: [UInt8], _ nonce: UInt64, _ associatedData: [UInt8]) -> chacha_poly1305_ctx {
    var context = chacha_poly1305_ctx()
    nettle_chacha_poly1305_set_key(&context, key)
    // Four zeros and the number, least significant octet first.
    var octets = [UInt8](repeating: 0, count: 12)
    for place in 0..<8 { octets[4 + place] = UInt8(truncatingIfNeeded: nonce >> (8 * UInt64(place))) }
    nettle_chacha_poly1305_set_nonce(&context, octets)
    nettle_chacha_poly1305_update(&context, associatedData.count, associatedData)
    return context
  }
}
