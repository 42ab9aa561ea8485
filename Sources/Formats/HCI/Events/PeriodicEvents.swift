/// LE Periodic Advertising Sync Established (Core 5.4, Vol 4, Part E, 7.7.65.14).
package struct LEPeriodicAdvertisingSyncEstablished: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x0E
  package var status = HCIStatus.success
  /// The train, 0x0000 to 0x0EFF.
  package var handle: UInt16 = 0
  /// The advertising set's number, 0 to 15.
  package var sid: UInt8 = 0
  /// The advertiser.
  package var advertiser = HCIAddress()
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  package var phy: UInt8 = 1
  /// 0x0006 to 0xFFFF, in 1.25 ms.
  package var interval: UInt16 = 0
  /// The advertiser's clock accuracy, 0 (500 ppm) to 7 (20 ppm).
  package var clockAccuracy: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &sid, &advertiser)
    coder.fields(&phy, &interval, &clockAccuracy)
  }
}

/// LE Periodic Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.15).
package struct LEPeriodicAdvertisingReport: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x0F
  /// The train, 0x0000 to 0x0EFF.
  package var handle: UInt16 = 0
  /// In dBm; 127 if unknown.
  package var txPower: Int8 = 127
  /// In dBm; 127 if unknown.
  package var rssi: Int8 = 127
  /// The constant tone extension; 0xFF for none.
  package var toneExtension: UInt8 = 0xFF
  /// 0 complete, 1 more follows, 2 the rest was lost.
  package var dataStatus: UInt8 = 0
  /// The train's data, at most 247 octets.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &txPower, &rssi, &toneExtension, &dataStatus)
    coder.octets(&data, countedBy: UInt8.self)
  }
}

/// LE Periodic Advertising Sync Lost (Core 5.4, Vol 4, Part E, 7.7.65.16).
package struct LEPeriodicAdvertisingSyncLost: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x10
  /// The train, 0x0000 to 0x0EFF.
  package var handle: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle) }
}

/// LE Periodic Advertising Sync Transfer Received (Core 5.4, Vol 4, Part E, 7.7.65.24): a link's device transferred a
/// train, and the controller is synchronised with it, or could not be.
package struct LEPeriodicAdvertisingSyncTransferReceived: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x18
  package var status = HCIStatus.success
  /// The link.
  package var connectionHandle: ConnectionHandle = 0
  /// A value from the device's host.
  package var serviceData: UInt16 = 0
  /// The train, 0x0000 to 0x0EFF.
  package var handle: UInt16 = 0
  /// The advertising set's number, 0 to 15.
  package var sid: UInt8 = 0
  /// The advertiser.
  package var advertiser = HCIAddress()
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  package var phy: UInt8 = 1
  /// 0x0006 to 0xFFFF, in 1.25 ms.
  package var interval: UInt16 = 0
  /// The advertiser's clock accuracy, 0 (500 ppm) to 7 (20 ppm).
  package var clockAccuracy: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &connectionHandle, &serviceData, &handle, &sid)
    coder.fields(&advertiser, &phy, &interval, &clockAccuracy)
  }
}
