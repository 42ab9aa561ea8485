/// LE Periodic Advertising Create Sync (Core 5.4, Vol 4, Part E, 7.8.67).
package struct LEPeriodicAdvertisingCreateSync: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2044
  /// Bit 0: the periodic advertiser list is used; bit 1: no reports at first; bit 2: duplicates are filtered.
  package var options: UInt8 = 0
  /// The advertising set's number, 0 to 15.
  package var sid: UInt8 = 0
  /// The advertiser.
  package var advertiser = HCIAddress()
  /// Packets that may be skipped after a received one, 0 to 499.
  package var skip: UInt16 = 0
  /// 0x000A to 0x4000, in 10 ms.
  package var timeout: UInt16 = 0
  /// The constant tone extensions that exclude a train; 0 accepts all.
  package var toneExtensions: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&options, &sid, &advertiser)
    coder.fields(&skip, &timeout, &toneExtensions)
  }
}

/// LE Periodic Advertising Create Sync Cancel (Core 5.4, Vol 4, Part E, 7.8.68).
package struct LEPeriodicAdvertisingCreateSyncCancel: HCICommand, WithoutParameters {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2045
  package init() {}
}

/// LE Periodic Advertising Terminate Sync (Core 5.4, Vol 4, Part E, 7.8.69).
package struct LEPeriodicAdvertisingTerminateSync: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2046
  /// The train, 0x0000 to 0x0EFF.
  package var handle: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle) }
}
