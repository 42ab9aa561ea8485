import Bluetooth

/// How an adapter pairs from now on.
public struct PairingSettings: Hashable, Sendable {
  /// The capability of the person; it holds for links that come up from now on.
  public var capability: PairingCapability
  /// Whether devices that begin to pair may keep keys. Their permission is then asked for, with a `PairingQuestion`.
  public var acceptsDevices: Bool

  /// Makes settings; by default no device can pair by itself.
  public init(capability: PairingCapability = .none, acceptsDevices: Bool = false) {
    self.capability = capability
    self.acceptsDevices = acceptsDevices
  }
}

/// A question that a pairing cannot go on without. It waits for `Adapter.answer`.
public enum PairingQuestion: Hashable, Sendable {
  /// Whether to pair at all, without protection against a person in the middle (Just Works).
  case consent
  /// Whether the device shows the same number, 0 to 999999.
  case comparison(UInt32)
  /// The passkey that the device shows.
  case passkey
}

/// The number of a question, unique on its adapter: the answer reaches the pairing that asked, and no later one.
public struct QuestionID: Hashable, Sendable {
  /// The number.
  public let value: UInt64
  /// Makes an identifier from a number.
  public init(_ value: UInt64) { self.value = value }
}

/// The answer to a `PairingQuestion`.
public enum PairingAnswer: Hashable, Sendable {
  /// Yes.
  case accept
  /// The passkey, 0 to 999999.
  case passkey(UInt32)
  /// No: the pairing ends.
  case refuse
}

/// The events while the adapter pairs with a device.
public enum PairingEvent: Hashable, Sendable {
  /// A question that the pairing cannot go on without; a later one of the same device replaces it.
  case question(QuestionID, PairingQuestion)
  /// The person at the device types this passkey, 0 to 999999; so many digits are there already.
  case showPasskey(UInt32, entered: Int)
  /// A bond was made, or has changed; it is to be kept.
  case bonded(Bond)
  /// The link is encrypted with keys that were agreed on now and are not to be kept: not with the keys of a bond.
  case pairedWithoutBond
  /// The link of a bonded device is about to be encrypted with another key than its bond's. The key comes from a
  /// pairing, which may cause no other event.
  case encryptedOtherwise
  /// The pairing failed.
  case failed(BluetoothError)
  /// Keys that it brought are not secret, and none of it is kept: the bond that there was before, if any, holds again.
  case keysRefused(earlier: Bond?)
  /// The keys were removed, not by us.
  case unbonded
  /// One side has no keys for the link that the other wants to encrypt with them: the device (`theirs`), or we.
  case keysLost(theirs: Bool)
}
