import Bluetooth

/// Who wants a link to pair, and who has agreed to it.
struct LinkPairing {
  /// The sessions that wait for the link to become more secure, each under a number of its own.
  var causes: [Int: Session] = [:]
  /// Whether somebody allowed it.
  var isAllowed = false
  /// Whom a session that was asked has let pair; who claims to be another one afterwards has no consent.
  var consent: DeviceAddress?
  /// Whether keys are agreed on: what encrypts the link next need not be the bond.
  var isAgreeing = false
  /// Whether other keys than those of the bond encrypt the link.
  var hasOtherKeys = false
  /// The passkey of the policy, if it was given and the pairing has not ended well.
  var passkey: UInt32?
  /// Whether it was told that keys were lost.
  var hasToldLoss = false
}
