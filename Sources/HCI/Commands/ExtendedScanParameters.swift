/// LE Set Extended Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.64).
public struct LESetExtendedScanParameters: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2041

  /// How to scan on one PHY.
  public struct Scan: Hashable, Sendable {
    /// Whether scan responses are asked for.
    public var isActive: Bool
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    public var interval: UInt16
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    public var window: UInt16

    /// Makes it of its parameters.
    public init(isActive: Bool, interval: UInt16, window: UInt16) {
      self.isActive = isActive
      self.interval = interval
      self.window = window
    }
  }

  /// Which of our addresses is used.
  public var ownAddressType: AddressType
  /// 0 all, 1 accept list only.
  public var filterPolicy: UInt8
  /// Bit 0 for 1M, bit 2 for Coded; so many bits, so many `scans`.
  public var phys: UInt8
  /// How to scan on each of the PHYs.
  public var scans: [Scan]

  /// Makes it of its parameters.
  public init(ownAddressType: AddressType = .public, filterPolicy: UInt8 = 0, phys: UInt8 = 1, scans: [Scan]) {
    self.ownAddressType = ownAddressType
    self.filterPolicy = filterPolicy
    self.phys = phys
    self.scans = scans
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    ownAddressType = try AddressType(from: &reader)
    filterPolicy = try reader.uint8()
    phys = try reader.uint8()
    scans = []
    for _ in 0..<phys.nonzeroBitCount {
      scans.append(Scan(isActive: try reader.bool(), interval: try reader.uint16(), window: try reader.uint16()))
    }
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    ownAddressType.write(to: &writer)
    writer.uint8(filterPolicy)
    writer.uint8(phys)
    for scan in scans.prefix(phys.nonzeroBitCount) {
      writer.bool(scan.isActive)
      writer.uint16(scan.interval)
      writer.uint16(scan.window)
    }
  }
}
