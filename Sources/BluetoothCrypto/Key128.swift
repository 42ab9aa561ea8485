/// 128 bits that are a number to the specification: a key, a random number, a confirm value.
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

  /// The 16 octets in wire order, least significant first.
  public var littleEndian: [UInt8] { bigEndian.reversed() }

  /// For results of AES, which have 16 octets.
  init(trusted octets: [UInt8]) { bigEndian = octets }

  /// Each bit of one where it differs from the other.
  static func ^ (left: Key128, right: Key128) -> Key128 {
    Key128(trusted: zip(left.bigEndian, right.bigEndian).map { $0 ^ $1 })
  }
}
