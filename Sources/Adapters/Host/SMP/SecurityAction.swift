import Adapter
import BluetoothCrypto

/// An action of a `SecurityManager`, for the owner of its link to execute.
package enum SecurityAction: Hashable, Sendable {
  /// Send a packet on channel 0x0006.
  case send(SMPPDU)
  /// Have the controller encrypt the link (LE Enable Encryption).
  case encrypt(EncryptionKey)
  /// Answer the controller's LE Long Term Key Request; nil: LE Long Term Key Request Negative Reply.
  case replyToKeyRequest(Key128?)
  /// Ask the person here. The answer carries the question's number.
  case ask(UInt32, PairingQuestion)
  /// The person at the other side types this passkey; so many digits are entered already.
  case show(passkey: UInt32, entered: Int)
  /// The link's protection changed.
  case secured(LinkSecurity)
  /// The pairing succeeded. The bond is nil if keys are not kept.
  case paired(Bond?)
  /// The pairing, or the request for security, failed.
  case failed(PairingFailure)
  /// One side lacks the bond's key: the other side (`theirs`), or we.
  case keysLost(theirs: Bool)
  /// End the link: no further packet of the Security Manager may follow.
  case disconnect
}
