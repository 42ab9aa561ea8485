/// LE Set Advertising Data (Core 5.4, Vol 4, Part E, 7.8.7).
public struct LESetAdvertisingData: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = LegacyFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2008
  /// At the most 31 octets; further ones are not sent.
  public var data: [UInt8]

  /// Makes it of its parameters.
  public init(data: [UInt8]) { self.data = data }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) { data = try reader.legacyAdvertisingData() }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) { writer.legacyAdvertisingData(data) }
}

/// LE Set Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.8).
public struct LESetScanResponseData: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = LegacyFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2009
  /// At the most 31 octets; further ones are not sent.
  public var data: [UInt8]

  /// Makes it of its parameters.
  public init(data: [UInt8]) { self.data = data }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) { data = try reader.legacyAdvertisingData() }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) { writer.legacyAdvertisingData(data) }
}

extension OctetReader {
  /// A length and 31 octets, of which so many count.
  fileprivate mutating func legacyAdvertisingData() throws(HCICodingError) -> [UInt8] {
    let length = Int(try uint8())
    guard length <= 31 else { throw .invalidValue(UInt64(length)) }
    return Array(try octets(31).prefix(length))
  }
}

extension OctetWriter {
  fileprivate mutating func legacyAdvertisingData(_ data: [UInt8]) {
    uint8(UInt8(min(data.count, 31)))
    octets(data, count: 31)
  }
}
