/// The data of one side of a pairing for the other, by another way than the air, a QR code or NFC, for LE Secure
/// Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.4).
public struct OutOfBandData: Hashable, Sendable {
  /// The confirmation value, 16 octets, the lowest first as in AD structures of type 0x22.
  public var confirmation: [UInt8]
  /// The random value, 16 octets, the lowest first as in AD structures of type 0x23.
  public var random: [UInt8]

  /// Makes data; nil unless both have 16 octets.
  public init?(confirmation: [UInt8], random: [UInt8]) {
    guard confirmation.count == 16, random.count == 16 else { return nil }
    self.confirmation = confirmation
    self.random = random
  }
}
