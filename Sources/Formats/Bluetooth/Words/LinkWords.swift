/// A device's role on a link.
public enum LinkRole: String, Vocabulary {
  /// We started the connection.
  case central
  /// The other device started it.
  case peripheral
}

/// How a channel was set up (Core 5.4, Vol 3, Part A, 10).
public enum ChannelMode: String, Vocabulary {
  /// LE credit-based flow control mode (10.1), which every device with channels has.
  case leCreditBased
  /// Enhanced credit-based flow control mode (10.2), whose ends may change their MTU later.
  case enhanced

  /// A channel's possible packet lengths, in octets (4.22, 4.25).
  public var lengths: ClosedRange<Int> { self == .enhanced ? 64...65_535 : 23...65_535 }
}

/// The means of a person on this machine during pairing (Core 5.4, Vol 3, Part H, 2.3.2).
public enum PairingCapability: String, Vocabulary {
  /// Read a passkey.
  case display
  /// Read a passkey, and say whether two numbers are equal.
  case displayYesNo
  /// Type a passkey.
  case keyboard
  /// Both display and keyboard.
  case keyboardDisplay
  /// No means: pairing has no protection against a person in the middle.
  case none
}
