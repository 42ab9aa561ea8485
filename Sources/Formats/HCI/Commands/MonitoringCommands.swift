/// LE Add Device To Monitored Advertisers List (Core 6.0, Vol 4, Part E, 7.8.146).
package struct LEAddDeviceToMonitoredAdvertisersList: HCICommand {
  package static let opcode: Opcode = 0x2098
  /// The device: its address on the air, or its identity if the controller resolves it.
  package var peer = HCIAddress()
  /// In dBm, -127 to 20: only stronger packets keep the device.
  package var low: Int8 = -127
  /// In dBm, -127 to 20, at least `low`: a packet at least this strong brings a device back.
  package var high: Int8 = -127
  /// In seconds, 1 to 255: without such a packet for so long the device is lost.
  package var timeout: UInt8 = 1

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&peer, &low, &high, &timeout) }
}

/// LE Clear Monitored Advertisers List (Core 6.0, Vol 4, Part E, 7.8.148).
package struct LEClearMonitoredAdvertisersList: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x209A
  package init() {}
}

/// LE Read Monitored Advertisers List Size (Core 6.0, Vol 4, Part E, 7.8.150): its capacity.
package struct LEReadMonitoredAdvertisersListSize: HCICommand, WithoutParameters {
  package typealias ReturnParameters = ValueReturn<UInt8>
  package static let opcode: Opcode = 0x209B
  package init() {}
}

/// LE Enable Monitoring Advertisers (Core 6.0, Vol 4, Part E, 7.8.149). The listed devices are monitored while the
/// controller scans.
package struct LEEnableMonitoringAdvertisers: HCICommand {
  package static let opcode: Opcode = 0x209C
  package var isEnabled = false

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&isEnabled) }
}
