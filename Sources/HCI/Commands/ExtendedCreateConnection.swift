/// LE Extended Create Connection (Core 5.4, Vol 4, Part E, 7.8.66).
public struct LEExtendedCreateConnection: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2043

  /// How to look for the device on one PHY, and the parameters of a link made there.
  public struct Initiation: Hashable, Sendable {
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    public var scanInterval: UInt16
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    public var scanWindow: UInt16
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
      scanInterval: UInt16, scanWindow: UInt16, intervalMin: UInt16, intervalMax: UInt16, latency: UInt16,
      supervisionTimeout: UInt16, minimumCELength: UInt16 = 0, maximumCELength: UInt16 = 0
    ) {
      self.scanInterval = scanInterval
      self.scanWindow = scanWindow
      self.intervalMin = intervalMin
      self.intervalMax = intervalMax
      self.latency = latency
      self.supervisionTimeout = supervisionTimeout
      self.minimumCELength = minimumCELength
      self.maximumCELength = maximumCELength
    }

    init(from reader: inout OctetReader) throws(HCICodingError) {
      scanInterval = try reader.uint16()
      scanWindow = try reader.uint16()
      intervalMin = try reader.uint16()
      intervalMax = try reader.uint16()
      latency = try reader.uint16()
      supervisionTimeout = try reader.uint16()
      minimumCELength = try reader.uint16()
      maximumCELength = try reader.uint16()
    }

    func write(to writer: inout OctetWriter) {
      for field in [
        scanInterval, scanWindow, intervalMin, intervalMax, latency, supervisionTimeout, minimumCELength,
        maximumCELength,
      ] { writer.uint16(field) }
    }
  }

  /// 0 the peer below, 1 whoever is in the accept list.
  public var filterPolicy: UInt8
  /// Which of our addresses is used.
  public var ownAddressType: AddressType
  /// With whom; not looked at if the accept list is used.
  public var peer: HCIAddress
  /// Bits 0 to 2: 1M, 2M, Coded; so many bits, so many `initiations`.
  public var phys: UInt8
  /// What to do on each of the PHYs.
  public var initiations: [Initiation]

  /// Makes it of its parameters.
  public init(
    filterPolicy: UInt8, ownAddressType: AddressType = .public, peer: HCIAddress, phys: UInt8 = 1,
    initiations: [Initiation]
  ) {
    self.filterPolicy = filterPolicy
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.phys = phys
    self.initiations = initiations
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    filterPolicy = try reader.uint8()
    ownAddressType = try AddressType(from: &reader)
    peer = try reader.address()
    phys = try reader.uint8()
    initiations = []
    for _ in 0..<phys.nonzeroBitCount { initiations.append(try Initiation(from: &reader)) }
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(filterPolicy)
    ownAddressType.write(to: &writer)
    writer.address(peer)
    writer.uint8(phys)
    for initiation in initiations.prefix(phys.nonzeroBitCount) { initiation.write(to: &writer) }
  }
}
