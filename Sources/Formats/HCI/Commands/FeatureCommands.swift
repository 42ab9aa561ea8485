/// LE Read All Local Supported Features (Core 6.0, Vol 4, Part E, 7.8.128).
package struct LEReadAllLocalSupportedFeatures: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x2087
  package init() {}

  /// A controller's features; those of later pages follow, and are not read.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// The highest page with a feature, 0 to 10.
    package var lastPage: UInt8 = 0
    /// Page 0.
    package var features: LEFeatures = []
    /// The first 64 of page 1.
    package var more: LEMoreFeatures = []

    package init() {}
    package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &lastPage, &features, &more) }
  }
}

/// LE Read All Remote Features (Core 6.0, Vol 4, Part E, 7.8.129). The outcome is LE Read All Remote Features Complete.
package struct LEReadAllRemoteFeatures: HCICommand {
  package static let opcode: Opcode = 0x2088
  package var handle: ConnectionHandle = 0
  /// Requested pages beyond the other controller's first, 0 to 10.
  package var pages: UInt8 = 1

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle, &pages) }
}

/// LE Set Host Feature [v2] (Core 6.0, Vol 4, Part E, 7.8.115), for the bits of all pages. Disallowed while there is a
/// link.
package struct LESetHostFeatureV2: HCICommand {
  package static let opcode: Opcode = 0x2097
  /// The feature's bit number, among the host's bits (Vol 6, Part B, 4.6).
  package var bit: UInt16 = 0
  /// 0 not supported, 1 supported.
  package var value: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&bit, &value) }
}

/// An LE controller's features from bit 64 on (Core 6.2, Vol 6, Part B, 4.6).
package struct LEMoreFeatures: OptionSet, PacketField, Hashable, Sendable {
  /// One bit per feature; bit 0 is feature 64.
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Monitoring Advertisers.
  package static let monitoringAdvertisers = LEMoreFeatures(rawValue: 1 << 0)
  /// Shorter Connection Intervals.
  package static let shorterConnectionIntervals = LEMoreFeatures(rawValue: 1 << 8)
  /// Shorter Connection Intervals (Host Support).
  package static let shorterConnectionIntervalsHostSupport = LEMoreFeatures(rawValue: 1 << 9)
}
