/// LE Set Extended Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.56).
public struct LESetExtendedAdvertisingEnable: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2039

  /// One of the sets that are switched.
  public struct AdvertisingSet: Hashable, Sendable {
    /// Which set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    /// For how long, in 10 ms; 0 for ever.
    public var duration: UInt16
    /// After how many events it ends; 0 for never.
    public var maximumEvents: UInt8

    /// Makes it of its parameters.
    public init(advertisingHandle: UInt8, duration: UInt16 = 0, maximumEvents: UInt8 = 0) {
      self.advertisingHandle = advertisingHandle
      self.duration = duration
      self.maximumEvents = maximumEvents
    }
  }

  /// On or off.
  public var isEnabled: Bool
  /// Which sets; none with `isEnabled` false means all. At the most 63.
  public var sets: [AdvertisingSet]

  /// Makes it of its parameters.
  public init(isEnabled: Bool, sets: [AdvertisingSet]) {
    self.isEnabled = isEnabled
    self.sets = sets
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    isEnabled = try reader.bool()
    sets = []
    for _ in 0..<(try reader.uint8()) {
      sets.append(
        AdvertisingSet(
          advertisingHandle: try reader.uint8(), duration: try reader.uint16(), maximumEvents: try reader.uint8()))
    }
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(isEnabled)
    writer.uint8(UInt8(min(sets.count, 63)))
    for set in sets.prefix(63) {
      writer.uint8(set.advertisingHandle)
      writer.uint16(set.duration)
      writer.uint8(set.maximumEvents)
    }
  }
}
