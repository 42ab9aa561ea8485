/// LE Set Event Mask (Core 5.4, Vol 4, Part E, 7.8.1).
public struct LESetEventMask: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2001
  /// One bit a subevent.
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

/// LE Read Buffer Size (Core 5.4, Vol 4, Part E, 7.8.2).
public struct LEReadBufferSize: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = LEBufferSize
  /// Identifies the command.
  public static let opcode: Opcode = 0x2002

  /// Makes it.
  public init() {}
}

/// How much a controller buffers for LE (7.8.2).
public struct LEBufferSize: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// Octets in one packet; 0 if LE shares the other buffers.
  public var aclDataPacketLength: UInt16
  /// How many packets.
  public var aclDataPackets: UInt8

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, aclDataPacketLength: UInt16, aclDataPackets: UInt8) {
    self.status = status
    self.aclDataPacketLength = aclDataPacketLength
    self.aclDataPackets = aclDataPackets
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    aclDataPacketLength = try reader.uint16()
    aclDataPackets = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(aclDataPacketLength)
    writer.uint8(aclDataPackets)
  }
}

/// LE Read Local Supported Features (Core 5.4, Vol 4, Part E, 7.8.3).
public struct LEReadLocalSupportedFeatures: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = LELocalSupportedFeatures
  /// Identifies the command.
  public static let opcode: Opcode = 0x2003

  /// Makes it.
  public init() {}
}

/// Which features of LE a controller has (7.8.3).
public struct LELocalSupportedFeatures: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// The features.
  public var features: LEFeatures

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, features: LEFeatures) {
    self.status = status
    self.features = features
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    features = try LEFeatures(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    features.write(to: &writer)
  }
}

/// LE Set Random Address (Core 5.4, Vol 4, Part E, 7.8.4).
public struct LESetRandomAddress: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2005
  /// 48 bits of the random address.
  public var address: UInt64

  /// Makes it of its parameters.
  public init(address: UInt64) {
    self.address = address
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    address = try reader.uint48()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint48(address)
  }
}

/// LE Read Supported States (Core 5.4, Vol 4, Part E, 7.8.27).
public struct LEReadSupportedStates: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = LESupportedStates
  /// Identifies the command.
  public static let opcode: Opcode = 0x201C

  /// Makes it.
  public init() {}
}

/// Which activities a controller combines (7.8.27).
public struct LESupportedStates: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// The combinations.
  public var states: LEStates

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, states: LEStates) {
    self.status = status
    self.states = states
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    states = try LEStates(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    states.write(to: &writer)
  }
}
