/// LE Periodic Advertising Sync Transfer (Core 5.4, Vol 4, Part E, 7.8.89): a link's device can follow a train we
/// follow.
package struct LEPeriodicAdvertisingSyncTransfer: HCICommand {
  package static let opcode: Opcode = 0x205A
  /// The link.
  package var connectionHandle: ConnectionHandle = 0
  /// A value for the device's host.
  package var serviceData: UInt16 = 0
  /// The train, 0x0000 to 0x0EFF.
  package var syncHandle: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&connectionHandle, &serviceData, &syncHandle)
  }
}

/// LE Periodic Advertising Set Info Transfer (Core 5.4, Vol 4, Part E, 7.8.90): a link's device can follow our own
/// train.
package struct LEPeriodicAdvertisingSetInfoTransfer: HCICommand {
  package static let opcode: Opcode = 0x205B
  /// The link.
  package var connectionHandle: ConnectionHandle = 0
  /// A value for the device's host.
  package var serviceData: UInt16 = 0
  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&connectionHandle, &serviceData, &advertisingHandle)
  }
}

/// LE Set Periodic Advertising Sync Transfer Parameters (Core 5.4, Vol 4, Part E, 7.8.91): follows, or ignores, trains
/// transferred by a link's device.
package struct LESetPeriodicAdvertisingSyncTransferParameters: HCICommand {
  package static let opcode: Opcode = 0x205C
  /// The link.
  package var connectionHandle: ConnectionHandle = 0
  /// 0 they are not, 1 without reports, 2 with reports, 3 with reports without duplicates.
  package var mode: UInt8 = 0
  /// Packets that may be skipped after a received one, 0 to 499.
  package var skip: UInt16 = 0
  /// 0x000A to 0x4000, in 10 ms.
  package var timeout: UInt16 = 0x000A
  /// The constant tone extensions that exclude a train; 0 accepts all.
  package var toneExtensions: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&connectionHandle, &mode, &skip, &timeout, &toneExtensions)
  }

  /// The mode that follows trains and reports all their packets.
  package static let followed: UInt8 = 2
}
