import Adapter
import Bluetooth

/// The features that a side announces before it pairs (Core 5.4, Vol 3, Part H, 3.5.1).
struct PairingFeatures: Hashable, Sendable {
  /// The input and output capability.
  var capability: PairingCapability
  /// True if it has LE Secure Connections; otherwise the pairing is legacy.
  var hasSecureConnections = true
  /// True if it keeps keys.
  var bonds = true
  /// True if it requires protection against a person in the middle.
  var wantsAuthentication: Bool
  /// The largest key it supports, 7 to 16 octets.
  var keySize = 16
}

extension PairingMethod {
  /// The method that follows from the features of both sides; the central is the initiator.
  init(central: PairingFeatures, peripheral: PairingFeatures) {
    self.init(
      central: central.capability, peripheral: peripheral.capability,
      isWanted: central.wantsAuthentication || peripheral.wantsAuthentication,
      isSecure: central.hasSecureConnections && peripheral.hasSecureConnections)
  }
}
