import Bluetooth

/// How an adapter pairs from now on.
public struct PairingSettings: Hashable, Sendable {
  /// The person's capability, for links established from now on.
  public var capability: PairingCapability
  /// True if devices may initiate pairing with bonding. Permission is then requested by a `PairingQuestion`.
  public var acceptsDevices: Bool

  /// Makes settings; by default no device can pair by itself.
  public init(capability: PairingCapability = .none, acceptsDevices: Bool = false) {
    self.capability = capability
    self.acceptsDevices = acceptsDevices
  }
}

/// A question that a pairing needs an answer to. It waits for `Adapter.answer`.
public enum PairingQuestion: Hashable, Sendable {
  /// Permit the pairing, without protection against a person in the middle (Just Works)?
  case consent
  /// Does the device show the same number, 0 to 999999?
  case comparison(UInt32)
  /// The passkey shown by the device.
  case passkey
}

/// A question's number, unique on its adapter: the answer reaches the asking pairing, and no later one.
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
  /// A question that the pairing needs an answer to; it replaces an earlier one for the same device.
  case question(QuestionID, PairingQuestion)
  /// The person at the device types this passkey, 0 to 999999; so many digits are entered already.
  case showPasskey(UInt32, entered: Int)
  /// A bond was made, or has changed; it is to be kept.
  case bonded(Bond)
  /// The link is encrypted with new keys that are not to be kept: not with a bond's keys.
  case pairedWithoutBond
  /// A bonded device's link is about to be encrypted with a key other than its bond's. The key is from a pairing, which
  /// may cause no other event.
  case encryptedOtherwise
  /// The pairing failed.
  case failed(BluetoothError)
  /// The pairing's keys are not secret, and none is kept: the previous bond, if any, is valid again.
  case keysRefused(earlier: Bond?)
  /// The keys were removed, not by us.
  case unbonded
  /// One side lacks the keys with which the other wants to encrypt the link: the device (`theirs`), or we.
  case keysLost(theirs: Bool)
}
