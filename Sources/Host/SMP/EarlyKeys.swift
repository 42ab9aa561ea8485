import Bluetooth

/// The packets of keys that come before the event that the link is encrypted: events and data come over different pipes
/// of a controller, and keys may overtake the event by a moment. Earlier ones are plain text, from any device nearby.
struct EarlyKeys: Sendable {
  /// As many packets as the other side has keys.
  private static let limit = 5
  /// They overtake the event by less than this, the shortest connection interval.
  private static let lead = Duration.microseconds(7500)

  private(set) var packets: [SMPPDU] = []
  /// When the first one came.
  private var beginning: Instant?

  /// - Returns: false if the packet was not kept.
  mutating func keep(_ pdu: SMPPDU, at now: Instant) -> Bool {
    guard pdu.isKey, packets.count < Self.limit else { return false }
    beginning = beginning ?? now
    packets.append(pdu)
    return true
  }

  /// Whether all of them may have come encrypted if the event comes now.
  func mayBeEncrypted(at now: Instant) -> Bool {
    beginning.map { $0.duration(to: now) <= Self.lead } ?? true
  }
}

extension SMPPDU {
  /// Whether it carries a key that is handed out.
  fileprivate var isKey: Bool {
    switch self {
    case .encryptionInformation, .centralIdentification, .identityInformation, .identityAddressInformation,
      .signingInformation:
      true
    case .pairingRequest, .pairingResponse, .pairingConfirm, .pairingRandom, .pairingFailed, .pairingPublicKey,
      .pairingDHKeyCheck, .keypressNotification, .securityRequest:
      false
    }
  }
}
