/// LE Create Connection (Core 5.4, Vol 4, Part E, 7.8.12).
public struct LECreateConnection: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = LegacyFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x200D
  /// 0x0004 to 0x4000, in 0.625 ms.
  public var scanInterval: UInt16
  /// 0x0004 to 0x4000, in 0.625 ms.
  public var scanWindow: UInt16
  /// 0 the peer below, 1 whoever is in the accept list.
  public var filterPolicy: UInt8
  /// With whom; not looked at if the accept list is used.
  public var peer: HCIAddress
  /// Which of our addresses is used.
  public var ownAddressType: AddressType
  /// 0x0006 to 0x0C80, in 1.25 ms.
  public var intervalMin: UInt16
  /// 0x0006 to 0x0C80, in 1.25 ms.
  public var intervalMax: UInt16
  /// Events that the peripheral may skip, 0 to 499.
  public var latency: UInt16
  /// 0x000A to 0x0C80, in 10 ms.
  public var supervisionTimeout: UInt16
  /// In 0.625 ms.
  public var minimumCELength: UInt16
  /// In 0.625 ms.
  public var maximumCELength: UInt16

  /// Makes it of its parameters.
  public init(
    scanInterval: UInt16, scanWindow: UInt16, filterPolicy: UInt8, peer: HCIAddress,
    ownAddressType: AddressType = .public, intervalMin: UInt16, intervalMax: UInt16, latency: UInt16,
    supervisionTimeout: UInt16, minimumCELength: UInt16 = 0, maximumCELength: UInt16 = 0
  ) {
    self.scanInterval = scanInterval
    self.scanWindow = scanWindow
    self.filterPolicy = filterPolicy
    self.peer = peer
    self.ownAddressType = ownAddressType
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.minimumCELength = minimumCELength
    self.maximumCELength = maximumCELength
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    scanInterval = try reader.uint16()
    scanWindow = try reader.uint16()
    filterPolicy = try reader.uint8()
    peer = try reader.address()
    ownAddressType = try AddressType(from: &reader)
    intervalMin = try reader.uint16()
    intervalMax = try reader.uint16()
    latency = try reader.uint16()
    supervisionTimeout = try reader.uint16()
    minimumCELength = try reader.uint16()
    maximumCELength = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(scanInterval)
    writer.uint16(scanWindow)
    writer.uint8(filterPolicy)
    writer.address(peer)
    ownAddressType.write(to: &writer)
    writer.uint16(intervalMin)
    writer.uint16(intervalMax)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout)
    writer.uint16(minimumCELength)
    writer.uint16(maximumCELength)
  }
}
