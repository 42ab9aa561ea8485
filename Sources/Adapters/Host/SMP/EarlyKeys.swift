import Bluetooth

/// The key packets received before the encryption event: events and data use different pipes of a controller, and keys
/// may overtake the event by a moment. Earlier ones are plain text, from any device nearby.
struct EarlyKeys: Sendable {
  /// They overtake the event by less than this, the shortest connection interval.
  private static let lead = Duration.microseconds(7500)

  /// Each of the five at most once.
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

  /// True if all of them may have been encrypted.
  /// - Parameter arrival: the arrival of the event.
  func mayBeEncrypted(eventArrived arrival: Instant) -> Bool {
    beginning.map { $0.duration(to: arrival) <= Self.lead } ?? true
  }
}

extension SMPPDU {
  /// True if it carries a distributed key.
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
