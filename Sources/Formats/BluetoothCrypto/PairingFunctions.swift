import Bluetooth

/// The functions of LE legacy pairing (Core 5.4, Vol 3, Part H, 2.2.3 and 2.2.4).
public enum LegacyPairing {
  /// The confirm value generation function c1.
  /// - Parameters:
  ///   - k: the temporary key (TK).
  ///   - r: the random number.
  ///   - request: the Pairing Request packet in wire order, 7 octets.
  ///   - response: the Pairing Response packet in wire order, 7 octets.
  ///   - initiator: the central device's address.
  ///   - responder: the peripheral device's address.
  /// - Returns: nil unless both packets have 7 octets.
  public static func c1(
    k: Key128, r: Key128, request: [UInt8], response: [UInt8], initiator: DeviceAddress, responder: DeviceAddress
  ) -> Key128? {
    let types = [responder.kind.rawValue, initiator.kind.rawValue]
    let addresses = Array(repeating: UInt8(0), count: 4) + initiator.bigEndian + responder.bigEndian
    guard let p1 = Key128(bigEndian: response.reversed() + request.reversed() + types),
      let p2 = Key128(bigEndian: addresses)
    else { return nil }
    return AES128.encrypt(AES128.encrypt(r ^ p1, key: k) ^ p2, key: k)
  }

  /// The key generation function s1, which makes the short term key.
  /// - Parameters:
  ///   - k: the temporary key (TK).
  ///   - r1: the responder's random number.
  ///   - r2: the initiator's random number.
  public static func s1(k: Key128, r1: Key128, r2: Key128) -> Key128 {
    AES128.encrypt(Key128(trusted: Array(r1.bigEndian.suffix(8) + r2.bigEndian.suffix(8))), key: k)
  }
}

extension DeviceAddress {
  /// The six octets, most significant first.
  var bigEndian: [UInt8] { littleEndian.reversed() }

  /// The type and the address, as f5 and f6 take them.
  var typed: [UInt8] { [kind.rawValue] + bigEndian }
}

/// The functions of LE Secure Connections pairing (Core 5.4, Vol 3, Part H, 2.2.6 to 2.2.9).
public enum SecureConnections {
  /// The confirm value generation function f4.
  /// - Parameters:
  ///   - u: the X coordinate of the sender's public key, 32 octets, most significant first.
  ///   - v: the X coordinate of the receiver's public key, likewise.
  ///   - x: the random number.
  ///   - z: 0, or 0x80 with the passkey's bit.
  public static func f4(u: [UInt8], v: [UInt8], x: Key128, z: UInt8) -> Key128 { AES128.cmac(u + v + [z], key: x) }

  /// The key generation function f5.
  /// - Parameters:
  ///   - w: the shared secret, 32 octets, most significant first.
  ///   - n1: the initiator's random number.
  ///   - n2: the responder's random number.
  /// - Returns: the key for f6 and the long term key.
  public static func f5(
    w: [UInt8], n1: Key128, n2: Key128, initiator: DeviceAddress, responder: DeviceAddress
  ) -> (macKey: Key128, ltk: Key128) {
    let t = AES128.cmac(w, key: salt)
    func key(_ counter: UInt8) -> Key128 {
      let names = [counter] + "btle".utf8 + n1.bigEndian + n2.bigEndian
      return AES128.cmac(names + initiator.typed + responder.typed + [0x01, 0x00], key: t)
    }
    return (key(0), key(1))
  }

  /// The check value generation function f6.
  /// - Parameters:
  ///   - w: the key from f5.
  ///   - n1: the sender's random number.
  ///   - n2: the receiver's random number.
  ///   - r: the passkey, 0 in the other methods.
  ///   - ioCapability: the sender's authentication requirements, out of band flag and I/O capability, in this order.
  public static func f6(
    w: Key128, n1: Key128, n2: Key128, r: Key128, ioCapability: [UInt8], sender: DeviceAddress, receiver: DeviceAddress
  ) -> Key128 {
    let numbers = n1.bigEndian + n2.bigEndian + r.bigEndian
    return AES128.cmac(numbers + ioCapability + sender.typed + receiver.typed, key: w)
  }

