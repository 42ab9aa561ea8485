import Adapter
import Bluetooth
import HCI
import Host

extension PairingFailure {
  /// True if it can result from a wrong guess.
  var isOfAuthentication: Bool {
    switch self {
    case .ours(let reason), .theirs(let reason): reason.isOfAuthentication
    case .timeout, .encryption, .encryptionTimeout: false
    }
  }

  /// The error for users after use of a bond's keys: `pairingFailed` if the keys are invalid, another one if the link
  /// could not be encrypted this time.
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
