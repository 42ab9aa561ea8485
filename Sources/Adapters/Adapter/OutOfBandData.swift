/// Pairing data from one side for the other, out of band: by a QR code or NFC. At least one of the two is present.
public struct OutOfBandData: Hashable, Sendable {
  /// For LE Secure Connections; nil for none.
  public let secure: SecureOutOfBandData?
  /// The temporary key of LE legacy pairing, which both sides then have, 16 octets, the lowest first as in AD
  /// structures of type 0x10 (Core 5.4, Vol 3, Part H, 2.3.5.4); nil for none.
  public let temporaryKey: [UInt8]?

  /// Makes data; nil without any, or if the key does not have 16 octets, or zeros alone, as in pairings without
  /// protection.
  public init?(secure: SecureOutOfBandData? = nil, temporaryKey: [UInt8]? = nil) {
    guard secure != nil || temporaryKey != nil else { return nil }
    if let temporaryKey {
      guard temporaryKey.count == 16, temporaryKey.contains(where: { $0 != 0 }) else { return nil }
    }
    self.secure = secure
    self.temporaryKey = temporaryKey
  }
}

/// The part of such data for LE Secure Connections (Core 5.4, Vol 3, Part H, 2.3.5.6.4).
public struct SecureOutOfBandData: Hashable, Sendable {
  /// The confirmation value, 16 octets, the lowest first as in AD structures of type 0x22.
  public let confirmation: [UInt8]
  /// The random value, 16 octets, the lowest first as in AD structures of type 0x23.
  public let random: [UInt8]

  /// Makes data; nil unless both have 16 octets.
  public init?(confirmation: [UInt8], random: [UInt8]) {
    guard confirmation.count == 16, random.count == 16 else { return nil }
    self.confirmation = confirmation
    self.random = random
  }
}
