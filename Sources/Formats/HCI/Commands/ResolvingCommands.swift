/// LE Add Device To Resolving List (Core 5.4, Vol 4, Part E, 7.8.38).
package struct LEAddDeviceToResolvingList: HCICommand {
  package static let opcode: Opcode = 0x2027
  /// The device's identity address.
  package var peer = HCIAddress()
  /// The key for the device's private addresses (its IRK), least significant octet first.
  package var peerKey: [UInt8] = []
  /// The key for ours (our IRK), known to the device; zeros for none.
  package var localKey: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&peer)
    coder.octets(&peerKey, count: 16)
    coder.octets(&localKey, count: 16)
  }
}

/// LE Remove Device From Resolving List (Core 5.4, Vol 4, Part E, 7.8.39).
package struct LERemoveDeviceFromResolvingList: HCICommand {
  package static let opcode: Opcode = 0x2028
  /// The device's identity address.
  package var peer = HCIAddress()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&peer) }
}

/// LE Read Resolving List Size (Core 5.4, Vol 4, Part E, 7.8.41).
package struct LEReadResolvingListSize: HCICommand, WithoutParameters {
  package typealias ReturnParameters = ValueReturn<UInt8>
  package static let opcode: Opcode = 0x202A
  package init() {}
}

/// LE Set Address Resolution Enable (Core 5.4, Vol 4, Part E, 7.8.44). While it is on, the list cannot be changed
/// during scanning, advertising and initiating.
package struct LESetAddressResolutionEnable: HCICommand {
  package static let opcode: Opcode = 0x202D
  package var isEnabled = false

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&isEnabled) }
}

/// LE Set Privacy Mode (Core 5.4, Vol 4, Part E, 7.8.77) for a device in the resolving list.
package struct LESetPrivacyMode: HCICommand {
  package static let opcode: Opcode = 0x204E
  /// The device's identity address.
  package var peer = HCIAddress()
  /// 0 network: the device is not received under its identity address; 1 device: it is.
  package var mode: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&peer, &mode) }
}
