/// LE Set Advertising Parameters (Core 5.4, Vol 4, Part E, 7.8.5).
package struct LESetAdvertisingParameters: HCICommand {
  package typealias Family = LegacyFamily
  package static let opcode: Opcode = 0x2006

  /// The PDU to send.
  package enum AdvertisingType: UInt8, PacketField, Hashable, Sendable {
    /// ADV_IND: connectable and scannable, undirected.
    case connectableUndirected = 0
    /// ADV_DIRECT_IND, high duty cycle.
    case directedHighDutyCycle = 1
    /// ADV_SCAN_IND: scannable, undirected.
    case scannableUndirected = 2
    /// ADV_NONCONN_IND: neither.
    case nonconnectableUndirected = 3
    /// ADV_DIRECT_IND, low duty cycle.
    case directedLowDutyCycle = 4

    package init() { self = .connectableUndirected }
  }

  /// 0x0020 to 0x4000, in 0.625 ms.
  package var intervalMin: UInt16 = 0x0800
  /// 0x0020 to 0x4000, in 0.625 ms.
  package var intervalMax: UInt16 = 0x0800
  /// The PDU to send.
  package var type = AdvertisingType.connectableUndirected
  /// The kind of our address.
  package var ownAddressType = AddressType.public
  /// The target of directed advertising.
  package var peer = HCIAddress()
  /// Bits 0 to 2: channels 37 to 39.
  package var channelMap: UInt8 = 7
  /// The devices permitted to scan and connect; 0 all.
  package var filterPolicy: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&intervalMin, &intervalMax, &type, &ownAddressType, &peer)
    coder.fields(&channelMap, &filterPolicy)
  }
}

/// LE Set Advertising Data (Core 5.4, Vol 4, Part E, 7.8.7).
package struct LESetAdvertisingData: HCICommand {
  package typealias Family = LegacyFamily
  package static let opcode: Opcode = 0x2008
  /// At the most 31 octets; further ones are not sent.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.legacyAdvertisingData(&data) }
}

/// LE Set Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.8).
package struct LESetScanResponseData: HCICommand {
  package typealias Family = LegacyFamily
  package static let opcode: Opcode = 0x2009
  /// At the most 31 octets; further ones are not sent.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.legacyAdvertisingData(&data) }
}

extension OctetCoder {
  /// A length and 31 octets; the length is the number of valid ones.
  fileprivate mutating func legacyAdvertisingData(_ data: inout [UInt8]) {
    var length = UInt8(min(data.count, 31))
    fields(&length)
    guard length <= 31 else { return fail(.invalidValue(UInt64(length))) }
    octets(&data, count: 31)
    data = Array(data.prefix(Int(length)))
  }
}

/// LE Set Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.9).
package struct LESetAdvertisingEnable: HCICommand {
  package typealias Family = LegacyFamily
  package static let opcode: Opcode = 0x200A
  package var isEnabled = false

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&isEnabled) }
}

/// LE Set Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.10).
package struct LESetScanParameters: HCICommand {
  package typealias Family = LegacyFamily
  package static let opcode: Opcode = 0x200B
  /// True to request scan responses.
  package var isActive = false
  /// 0x0004 to 0x4000, in 0.625 ms.
  package var interval: UInt16 = 0x0010
  /// 0x0004 to 0x4000, in 0.625 ms.
  package var window: UInt16 = 0x0010
  /// The kind of our address.
  package var ownAddressType = AddressType.public
  /// 0 all, 1 accept list only.
  package var filterPolicy: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&isActive, &interval, &window, &ownAddressType, &filterPolicy)
  }
}

/// LE Set Scan Enable (Core 5.4, Vol 4, Part E, 7.8.11).
package struct LESetScanEnable: HCICommand {
  package typealias Family = LegacyFamily
  package static let opcode: Opcode = 0x200C
  package var isEnabled = false
  /// True if the controller hides repetitions.
  package var filtersDuplicates = false

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&isEnabled, &filtersDuplicates) }
}

/// LE Create Connection (Core 5.4, Vol 4, Part E, 7.8.12).
package struct LECreateConnection: HCICommand {
  package typealias Family = LegacyFamily
  package static let opcode: Opcode = 0x200D
  /// 0x0004 to 0x4000, in 0.625 ms.
  package var scanInterval: UInt16 = 0
  /// 0x0004 to 0x4000, in 0.625 ms.
  package var scanWindow: UInt16 = 0
  /// 0 the peer below, 1 any device in the accept list.
  package var filterPolicy: UInt8 = 0
  /// The peer; not looked at if the accept list is used.
  package var peer = HCIAddress()
  /// The kind of our address.
  package var ownAddressType = AddressType.public
  /// 0x0006 to 0x0C80, in 1.25 ms.
  package var intervalMin: UInt16 = 0
  /// 0x0006 to 0x0C80, in 1.25 ms.
  package var intervalMax: UInt16 = 0
  /// Events the peripheral may skip, 0 to 499.
  package var latency: UInt16 = 0
  /// 0x000A to 0x0C80, in 10 ms.
  package var supervisionTimeout: UInt16 = 0
  /// In 0.625 ms.
  package var minimumCELength: UInt16 = 0
  /// In 0.625 ms.
  package var maximumCELength: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&scanInterval, &scanWindow, &filterPolicy, &peer, &ownAddressType)
    coder.fields(&intervalMin, &intervalMax, &latency, &supervisionTimeout, &minimumCELength, &maximumCELength)
  }
}
