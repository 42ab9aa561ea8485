/// LE Set Periodic Advertising Parameters (Core 5.4, Vol 4, Part E, 7.8.61).
package struct LESetPeriodicAdvertisingParameters: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x203E
  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// 0x0006 to 0xFFFF, in 1.25 ms.
  package var intervalMin: UInt16 = 0
  /// 0x0006 to 0xFFFF, in 1.25 ms.
  package var intervalMax: UInt16 = 0
  /// Bit 6: the transmit power is in the header.
  package var properties: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&advertisingHandle, &intervalMin, &intervalMax, &properties)
  }

  /// The property for the transmit power in the header.
  package static let includesTxPower: UInt16 = 1 << 6
}

/// LE Set Periodic Advertising Data (Core 5.4, Vol 4, Part E, 7.8.62).
package struct LESetPeriodicAdvertisingData: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x203F
  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// Its place in the data.
  package var operation = AdvertisingDataFragment.Operation.complete
  /// At the most 252 octets.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&advertisingHandle, &operation)
    coder.octets(&data, countedBy: UInt8.self, limit: 252)
  }

  /// Splits data of any length into fragments for commands.
  package static func fragments(of data: [UInt8], advertisingHandle: UInt8) -> [Self] {
    AdvertisingDataFragment.fragments(of: data, advertisingHandle: advertisingHandle).map { fragment in
      Self {
        $0.advertisingHandle = fragment.advertisingHandle
        $0.operation = fragment.operation
        $0.data = fragment.data
      }
    }
  }
}

/// LE Set Periodic Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.63).
package struct LESetPeriodicAdvertisingEnable: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2040
  package var isEnabled = false
  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&isEnabled, &advertisingHandle) }
}
