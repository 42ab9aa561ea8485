// MARK: - Controllers (mgmt-api)

/// Read Controller Index List (mgmt-api).
package struct ReadIndexList: ManagementCommand, WithoutParameters {
  package static let opcode: UInt16 = 0x0003
  package init() {}
}

/// The result of Read Controller Index List.
package struct ControllerIndexList: PacketParameters {
  /// The present controllers.
  package var indexes: [ControllerIndex] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.groups(&indexes, countedBy: UInt16.self) }
}

/// Read Controller Information (mgmt-api).
package struct ReadControllerInformation: ManagementCommand, WithoutParameters {
  package static let opcode: UInt16 = 0x0004
  package init() {}
}

/// The result of Read Controller Information.
package struct ControllerInformation: PacketParameters {
  /// The public address as 48 bits; zero if there is none.
  package var address: UInt64 = 0
  /// The version of Bluetooth; 9 is 5.0.
  package var version: UInt8 = 9
  /// The controller's maker.
  package var manufacturer: UInt16 = 0xFFFF
  /// The supported settings.
  package var supported: ManagementSettings = []
  /// The settings in force.
  package var current: ManagementSettings = []
  /// The class of device.
  package var classOfDevice: UInt32 = 0
  /// Its name, without the zeros filling the field of 249 octets.
  package var name: [UInt8] = []
  /// Its short name, without the zeros filling the field of 11 octets.
  package var shortName: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.number(&address, octets: 6)
    coder.fields(&version, &manufacturer, &supported, &current)
    coder.number(&classOfDevice, octets: 3)
    coder.octets(&name, count: 249)
    coder.octets(&shortName, count: 11)
    name = Array(name.prefix { $0 != 0 })
    shortName = Array(shortName.prefix { $0 != 0 })
  }
}

/// Set Static Address; only while off (mgmt-api).
package struct SetStaticAddress: ManagementCommand {
  package static let opcode: UInt16 = 0x002B
  /// 48 bits, the two top ones set; zero for none.
  package var address: UInt64 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.number(&address, octets: 6) }
}

// MARK: - Settings

/// A command that sets one octet.
package protocol ManagementSettingCommand: ManagementCommand {
  /// 0 off, 1 on, and the command's further values.
  var value: UInt8 { get set }
}

extension ManagementSettingCommand {
  package init(value: UInt8) {
    self.init()
    self.value = value
  }
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&value) }
}

/// Set Powered (mgmt-api).
package struct SetPowered: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x0005
  package var value: UInt8 = 0
  package init() {}
}

/// Set Bondable (mgmt-api).
package struct SetBondable: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x0009
  package var value: UInt8 = 0
  package init() {}
}

/// Set Secure Simple Pairing (mgmt-api).
package struct SetSecureSimplePairing: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x000B
  package var value: UInt8 = 0
  package init() {}
}

/// Set Low Energy (mgmt-api).
package struct SetLowEnergy: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x000D
  package var value: UInt8 = 0
  package init() {}
}

/// Set Connectable (mgmt-api).
package struct SetConnectable: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x0007
  package var value: UInt8 = 0
  package init() {}
}

/// Set IO Capability (mgmt-api).
package struct SetIOCapability: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x0018
  /// 0 display only, 1 display yes/no, 2 keyboard only, 3 none, 4 keyboard and display.
  package var value: UInt8 = 0
  package init() {}
}

/// Set Advertising (mgmt-api).
package struct SetAdvertising: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x0029
  package var value: UInt8 = 0
  package init() {}
}

/// Set Secure Connections (mgmt-api).
package struct SetSecureConnections: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x002D
  /// 0 off, 1 on, 2 only.
  package var value: UInt8 = 0
  package init() {}
}

/// Set Privacy; only while off (mgmt-api).
package struct SetPrivacy: ManagementCommand {
  package static let opcode: UInt16 = 0x002F
  /// 0 off, 1 on, 2 limited.
  package var mode: UInt8 = 0
  /// 16 octets.
  package var identityResolvingKey: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&mode)
    coder.octets(&identityResolvingKey, count: 16)
  }
}

