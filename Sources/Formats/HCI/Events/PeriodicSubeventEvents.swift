/// A train's subevents in events: all zero for a train without (Core 5.4, Vol 4, Part E, 7.7.65.14).
package struct PeriodicSubevents: PacketParameters {
  /// Their number, 0 to 128.
  package var count: UInt8 = 0
  /// Time between the starts of two subevents, in 1.25 ms.
  package var interval: UInt8 = 0
  /// Time between a subevent's start and its first slot for responses, in 1.25 ms; 0 for none.
  package var slotDelay: UInt8 = 0
  /// Time between the starts of two slots, in 0.125 ms; 0 for none.
  package var slotSpacing: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&count, &interval, &slotDelay, &slotSpacing)
  }
}

/// LE Periodic Advertising Sync Established [v2] (Core 5.4, Vol 4, Part E, 7.7.65.14).
package struct LEPeriodicAdvertisingSyncEstablishedV2: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x24
  /// The fields of every train.
  package var established = LEPeriodicAdvertisingSyncEstablished()
  package var subevents = PeriodicSubevents()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&established, &subevents) }
}

/// LE Periodic Advertising Report [v2] (Core 5.4, Vol 4, Part E, 7.7.65.15).
package struct LEPeriodicAdvertisingReportV2: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x25
  /// The train, 0x0000 to 0x0EFF.
  package var handle: UInt16 = 0
  /// In dBm; 127 if unknown.
  package var txPower: Int8 = 127
  /// In dBm; 127 if unknown.
  package var rssi: Int8 = 127
  /// The constant tone extension; 0xFF for none.
  package var toneExtension: UInt8 = 0xFF
  /// The periodic event's number.
  package var event: UInt16 = 0
  /// The subevent's number; meaningless for a train without.
  package var number: UInt8 = 0
  /// 0 complete, 1 more follows, 2 the rest was lost, 0xFF nothing was received.
  package var dataStatus: UInt8 = 0
  /// The train's data.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &txPower, &rssi, &toneExtension)
    coder.fields(&event, &number, &dataStatus)
    coder.octets(&data, countedBy: UInt8.self)
  }
}

/// LE Periodic Advertising Sync Transfer Received [v2] (Core 5.4, Vol 4, Part E, 7.7.65.24).
package struct LEPeriodicAdvertisingSyncTransferReceivedV2: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x26
  /// The fields of every train.
  package var received = LEPeriodicAdvertisingSyncTransferReceived()
  package var subevents = PeriodicSubevents()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&received, &subevents) }
}
