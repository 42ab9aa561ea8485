/// Set Event Mask (Core 5.4, Vol 4, Part E, 7.3.1).
public struct SetEventMask: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x0C01
  /// One bit an event.
  public var mask: UInt64

  /// Makes it of its parameters.
  public init(mask: UInt64) {
    self.mask = mask
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    mask = try reader.uint64()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint64(mask)
  }
}

/// Read Local Version Information (Core 5.4, Vol 4, Part E, 7.4.1).
public struct ReadLocalVersionInformation: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = LocalVersionInformation
  /// Identifies the command.
  public static let opcode: Opcode = 0x1001

  /// Makes it.
  public init() {}
}

/// Which versions a controller follows (7.4.1).
public struct LocalVersionInformation: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// The version of HCI; 11 is 5.2.
  public var hciVersion: UInt8
  /// The revision of HCI.
  public var hciSubversion: UInt16
  /// The version of the link layer.
  public var lmpVersion: UInt8
  /// Who made the controller.
  public var companyIdentifier: UInt16
  /// The revision of the link layer.
  public var lmpSubversion: UInt16

  /// Makes it of its parameters.
  public init(
    status: HCIStatus = .success, hciVersion: UInt8, hciSubversion: UInt16, lmpVersion: UInt8,
    companyIdentifier: UInt16, lmpSubversion: UInt16
  ) {
    self.status = status
    self.hciVersion = hciVersion
    self.hciSubversion = hciSubversion
    self.lmpVersion = lmpVersion
    self.companyIdentifier = companyIdentifier
    self.lmpSubversion = lmpSubversion
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    hciVersion = try reader.uint8()
    hciSubversion = try reader.uint16()
    lmpVersion = try reader.uint8()
    companyIdentifier = try reader.uint16()
    lmpSubversion = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint8(hciVersion)
    writer.uint16(hciSubversion)
    writer.uint8(lmpVersion)
    writer.uint16(companyIdentifier)
    writer.uint16(lmpSubversion)
  }
}

/// Read Local Supported Commands (Core 5.4, Vol 4, Part E, 7.4.2).
public struct ReadLocalSupportedCommands: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = LocalSupportedCommands
  /// Identifies the command.
  public static let opcode: Opcode = 0x1002

  /// Makes it.
  public init() {}
}

/// Which commands a controller has (7.4.2).
public struct LocalSupportedCommands: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// 64 octets, one bit a command (6.27).
  public var commands: [UInt8]

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, commands: [UInt8]) {
    self.status = status
    self.commands = commands
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    commands = try reader.octets(64)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.octets(commands, count: 64)
  }
}

/// Read Buffer Size (Core 5.4, Vol 4, Part E, 7.4.5).
public struct ReadBufferSize: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = BufferSize
  /// Identifies the command.
  public static let opcode: Opcode = 0x1005

  /// Makes it.
  public init() {}
}

/// How much a controller buffers (7.4.5).
public struct BufferSize: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// Octets in one ACL packet.
  public var aclDataPacketLength: UInt16
  /// Octets in one synchronous packet.
  public var synchronousDataPacketLength: UInt8
  /// How many ACL packets.
  public var aclDataPackets: UInt16
  /// How many synchronous packets.
  public var synchronousDataPackets: UInt16

  /// Makes it of its parameters.
  public init(
    status: HCIStatus = .success, aclDataPacketLength: UInt16, synchronousDataPacketLength: UInt8,
    aclDataPackets: UInt16, synchronousDataPackets: UInt16
  ) {
    self.status = status
    self.aclDataPacketLength = aclDataPacketLength
    self.synchronousDataPacketLength = synchronousDataPacketLength
    self.aclDataPackets = aclDataPackets
    self.synchronousDataPackets = synchronousDataPackets
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    aclDataPacketLength = try reader.uint16()
    synchronousDataPacketLength = try reader.uint8()
    aclDataPackets = try reader.uint16()
    synchronousDataPackets = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(aclDataPacketLength)
    writer.uint8(synchronousDataPacketLength)
    writer.uint16(aclDataPackets)
    writer.uint16(synchronousDataPackets)
  }
}

/// Read BD_ADDR (Core 5.4, Vol 4, Part E, 7.4.6).
public struct ReadBDADDR: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = PublicAddress
  /// Identifies the command.
  public static let opcode: Opcode = 0x1009

  /// Makes it.
  public init() {}
}

/// The public address of a controller (7.4.6).
public struct PublicAddress: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// 48 bits; zero if it has none.
  public var address: UInt64

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, address: UInt64) {
    self.status = status
    self.address = address
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    address = try reader.uint48()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint48(address)
  }
}