/// Start Discovery (mgmt-api).
package struct StartDiscovery: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x0023
  /// The transports and kinds of addresses, a bit each: 6 for LE with both.
  package var value: UInt8 = 6
  package init() {}
}

/// Stop Discovery (mgmt-api).
package struct StopDiscovery: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x0024
  /// As it was started.
  package var value: UInt8 = 6
  package init() {}
}

/// Remove Device (mgmt-api): the kernel no longer connects to it by itself.
package struct RemoveDevice: ManagementCommand, ManagementDeviceParameters {
  package static let opcode: UInt16 = 0x0034
  /// Address and type 0 for all.
  package var device = ManagementAddress()
  package init() {}
}

/// Remove Advertising (mgmt-api).
package struct RemoveAdvertising: ManagementSettingCommand {
  package static let opcode: UInt16 = 0x003F
  /// The instance; 0 for all.
  package var value: UInt8 = 0
  package init() {}
}

/// Add Extended Advertising Parameters (mgmt-api): prepares an advertisement without sending it.
package struct AddExtendedAdvertisingParameters: ManagementCommand {
  package static let opcode: UInt16 = 0x0054

  /// The kind of advertisement.
  package struct Flags: OptionSet, PacketField, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Connectable.
    package static let connectable = Flags(rawValue: 1 << 0)
    /// In general discoverable mode.
    package static let discoverable = Flags(rawValue: 1 << 1)
  }

  /// The instance, from 1.
  package var instance: UInt8 = 0
  package var flags = Flags.connectable
  /// The duration in seconds, which the flags say is not given.
  package var duration: UInt16 = 0
  package var timeout: UInt16 = 0
  package var minimumInterval: UInt32 = 0
  package var maximumInterval: UInt32 = 0
  package var txPower: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&instance, &flags, &duration, &timeout)
    coder.fields(&minimumInterval, &maximumInterval, &txPower)
  }
}

// MARK: - Links and pairing

/// Pair Device (mgmt-api).
package struct PairDevice: ManagementCommand {
  package static let opcode: UInt16 = 0x0019
  package var device = ManagementAddress()
  /// Our means to show and ask, as for Set IO Capability.
  package var capability: UInt8 = 3

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &capability) }
}

/// Cancel Pair Device (mgmt-api).
package struct CancelPairDevice: ManagementCommand, ManagementDeviceParameters {
  package static let opcode: UInt16 = 0x001A
  package var device = ManagementAddress()
  package init() {}
}

/// Unpair Device (mgmt-api).
package struct UnpairDevice: ManagementCommand {
  package static let opcode: UInt16 = 0x001B
  package var device = ManagementAddress()
  /// True to end a link to it, too.
  package var disconnects = false

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &disconnects) }
}

/// User Confirmation Reply (mgmt-api).
package struct UserConfirmationReply: ManagementCommand, ManagementDeviceParameters {
  package static let opcode: UInt16 = 0x001C
  package var device = ManagementAddress()
  package init() {}
}

/// User Confirmation Negative Reply (mgmt-api).
package struct UserConfirmationNegativeReply: ManagementCommand, ManagementDeviceParameters {
  package static let opcode: UInt16 = 0x001D
  package var device = ManagementAddress()
  package init() {}
}

/// User Passkey Reply (mgmt-api).
package struct UserPasskeyReply: ManagementCommand {
  package static let opcode: UInt16 = 0x001E
  package var device = ManagementAddress()
  /// The typed number, 0 to 999999.
  package var passkey: UInt32 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device, &passkey) }
}

/// User Passkey Negative Reply (mgmt-api).
package struct UserPasskeyNegativeReply: ManagementCommand, ManagementDeviceParameters {
  package static let opcode: UInt16 = 0x001F
  package var device = ManagementAddress()
  package init() {}
}
