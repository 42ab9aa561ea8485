import Bluetooth
import BluetoothCrypto

/// A packet of the Security Manager Protocol, on L2CAP channel 0x0006 (Core 5.4, Vol 3, Part H, 3.5 and 3.6).
package enum SMPPDU: Hashable, Sendable {
  /// The central begins to pair (3.5.1).
  case pairingRequest(PairingFeatures)
  /// The peripheral's answer (3.5.2).
  case pairingResponse(PairingFeatures)
  /// A commitment to a random number (3.5.3).
  case pairingConfirm(Key128)
  /// The random number (3.5.4).
  case pairingRandom(Key128)
  /// One side ends the pairing (3.5.5).
  case pairingFailed(PairingFailureReason)
  /// One side's public key (3.5.6).
  case pairingPublicKey(P256PublicKey)
  /// The check of the exchanged data (3.5.7).
  case pairingDHKeyCheck(Key128)
  /// A person types a passkey at the other side (3.5.8).
  case keypressNotification(Keypress)
  /// A key for encryption, of legacy pairing (3.6.2).
  case encryptionInformation(Key128)
  /// The encryption key's name (3.6.3).
  case centralIdentification(diversifier: UInt16, random: UInt64)
  /// The key for private addresses (3.6.4).
  case identityInformation(Key128)
  /// The device's identity address (3.6.5).
  case identityAddressInformation(DeviceAddress)
  /// The key for signed writes (3.6.6).
  case signingInformation(Key128)
  /// The peripheral wants the link to be protected (3.6.7).
  case securityRequest(AuthenticationRequirements)

  /// The codes of packets (3.3, table 3.3).
  enum Code: UInt8 {
    case pairingRequest = 0x01
    case pairingResponse
    case pairingConfirm
    case pairingRandom
    case pairingFailed
    case encryptionInformation
    case centralIdentification
    case identityInformation
    case identityAddressInformation
    case signingInformation
    case securityRequest
    case pairingPublicKey
    case pairingDHKeyCheck
    case keypressNotification
  }

  /// The packet's first octet.
  var code: Code {
    switch self {
    case .pairingRequest: .pairingRequest
    case .pairingResponse: .pairingResponse
    case .pairingConfirm: .pairingConfirm
    case .pairingRandom: .pairingRandom
    case .pairingFailed: .pairingFailed
    case .pairingPublicKey: .pairingPublicKey
    case .pairingDHKeyCheck: .pairingDHKeyCheck
    case .keypressNotification: .keypressNotification
    case .encryptionInformation: .encryptionInformation
    case .centralIdentification: .centralIdentification
    case .identityInformation: .identityInformation
    case .identityAddressInformation: .identityAddressInformation
    case .signingInformation: .signingInformation
    case .securityRequest: .securityRequest
    }
  }
}

/// The progress of typing a passkey (3.5.8).
package enum Keypress: UInt8, Sendable {
  case started
  case digitEntered
  case digitErased
  case cleared
  case completed
}
