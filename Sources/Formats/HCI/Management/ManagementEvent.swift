/// An event from the kernel's management interface with its meaning (mgmt-api).
package enum ManagementEvent: Hashable, Sendable {
  /// A command was carried out.
  case commandComplete(ManagementCommandComplete)
  /// A command was refused.
  case commandStatus(ManagementCommandStatus)
  /// A controller was added.
  case indexAdded
  /// A controller was removed.
  case indexRemoved
  /// Settings changed.
  case newSettings(NewSettings)
  /// A key was agreed upon.
  case newLongTermKey(NewLongTermKey)
  /// A key was received.
  case newIdentityResolvingKey(NewIdentityResolvingKey)
  /// A key was received or sent.
  case newSignatureResolvingKey(NewSignatureResolvingKey)
  /// A link was established, in the kernel too.
  case deviceConnected(DeviceConnected)
  /// A link ended.
  case deviceDisconnected(DeviceDisconnected)
  /// A link could not be made.
  case connectFailed(ConnectFailed)
  /// A person has to say yes or no.
  case userConfirmationRequest(UserConfirmationRequest)
  /// A person has to type a number.
  case userPasskeyRequest(UserPasskeyRequest)
  /// A number has to be shown.
  case passkeyNotify(PasskeyNotify)
  /// Pairing or encryption failed.
  case authenticationFailed(AuthenticationFailed)
  /// A bond was removed.
  case deviceUnpaired(DeviceUnpaired)
  /// The controller was prepared for the system's sleep.
  case controllerSuspend(ControllerSuspend)
  /// The system is awake again.
  case controllerResume
  /// Any other event.
  case other(ManagementPacket)

  /// Finds an event's meaning. Octets after the parameters are ignored, as later kernels append fields.
  /// - Throws: `.truncated` if the parameters end too early, `.invalidValue` for an undefined value.
  package init(decoding packet: ManagementPacket) throws(HCICodingError) {
    var coder = OctetCoder(reading: packet.parameters)
    switch packet.code {
    case ManagementCommandComplete.code: self = .commandComplete(try coder.read())
    case ManagementCommandStatus.code: self = .commandStatus(try coder.read())
    case 0x0004: self = .indexAdded
    case 0x0005: self = .indexRemoved
    case NewSettings.code: self = .newSettings(try coder.read())
    case NewLongTermKey.code: self = .newLongTermKey(try coder.read())
    case NewIdentityResolvingKey.code: self = .newIdentityResolvingKey(try coder.read())
    case NewSignatureResolvingKey.code: self = .newSignatureResolvingKey(try coder.read())
    case DeviceConnected.code: self = .deviceConnected(try coder.read())
    case DeviceDisconnected.code: self = .deviceDisconnected(try coder.read())
    case ConnectFailed.code: self = .connectFailed(try coder.read())
    case UserConfirmationRequest.code: self = .userConfirmationRequest(try coder.read())
    case UserPasskeyRequest.code: self = .userPasskeyRequest(try coder.read())
    case PasskeyNotify.code: self = .passkeyNotify(try coder.read())
    case AuthenticationFailed.code: self = .authenticationFailed(try coder.read())
    case DeviceUnpaired.code: self = .deviceUnpaired(try coder.read())
    case ControllerSuspend.code: self = .controllerSuspend(try coder.read())
    case 0x002E: self = .controllerResume
    default: self = .other(packet)
    }
  }
}

/// The management interface's Command Complete (mgmt-api).
package struct ManagementCommandComplete: ManagementEventParameters {
  package static let code: UInt16 = 0x0001
  /// The command.
  package var opcode: UInt16 = 0
  package var status = ManagementStatus.success
  /// The octets returned by the command.
  package var returnParameters: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&opcode, &status)
    coder.rest(&returnParameters)
  }
}

/// The management interface's Command Status (mgmt-api).
package struct ManagementCommandStatus: ManagementEventParameters {
  package static let code: UInt16 = 0x0002
  /// The command.
  package var opcode: UInt16 = 0
  package var status = ManagementStatus.success

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&opcode, &status) }
}

/// New Settings (mgmt-api).
package struct NewSettings: ManagementEventParameters {
  package static let code: UInt16 = 0x0006
  /// The settings in force.
  package var settings: ManagementSettings = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&settings) }
}

/// Device Connected (mgmt-api).
package struct DeviceConnected: ManagementEventParameters {
  package static let code: UInt16 = 0x000B
  package var device = ManagementAddress()
  /// Bit 3: the other device initiated it.
  package var flags: UInt32 = 0
  /// The device's advertising data.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&device, &flags)
    coder.octets(&data, countedBy: UInt16.self)
  }
}

/// Device Disconnected (mgmt-api).
package struct DeviceDisconnected: ManagementEventParameters {
  package static let code: UInt16 = 0x000C
  package var device = ManagementAddress()
  /// 0 unknown, 1 timeout, 2 by us, 3 by the device, 4 authentication, 5 by us to suspend.
  package var reason: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &reason) }
}

/// Connect Failed (mgmt-api).
package struct ConnectFailed: ManagementEventParameters {
  package static let code: UInt16 = 0x000D
  package var device = ManagementAddress()
  package var status = ManagementStatus.success

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &status) }
}

/// User Confirmation Request (mgmt-api).
package struct UserConfirmationRequest: ManagementEventParameters {
  package static let code: UInt16 = 0x000F
  package var device = ManagementAddress()
  /// 1: only yes or no is asked (Just Works).
  package var confirmHint: UInt8 = 0
  /// The number to compare, 0 to 999999.
  package var value: UInt32 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &confirmHint, &value) }
}

/// User Passkey Request (mgmt-api).
package struct UserPasskeyRequest: ManagementEventParameters, ManagementDeviceParameters {
  package static let code: UInt16 = 0x0010
  package var device = ManagementAddress()
  package init() {}
}

/// Authentication Failed (mgmt-api).
package struct AuthenticationFailed: ManagementEventParameters {
  package static let code: UInt16 = 0x0011
  package var device = ManagementAddress()
  package var status = ManagementStatus.success

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &status) }
}

/// Device Unpaired (mgmt-api).
package struct DeviceUnpaired: ManagementEventParameters, ManagementDeviceParameters {
  package static let code: UInt16 = 0x0016
  package var device = ManagementAddress()
  package init() {}
}

/// Controller Suspend (mgmt-api).
package struct ControllerSuspend: ManagementEventParameters {
  package static let code: UInt16 = 0x002D
  /// 0 it keeps working, 1 it has no links and does not scan, 2 it scans for devices that may wake the system.
  package var state: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&state) }
}

/// Passkey Notify (mgmt-api).
package struct PasskeyNotify: ManagementEventParameters {
  package static let code: UInt16 = 0x0017
  package var device = ManagementAddress()
  /// The number to show, 0 to 999999.
  package var passkey: UInt32 = 0
  /// Digits typed at the other side.
  package var entered: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &passkey, &entered) }
}