  /// The numeric comparison function g2.
  /// - Parameters:
  ///   - u: the X coordinate of the initiator's public key, 32 octets, most significant first.
  ///   - v: the X coordinate of the responder's public key, likewise.
  ///   - x: the initiator's random number.
  ///   - y: the responder's random number.
  /// - Returns: 32 bits; the last six of their decimal digits are shown to the user.
  public static func g2(u: [UInt8], v: [UInt8], x: Key128, y: Key128) -> UInt32 {
    AES128.cmac(u + v + y.bigEndian, key: x).bigEndian.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// SALT of f5.
  private static let salt = Key128(trusted: [
    0x6C, 0x88, 0x83, 0x91, 0xAA, 0xF5, 0xA5, 0x38, 0x60, 0x37, 0x0B, 0xDB, 0x5A, 0x60, 0x83, 0xBE,
  ])
}

/// Keys made of other keys (Core 5.4, Vol 3, Part H, 2.2.2, 2.2.10, 2.2.11 and 2.4.2.4).
public enum KeyDerivation {
  /// The random address hash function ah.
  /// - Parameters:
  ///   - k: the identity resolving key (IRK).
  ///   - r: the upper 24 bits of a resolvable private address.
  /// - Returns: the lower 24 bits if the address has that identity.
  public static func ah(k: Key128, r: UInt32) -> UInt32 {
    let octets = [UInt8](repeating: 0, count: 13) + (1...3).map { UInt8(truncatingIfNeeded: r >> (24 - 8 * $0)) }
    return AES128.encrypt(Key128(trusted: octets), key: k).bigEndian.suffix(3).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The link key conversion function h6.
  /// - Parameter keyID: four octets, most significant first.
  public static func h6(w: Key128, keyID: [UInt8]) -> Key128 { AES128.cmac(keyID, key: w) }

  /// The link key conversion function h7.
  public static func h7(salt: Key128, w: Key128) -> Key128 { AES128.cmac(w.bigEndian, key: salt) }

  /// The BR/EDR link key for a long term key.
  /// - Parameter ct2: true if both devices support h7.
  public static func linkKey(of ltk: Key128, ct2: Bool) -> Key128 { convert(ltk, ct2, salt: "tmp1", keyID: "lebr") }

  /// The long term key for a BR/EDR link key.
  /// - Parameter ct2: true if both devices support h7.
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

extension DeviceAddress {
  /// Returns true for a resolvable private address made with this identity resolving key (Core 5.4, Vol 6, Part B,
  /// 1.3.2.3). One encryption, for other addresses none.
  public func isResolved(by key: Key128) -> Bool {
    guard isResolvablePrivate else { return false }
    let (random, hash) = (UInt32(truncatingIfNeeded: value >> 24), UInt32(truncatingIfNeeded: value & 0xFF_FFFF))
    return KeyDerivation.ah(k: key, r: random) == hash
  }

  /// A resolvable private address (Core 5.4, Vol 6, Part B, 1.3.2.2).
  /// - Parameter key: the identity resolving key.
  public static func privateAddress(
    of key: Key128, using generator: inout some RandomNumberGenerator
  ) -> DeviceAddress {
    // At least one of the 22 random bits is 0, and one is 1.
    let random = UInt32.random(in: 1..<0x3F_FFFF, using: &generator) | 0x40_0000
    let hash = KeyDerivation.ah(k: key, r: random)
    return DeviceAddress(value: UInt64(random) << 24 | UInt64(hash), kind: .random)
  }
}

/// The functions of coordinated sets (Coordinated Set Identification Service 1.0, 4.3 to 4.8).
public enum CoordinatedSet {
  /// The resolvable set identifier hash function sih, which is `ah` under another name.
  public static func sih(k: Key128, r: UInt32) -> UInt32 { KeyDerivation.ah(k: k, r: r) }

  /// The SIRK encryption function sef, which is its own inverse.
  public static func sef(k: Key128, sirk: Key128) -> Key128 {
    let salt = AES128.cmac("SIRKenc".utf8, key: .zero)
    let t = AES128.cmac(k.bigEndian, key: salt)
    return AES128.cmac("csis".utf8, key: t) ^ sirk
  }
}
