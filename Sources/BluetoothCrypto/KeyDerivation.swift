/// Keys made of other keys (Core 5.4, Vol 3, Part H, 2.2.2, 2.2.10, 2.2.11 and 2.4.2.4).
public enum KeyDerivation {
  /// The random address hash function ah.
  /// - Parameters:
  ///   - k: the identity resolving key (IRK).
  ///   - r: the upper 24 bits of a resolvable private address.
  /// - Returns: what the lower 24 bits are if the address is of that identity.
  public static func ah(k: Key128, r: UInt32) -> UInt32 {
    let octets = [UInt8](repeating: 0, count: 13) + (1...3).map { UInt8(truncatingIfNeeded: r >> (24 - 8 * $0)) }
    return AES128.encrypt(Key128(trusted: octets), key: k).bigEndian.suffix(3).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The link key conversion function h6.
  /// - Parameter keyID: four octets, most significant first.
  public static func h6(w: Key128, keyID: [UInt8]) -> Key128 { AES128.cmac(keyID, key: w) }

  /// The link key conversion function h7.
  public static func h7(salt: Key128, w: Key128) -> Key128 { AES128.cmac(w.bigEndian, key: salt) }

  /// The BR/EDR link key that belongs to a long term key.
  /// - Parameter ct2: whether both devices can do h7.
  public static func linkKey(of ltk: Key128, ct2: Bool) -> Key128 { convert(ltk, ct2, salt: "tmp1", keyID: "lebr") }

  /// The long term key that belongs to a BR/EDR link key.
  /// - Parameter ct2: whether both devices can do h7.
  public static func longTermKey(of linkKey: Key128, ct2: Bool) -> Key128 {
    convert(linkKey, ct2, salt: "tmp2", keyID: "brle")
  }

  private static func convert(_ key: Key128, _ ct2: Bool, salt: String, keyID: String) -> Key128 {
    let saltOctets = [UInt8](repeating: 0, count: 12) + salt.utf8
    let intermediate =
      ct2 ? h7(salt: Key128(trusted: saltOctets), w: key) : h6(w: key, keyID: Array(salt.utf8))
    return h6(w: intermediate, keyID: Array(keyID.utf8))
  }
}
