/// LE Set Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.10).
public struct LESetScanParameters: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = LegacyFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x200B
  /// Whether scan responses are asked for.
  public var isActive: Bool
  /// 0x0004 to 0x4000, in 0.625 ms.
  public var interval: UInt16
  /// 0x0004 to 0x4000, in 0.625 ms.
  public var window: UInt16
  /// Which of our addresses is used.
  public var ownAddressType: AddressType
  /// 0 all, 1 accept list only.
  public var filterPolicy: UInt8

  /// Makes it of its parameters.
  public init(
    isActive: Bool, interval: UInt16, window: UInt16, ownAddressType: AddressType = .public, filterPolicy: UInt8 = 0
  ) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
    self.ownAddressType = ownAddressType
    self.filterPolicy = filterPolicy
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    isActive = try reader.bool()
    interval = try reader.uint16()
    window = try reader.uint16()
    ownAddressType = try AddressType(from: &reader)
    filterPolicy = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(isActive)
    writer.uint16(interval)
    writer.uint16(window)
    ownAddressType.write(to: &writer)
    writer.uint8(filterPolicy)
  }
}

/// LE Set Scan Enable (Core 5.4, Vol 4, Part E, 7.8.11).
public struct LESetScanEnable: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = LegacyFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x200C
  /// On or off.
  public var isEnabled: Bool
  /// Whether the controller hides repetitions.
  public var filtersDuplicates: Bool

  /// Makes it of its parameters.
  public init(isEnabled: Bool, filtersDuplicates: Bool = false) {
    self.isEnabled = isEnabled
    self.filtersDuplicates = filtersDuplicates
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    isEnabled = try reader.bool()
    filtersDuplicates = try reader.bool()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(isEnabled)
    writer.bool(filtersDuplicates)
  }
}
