/// LE Periodic Advertising Subevent Data Request (Core 5.4, Vol 4, Part E, 7.7.65.36): the controller is about to send
/// these subevents.
package struct LEPeriodicAdvertisingSubeventDataRequest: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x27
  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// The first subevent, 0 to 127; the last one is followed by number 0.
  package var first: UInt8 = 0
  /// Their number, 1 to 128.
  package var count: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&advertisingHandle, &first, &count) }
}

/// LE Periodic Advertising Response Report (Core 5.4, Vol 4, Part E, 7.7.65.37).
package struct LEPeriodicAdvertisingResponseReport: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x28

  /// A slot's content.
  package struct Response: PacketParameters {
    /// In dBm; 127 if unknown.
    package var txPower: Int8 = 127
    /// In dBm; 127 if unknown.
    package var rssi: Int8 = 127
    /// The constant tone extension; 0xFF for none.
    package var toneExtension: UInt8 = 0xFF
    /// The slot.
    package var slot: UInt8 = 0
    /// 0 complete, 1 more follows, 2 the rest was lost, 0xFF nothing was received.
    package var dataStatus: UInt8 = 0
    /// The device's data.
    package var data: [UInt8] = []

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&txPower, &rssi, &toneExtension, &slot, &dataStatus)
      coder.octets(&data, countedBy: UInt8.self)
    }
  }

  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// The subevent, 0 to 127.
  package var number: UInt8 = 0
  /// 0 if the subevent's data was sent.
  package var txStatus: UInt8 = 0
  /// The slots.
  package var responses: [Response] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&advertisingHandle, &number, &txStatus)
    coder.groups(&responses, countedBy: UInt8.self)
  }
}
