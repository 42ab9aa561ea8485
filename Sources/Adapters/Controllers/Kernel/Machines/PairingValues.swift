import Adapter
import Bluetooth
import HCI

extension PairingSettings {
  /// The value of Set IO Capability (mgmt-api). Where no device may pair it is not "none", with which the kernel would
  /// pair without asking.
  var ioCapability: UInt8 {
    capability == .none && !acceptsDevices ? PairingCapability.displayYesNo.code : capability.code
  }
}

extension PairingCapability {
  /// The value of Pair Device (mgmt-api).
  var code: UInt8 {
    switch self {
    case .display: 0
    case .displayYesNo: 1
    case .keyboard: 2
    case .none: 3
    case .keyboardDisplay: 4
    }
  }
}

extension LongTermKey {
  /// A key from the kernel; nil for one that must not be kept: from a pairing with debug keys, or without content.
  init?(_ key: ManagementLongTermKey) {
    guard key.keyType < 4, (7...16).contains(key.encryptionSize), key.value.contains(where: { $0 != 0 }) else {
      return nil
    }
    self.init(
      value: key.value, size: Int(key.encryptionSize), diversifier: key.encryptedDiversifier, random: key.randomNumber,
      isAuthenticated: key.keyType % 2 == 1, isSecureConnections: key.keyType >= 2,
      role: key.isCentral ? .central : .peripheral)
  }
}

extension ManagementLongTermKey {
  init(_ key: LongTermKey, of peer: DeviceAddress) {
    self.init()
    device = ManagementAddress(peer)
    keyType = (key.isAuthenticated ? 1 : 0) + (key.isSecureConnections ? 2 : 0)
    isCentral = key.role == .central
    encryptionSize = UInt8(clamping: key.size)
    encryptedDiversifier = key.diversifier
    randomNumber = key.random
    value = key.value
  }
}

extension ManagementEvent {
  /// The answer to a command, if this is one.
  var answer: (opcode: UInt16, status: ManagementStatus)? {
    switch self {
    case .commandComplete(let complete): (complete.opcode, complete.status)
    case .commandStatus(let status): (status.opcode, status.status)
    default: nil
    }
  }

  /// True if it concerns a pairing, or answers a command about one.
  var isAboutPairing: Bool {
    switch self {
    case .userConfirmationRequest, .userPasskeyRequest, .passkeyNotify, .newLongTermKey, .newIdentityResolvingKey,
      .newSignatureResolvingKey, .authenticationFailed, .deviceUnpaired:
      true
    case .commandComplete(let complete): Self.pairingCommands.contains(complete.opcode)
    case .commandStatus(let status): Self.pairingCommands.contains(status.opcode)
    default: false
    }
  }

  private static var pairingCommands: [UInt16] { [PairDevice.opcode, ReadLocalOutOfBandExtendedData.opcode] }
}

extension ManagementStatus {
  /// Why a pairing failed (mgmt-api, Error codes).
  func pairingError(with peer: DeviceAddress) -> BluetoothError {
    let reason =
      switch rawValue {
      case 0x03: "the device ended it, or could not go on: look whether it shows a question, and try again"
      case 0x06: "the other side lost its keys: forget the device on both sides and pair again"
      case 0x0A: "another pairing is in progress: try again when it has ended"
      case 0x0C: "they cannot pair with each other"
      default: "\(self)"
      }
    return GAPError.pairingFailed.error("\(peer) and this machine did not pair: \(reason)")
  }
}
