import Bluetooth

/// The controller's error codes that come up on the simulated air (Core 5.4, Vol 1, Part F, 1.3).
enum HCIReason: Int {
  case hardwareFailure = 0x03
  case memoryCapacityExceeded = 0x07
  case connectionTimeout = 0x08
  case connectionLimitExceeded = 0x09
  case remoteUserTerminatedConnection = 0x13
  case remoteDeviceTerminatedConnectionDueToPowerOff = 0x15
  case connectionTerminatedByLocalHost = 0x16
  case connectionFailedToBeEstablished = 0x3E

  /// The error as everybody carries it.
  var error: BluetoothError {
    BluetoothError(domain: .hci, code: rawValue, name: "\(self)", message: message)
  }

  private var message: String {
    switch self {
    case .hardwareFailure: "The adapter is gone."
    case .memoryCapacityExceeded: "More was sent than the link can hold."
    case .connectionTimeout: "The device is out of reach: nothing came from it for the supervision timeout."
    case .connectionLimitExceeded: "The adapter has no room for one more link: disconnect one."
    case .remoteUserTerminatedConnection: "The device ended the connection."
    case .remoteDeviceTerminatedConnectionDueToPowerOff: "The device was switched off."
    case .connectionTerminatedByLocalHost: "The connection was ended here."
    case .connectionFailedToBeEstablished: "The device did not answer the attempt to connect."
    }
  }
}
