/// LE Set Extended Scan Enable (Core 5.4, Vol 4, Part E, 7.8.65).
public struct LESetExtendedScanEnable: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2042
  /// On or off.
  public var isEnabled: Bool
  /// 0 all, 1 hide repetitions, 2 the same for each period.
  public var filtersDuplicates: UInt8
  /// In 10 ms; 0 for ever.
  public var duration: UInt16
  /// In 1.28 s; 0 for none.
  public var period: UInt16

  /// Makes it of its parameters.
  public init(isEnabled: Bool, filtersDuplicates: UInt8 = 0, duration: UInt16 = 0, period: UInt16 = 0) {
    self.isEnabled = isEnabled
    self.filtersDuplicates = filtersDuplicates
    self.duration = duration
    self.period = period
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    isEnabled = try reader.bool()
    filtersDuplicates = try reader.uint8()
    duration = try reader.uint16()
    period = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(isEnabled)
    writer.uint8(filtersDuplicates)
    writer.uint16(duration)
    writer.uint16(period)
  }
}
