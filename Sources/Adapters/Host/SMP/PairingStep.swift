import Adapter
import BluetoothCrypto

/// A step for the owner of a pairing's machines to execute.
enum PairingStep: Hashable, Sendable {
  case send(SMPPDU)
  /// Ask the person here; the answer comes back.
  case ask(PairingQuestion)
  /// The person at the other side types this passkey; so many digits are entered already.
  case show(passkey: UInt32, entered: Int = 0)
  /// Both sides have this key: the short term key, or with LE Secure Connections the long term key.
  case agreed(Key128)
  /// All keys are exchanged. The bond is nil if they are not kept.
  case completed(Bond?)
}
