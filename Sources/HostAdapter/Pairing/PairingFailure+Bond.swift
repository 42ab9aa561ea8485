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

  /// The error that users are given where keys of a bond were used.
  func errorOfBond(with peer: DeviceAddress) -> BluetoothError {
    guard case .encryption(let code) = self, BluetoothError.isOfLostKeys(Int(code)) else {
      return errorOfKeys(of: peer)
    }
    return .lostKeys(of: peer)
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
