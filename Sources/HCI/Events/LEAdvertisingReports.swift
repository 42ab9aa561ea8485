/// LE Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.2).
public struct LEAdvertisingReports: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x02

  /// One advertisement or scan response.
  public struct Report: Hashable, Sendable {
    /// 0 connectable and scannable, 1 directed, 2 scannable, 3 neither, 4 scan response.
    public var eventType: UInt8
    /// Who sent it.
    public var address: HCIAddress
    /// What it carries.
    public var data: [UInt8]
    /// In dBm; 127 if unknown.
    public var rssi: Int8

    /// Makes it of its parts.
    public init(eventType: UInt8, address: HCIAddress, data: [UInt8], rssi: Int8) {
      self.eventType = eventType
      self.address = address
      self.data = data
      self.rssi = rssi
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
          eventType: try reader.uint8(), address: try reader.address(),
          data: try reader.octets(Int(try reader.uint8())), rssi: try reader.int8()))
    }
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(UInt8(truncatingIfNeeded: reports.count))
    for report in reports.prefix(255) {
      writer.uint8(report.eventType)
      writer.address(report.address)
      writer.uint8(UInt8(truncatingIfNeeded: report.data.count))
      writer.octets(report.data, count: min(report.data.count, 255))
      writer.int8(report.rssi)
    }
  }
}
