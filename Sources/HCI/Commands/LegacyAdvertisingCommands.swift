/// LE Set Advertising Parameters (Core 5.4, Vol 4, Part E, 7.8.5).
public struct LESetAdvertisingParameters: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = LegacyFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2006
  /// 0x0020 to 0x4000, in 0.625 ms.
  public var intervalMin: UInt16
  /// 0x0020 to 0x4000, in 0.625 ms.
  public var intervalMax: UInt16
  /// Which PDU is sent.
  public var type: LegacyAdvertisingType
  /// Which of our addresses is used.
  public var ownAddressType: AddressType
  /// To whom, for directed advertising.
  public var peer: HCIAddress
  /// Bits 0 to 2: channels 37 to 39.
  public var channelMap: UInt8
  /// Who may scan and connect; 0 everybody.
  public var filterPolicy: UInt8

  /// Makes it of its parameters.
  public init(
    intervalMin: UInt16, intervalMax: UInt16, type: LegacyAdvertisingType, ownAddressType: AddressType = .public,
    peer: HCIAddress = .none, channelMap: UInt8 = 7, filterPolicy: UInt8 = 0
  ) {
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.type = type
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.channelMap = channelMap
    self.filterPolicy = filterPolicy
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    intervalMin = try reader.uint16()
    intervalMax = try reader.uint16()
    type = try LegacyAdvertisingType(from: &reader)
    ownAddressType = try AddressType(from: &reader)
    peer = try reader.address()
    channelMap = try reader.uint8()
    filterPolicy = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(intervalMin)
    writer.uint16(intervalMax)
    type.write(to: &writer)
    ownAddressType.write(to: &writer)
    writer.address(peer)
    writer.uint8(channelMap)
    writer.uint8(filterPolicy)
  }
}

/// LE Set Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.9).
public struct LESetAdvertisingEnable: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = LegacyFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x200A
  /// On or off.
  public var isEnabled: Bool

  /// Makes it of its parameters.
  public init(isEnabled: Bool) {
    self.isEnabled = isEnabled
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    isEnabled = try reader.bool()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(isEnabled)
  }
}
