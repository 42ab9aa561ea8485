// Controllers unused by the kernel before their configuration.

/// Read Unconfigured Controller Index List; returns a `ControllerIndexList` (mgmt-api).
package struct ReadUnconfiguredIndexList: ManagementCommand, WithoutParameters {
  package static let opcode: UInt16 = 0x0036
  package init() {}
}

/// Read Controller Configuration Information (mgmt-api).
package struct ReadConfigurationInformation: ManagementCommand, WithoutParameters {
  package static let opcode: UInt16 = 0x0037
  package init() {}
}

/// The settings a controller can receive, or lacks (mgmt-api).
package struct ConfigurationOptions: OptionSet, PacketField, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A setting known only to the maker's program.
  package static let external = ConfigurationOptions(rawValue: 1 << 0)
  /// Its public address.
  package static let publicAddress = ConfigurationOptions(rawValue: 1 << 1)
}

/// The result of Read Controller Configuration Information.
package struct ConfigurationInformation: PacketParameters {
  /// The controller's maker.
  package var manufacturer: UInt16 = 0
  /// The configurable settings.
  package var supported: ConfigurationOptions = []
  /// The missing settings.
  package var missing: ConfigurationOptions = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&manufacturer, &supported, &missing) }
}

/// Set Public Address; only while off (mgmt-api).
package struct SetPublicAddress: ManagementCommand {
  package static let opcode: UInt16 = 0x0039
  /// 48 bits.
  package var address: UInt64 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.number(&address, octets: 6) }
}

/// The codes of events about such controllers, which carry nothing (mgmt-api).
package enum UnconfiguredIndex {
  /// Unconfigured Index Added.
  package static let added: UInt16 = 0x001D
  /// Unconfigured Index Removed.
  package static let removed: UInt16 = 0x001E
}
