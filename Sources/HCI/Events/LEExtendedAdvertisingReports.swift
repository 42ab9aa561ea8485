/// LE Extended Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct LEExtendedAdvertisingReports: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x0D

  /// What kind of advertisement was received.
  public struct EventType: OptionSet, Hashable, Sendable {
    /// The bits on the wire.
    public let rawValue: UInt16
    /// Makes a set of its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// The advertiser accepts connections.
    public static let connectable = EventType(rawValue: 1 << 0)
    /// The advertiser answers scan requests.
    public static let scannable = EventType(rawValue: 1 << 1)
    /// It is meant for one device.
    public static let directed = EventType(rawValue: 1 << 2)
    /// It is a scan response.
    public static let scanResponse = EventType(rawValue: 1 << 3)
    /// It came in legacy PDUs.
    public static let legacy = EventType(rawValue: 1 << 4)
    /// More of the data follows in another report.
    public static let incomplete = EventType(rawValue: 1 << 5)
    /// The rest of the data was lost.
    public static let truncated = EventType(rawValue: 1 << 6)
  }

  /// One advertisement, scan response or fragment of one.
  public struct Report: Hashable, Sendable {
    /// What kind of advertisement.
    public var eventType: EventType
    /// Who sent it.
    public var address: HCIAddress
    /// 1 for 1M, 3 for Coded.
    public var primaryPHY: UInt8
    /// 0 none, 1 for 1M, 2 for 2M, 3 for Coded.
    public var secondaryPHY: UInt8
    /// The set identifier; 0xFF for none.
    public var sid: UInt8
    /// In dBm; 127 if unknown.
    public var txPower: Int8
    /// In dBm; 127 if unknown.
    public var rssi: Int8
    /// In 1.25 ms; 0 for none.
    public var periodicAdvertisingInterval: UInt16
    /// For whom directed advertising is.
    public var directAddress: HCIAddress
    /// What it carries, at the most 229 octets.
    public var data: [UInt8]

    /// Makes it of its parts.
    public init(
      eventType: EventType, address: HCIAddress, primaryPHY: UInt8 = 1, secondaryPHY: UInt8 = 0, sid: UInt8 = 0xFF,
      txPower: Int8 = 127, rssi: Int8, periodicAdvertisingInterval: UInt16 = 0, directAddress: HCIAddress = .none,
      data: [UInt8]
    ) {
      self.eventType = eventType
      self.address = address
      self.primaryPHY = primaryPHY
      self.secondaryPHY = secondaryPHY
      self.sid = sid
      self.txPower = txPower
      self.rssi = rssi
      self.periodicAdvertisingInterval = periodicAdvertisingInterval
      self.directAddress = directAddress
      self.data = data
    }
  }

  /// The reports, at least one.
  public var reports: [Report]

  /// Makes it of its parameters.
  public init(reports: [Report]) { self.reports = reports }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    reports = []
    for _ in 0..<(try reader.uint8()) {
      reports.append(
        Report(
          eventType: EventType(rawValue: try reader.uint16()), address: try reader.address(),
          primaryPHY: try reader.uint8(), secondaryPHY: try reader.uint8(), sid: try reader.uint8(),
          txPower: try reader.int8(), rssi: try reader.int8(), periodicAdvertisingInterval: try reader.uint16(),
          directAddress: try reader.address(), data: try reader.octets(Int(try reader.uint8()))))
    }
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(UInt8(truncatingIfNeeded: reports.count))
    for report in reports.prefix(255) {
      writer.uint16(report.eventType.rawValue)
      writer.address(report.address)
      writer.uint8(report.primaryPHY)
      writer.uint8(report.secondaryPHY)
      writer.uint8(report.sid)
      writer.int8(report.txPower)
      writer.int8(report.rssi)
      writer.uint16(report.periodicAdvertisingInterval)
      writer.address(report.directAddress)
      writer.uint8(UInt8(truncatingIfNeeded: report.data.count))
      writer.octets(report.data, count: min(report.data.count, 255))
    }
  }
}
