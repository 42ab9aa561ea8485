import Adapter
import Bluetooth
import HCI
import Host

extension PairingFailure {
  /// Whether it can be a guess that was wrong.
  var isOfAuthentication: Bool {
    switch self {
    case .ours(let reason), .theirs(let reason): reason.isOfAuthentication
    case .timeout, .encryption, .encryptionTimeout: false
    }
  }

  /// The error that users are given where keys of a bond were used: `pairingFailed` if these are of no use, another one
  /// if the link could not be encrypted this time.
  func errorOfBond(with peer: DeviceAddress) -> BluetoothError {
    switch self {
    case .encryption(let code) where BluetoothError.isOfLostKeys(Int(code)): return .lostKeys(of: peer)
    // Not 0: the encryption was ended.
    case .encryption(let code) where code > 0:
      return HCIStatus(rawValue: code).error("the link to \(peer) is not encrypted with the keys of its bond")
    case .encryptionTimeout: return GAPError.timeout.error(errorOfKeys(of: peer).message)
    case .encryption, .ours, .theirs, .timeout: return errorOfKeys(of: peer)
    }
  }
}

extension BluetoothError {
  /// Whether a link that cannot be encrypted with the keys of a bond fails with this HCI error.
  fileprivate static func isOfLostKeys(_ code: Int) -> Bool {
    let causes: [HCIErrorCode] = [.authenticationFailure, .pinOrKeyMissing, .terminatedMICFailure]
    return causes.contains { Int($0.rawValue) == code }
  }

  static func lostKeys(of peer: DeviceAddress) -> BluetoothError {
    GAPError.pairingFailed.error(
      "\(peer) and this machine do not share keys any more: remove the pairing on both sides, then pair again")
  }

  /// The reason why a link could not be encrypted, if the link ended for this one meanwhile.
  func ofBond(with peer: DeviceAddress) -> BluetoothError {
    domain == .hci && Self.isOfLostKeys(code) ? .lostKeys(of: peer) : self
  }
}
