import Bluetooth

/// The packets of keys that come before the event that the link is encrypted: events and data come over different pipes
/// of a controller, and keys may overtake the event by a moment. Earlier ones are plain text, from any device nearby.
struct EarlyKeys: Sendable {
  /// They overtake the event by less than this, the shortest connection interval.
  private static let lead = Duration.microseconds(7500)

  /// Each of the five only once.
  private(set) var packets: [SMPPDU] = []
  /// When the first one arrived.
  private var beginning: Instant?

  /// - Parameter arrival: when the packet arrived in this machine, which may be busy until it is looked at.
  /// - Returns: false if it is no key.
  mutating func keep(_ pdu: SMPPDU, arrived arrival: Instant) -> Bool {
    guard pdu.isKey else { return false }
    beginning = beginning ?? arrival
    if !packets.contains(where: { $0.code == pdu.code }) { packets.append(pdu) }
    return true
  }

  /// Whether all of them may have come encrypted.
  /// - Parameter arrival: when the event arrived.
  func mayBeEncrypted(eventArrived arrival: Instant) -> Bool {
    beginning.map { $0.duration(to: arrival) <= Self.lead } ?? true
  }
}

extension SMPPDU {
  /// Whether it carries a key that is handed out.
  var isKey: Bool {
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
