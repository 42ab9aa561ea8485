import Adapter
import Bluetooth
import HCI

/// The reason in a Pairing Failed packet (Core 5.4, Vol 3, Part H, 3.5.5). Unknown values are kept.
package struct PairingFailureReason: RawRepresentable, Hashable, Error {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  static let passkeyEntryFailed = PairingFailureReason(rawValue: 0x01)
  static let outOfBandNotAvailable = PairingFailureReason(rawValue: 0x02)
  static let authenticationRequirements = PairingFailureReason(rawValue: 0x03)
  static let confirmValueFailed = PairingFailureReason(rawValue: 0x04)
  package static let pairingNotSupported = PairingFailureReason(rawValue: 0x05)
  static let encryptionKeySize = PairingFailureReason(rawValue: 0x06)
  static let commandNotSupported = PairingFailureReason(rawValue: 0x07)
  static let unspecified = PairingFailureReason(rawValue: 0x08)
  package static let repeatedAttempts = PairingFailureReason(rawValue: 0x09)
  static let invalidParameters = PairingFailureReason(rawValue: 0x0A)
  static let dhKeyCheckFailed = PairingFailureReason(rawValue: 0x0B)
  static let numericComparisonFailed = PairingFailureReason(rawValue: 0x0C)
  static let keyRejected = PairingFailureReason(rawValue: 0x0F)

  /// True if it may mean a wrong guess: that device's next one has to wait (2.3.6).
  package var isOfAuthentication: Bool {
    [.passkeyEntryFailed, .confirmValueFailed, .dhKeyCheckFailed, .numericComparisonFailed].contains(self)
  }

  fileprivate var words: String {
    switch self {
    case .passkeyEntryFailed: "the passkey was refused or not entered"
    case .outOfBandNotAvailable: "the data that did not go over the air are missing"
    case .authenticationRequirements: "they cannot reach the wanted security level together"
    case .confirmValueFailed: "a confirm value is wrong, or the passkey"
    case .pairingNotSupported: "it was refused, or pairing is not possible at the moment"
    case .encryptionKeySize: "the encryption key is too short"
    case .commandNotSupported: "a packet was not understood"
    case .repeatedAttempts: "it was tried too often; wait, then pair again"
    case .invalidParameters: "a packet or a public key was not valid"
    case .dhKeyCheckFailed: "the check of the keys failed"
    case .numericComparisonFailed: "the numbers differ, or it was refused"
    case .keyRejected: "a key was not accepted"
    case .unspecified: "an unexpected packet came, or it could not go on"
    default: "for the reason 0x\(Hex.encode([rawValue])), which has no name"
    }
  }
}

/// A pairing's failure.
package enum PairingFailure: Hashable, Sendable {
  /// We ended it, and notified the other side.
  case ours(PairingFailureReason)
  /// The other side ended it.
  case theirs(PairingFailureReason)
  /// The other side did not continue for 30 seconds.
  case timeout
  /// The controllers could not encrypt the link, for this HCI error, or ended its encryption (0).
  case encryption(UInt8)
  /// The link was not encrypted with a bond's keys within 30 seconds.
  case encryptionTimeout

  /// The error for users if the devices were pairing.
  package func error(with peer: DeviceAddress) -> BluetoothError {
    GAPError.pairingFailed.error("\(peer) and this machine did not pair: \(words)")
  }

  /// The error for users if a bond's keys were used.
  package func errorOfKeys(of peer: DeviceAddress) -> BluetoothError {
    GAPError.pairingFailed.error("the link to \(peer) is not encrypted with the keys of its bond: \(words)")
  }

  private var words: String {
    switch self {
    case .ours(let reason): reason.words
    case .theirs(.unspecified):
      "the device ended it and gave no reason: look whether it shows a question or has too many bonds, and try again"
    case .theirs(let reason): "the device ended it: \(reason.words)"
    case .timeout: "the device did not go on for 30 s"
    case .encryption(0): "a controller ended the encryption"
    case .encryption(let code): HCIStatus(rawValue: code).error("the link could not be encrypted").message
    case .encryptionTimeout: "the device did not answer within 30 s, and is disconnected; connect again"
    }
  }
}
