/// LE Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.2).
package struct LEAdvertisingReports: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x02

  /// An advertisement or scan response.
  package struct Report: PacketParameters {
    /// 0 connectable and scannable, 1 directed, 2 scannable, 3 neither, 4 scan response.
    package var eventType: UInt8 = 0
    /// The sender.
    package var address = HCIAddress()
    /// The advertised data.
    package var data: [UInt8] = []
    /// In dBm; 127 if unknown.
    package var rssi: Int8 = 127

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&eventType, &address)
      coder.octets(&data, countedBy: UInt8.self)
      coder.fields(&rssi)
    }
  }

  /// The reports, at least one.
  package var reports: [Report] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.groups(&reports, countedBy: UInt8.self) }
}

/// LE Extended Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.13).
package struct LEExtendedAdvertisingReports: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x0D

  /// A received advertisement's kind.
  package struct EventType: OptionSet, PacketField, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The advertiser accepts connections.
    package static let connectable = EventType(rawValue: 1 << 0)
    /// The advertiser answers scan requests.
    package static let scannable = EventType(rawValue: 1 << 1)
    /// The advertisement is meant for one device.
    package static let directed = EventType(rawValue: 1 << 2)
    /// The packet is a scan response.
    package static let scanResponse = EventType(rawValue: 1 << 3)
    /// Received in legacy PDUs.
    package static let legacy = EventType(rawValue: 1 << 4)
    /// More data follows in another report.
    package static let incomplete = EventType(rawValue: 1 << 5)
    /// The rest of the data was lost.
    package static let truncated = EventType(rawValue: 1 << 6)
  }

  /// An advertisement, a scan response or a fragment.
  package struct Report: PacketParameters {
    /// The kind of advertisement.
    package var eventType: EventType = []
    /// The sender.
    package var address = HCIAddress()
    /// 1 for 1M, 3 for Coded.
    package var primaryPHY: UInt8 = 1
    /// 0 none, 1 for 1M, 2 for 2M, 3 for Coded.
    package var secondaryPHY: UInt8 = 0
    /// The set identifier; 0xFF for none.
    package var sid: UInt8 = 0xFF
    /// In dBm; 127 if unknown.
    package var txPower: Int8 = 127
    /// In dBm; 127 if unknown.
    package var rssi: Int8 = 127
    /// In 1.25 ms; 0 for none.
    package var periodicAdvertisingInterval: UInt16 = 0
    /// The target of directed advertising.
    package var directAddress = HCIAddress()
    /// The advertised data, at the most 229 octets.
    package var data: [UInt8] = []

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&eventType, &address, &primaryPHY, &secondaryPHY, &sid)
      coder.fields(&txPower, &rssi, &periodicAdvertisingInterval, &directAddress)
      coder.octets(&data, countedBy: UInt8.self)
    }
  }

  /// The reports, at least one.
  package var reports: [Report] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.groups(&reports, countedBy: UInt8.self) }
}

/// A packet's reports. There are hundreds per second, so they are read without the copies made for a packet and then an
/// event.
package enum AdvertisingReports: Hashable, Sendable {
  case legacy(LEAdvertisingReports)
  case extended(LEExtendedAdvertisingReports)

  /// Reads a whole packet, as `HCIPacket` and `HCIEvent` do.
  /// - Returns: nil for a packet without reports.
  /// - Throws: `.truncated`, and `.trailingOctets` if the packet does not end where its length says.
  package init?(decoding octets: [UInt8]) throws(HCICodingError) {
    guard var coder = try HCIPacket.parameters(of: HCIEvent.leMeta, in: octets) else { return nil }
    switch try coder.read() as UInt8 {
    case LEAdvertisingReports.subevent: self = .legacy(try coder.read())
    case LEExtendedAdvertisingReports.subevent: self = .extended(try coder.read())
    default: return nil
    }
  }
}
