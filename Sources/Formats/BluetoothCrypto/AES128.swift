import CNettle

/// The two functions behind all others here.
public enum AES128 {
  /// Encrypts one block: the security function e (Core 5.4, Vol 3, Part H, 2.2.1).
  public static func encrypt(_ block: Key128, key: Key128) -> Key128 {
    var context = aes128_ctx()
    var octets = [UInt8](repeating: 0, count: 16)
    nettle_aes128_set_encrypt_key(&context, key.bigEndian)
    nettle_aes128_encrypt(&context, octets.count, &octets, block.bigEndian)
    return Key128(trusted: octets)
  }

  /// The message authentication code for a message of any length (RFC 4493; Core 5.4, Vol 3, Part H, 2.2.5).
  /// - Parameter message: the message, most significant octet first.
  public static func cmac(_ message: some Collection<UInt8>, key: Key128) -> Key128 {
    let message = Array(message)
    var context = cmac_aes128_ctx()
    var octets = [UInt8](repeating: 0, count: 16)
    nettle_cmac_aes128_set_key(&context, key.bigEndian)
    nettle_cmac_aes128_update(&context, message.count, message)
    cnettle_cmac_aes128_digest(&context, &octets)
    return Key128(trusted: octets)
  }
}

/// 128 bits that the specification treats as a number: a key, a random number, a confirm value.
///
/// Between machines they travel least significant octet first; the cryptographic functions are defined with the most
/// significant octet first. This type has both and so keeps them from being mixed up.
public struct Key128: Hashable, Sendable {
  /// The 16 octets, most significant first.
  public let bigEndian: [UInt8]

  /// The number 0.
  public static let zero = Key128(trusted: Array(repeating: 0, count: 16))

  /// Takes 16 octets, most significant first, as the specification prints them.
  /// - Returns: nil for any other number of octets.
  public init?(bigEndian octets: some Collection<UInt8>) {
    guard octets.count == 16 else { return nil }
    bigEndian = Array(octets)
  }

  /// Takes 16 octets in wire order, least significant first.
  /// - Returns: nil for any other number of octets.
  public init?(littleEndian octets: some Collection<UInt8>) {
    guard octets.count == 16 else { return nil }
    bigEndian = octets.reversed()
  }

  /// Makes a number of at most 32 bits, such as a passkey.
  public init(_ number: UInt32) {
    bigEndian = Array(repeating: 0, count: 12) + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  /// Makes a random number.
  public static func random(using generator: inout some RandomNumberGenerator) -> Key128 {
    Key128(trusted: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// The number with only its lowest octets, as a key of fewer than 16 octets is (Core 5.4, Vol 3, Part H, 2.3.4).
  /// - Parameter size: the number of octets to keep, 0 to 16.
  public func truncated(to size: Int) -> Key128 {
    let size = min(max(size, 0), 16)
    return Key128(trusted: Array(repeating: 0, count: 16 - size) + bigEndian.suffix(size))
  }

  /// The 16 octets in wire order, least significant first.
  public var littleEndian: [UInt8] { bigEndian.reversed() }

  /// For results of AES, which have 16 octets.
  init(trusted octets: [UInt8]) { bigEndian = octets }

  /// Exclusive or of the bits.
  static func ^ (left: Key128, right: Key128) -> Key128 {
    Key128(trusted: zip(left.bigEndian, right.bigEndian).map { $0 ^ $1 })
  }
}
