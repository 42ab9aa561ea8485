/// Command Complete (Core 5.4, Vol 4, Part E, 7.7.14).
public struct CommandComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x0E
  /// How many commands the controller takes now.
  public var credits: UInt8
  /// Which command; `.none` if the event only gives credits.
  public var opcode: Opcode
  /// What it returned.
  public var returnParameters: [UInt8]

  /// Makes it of its parameters.
  public init(credits: UInt8 = 1, opcode: Opcode, returnParameters: [UInt8]) {
    self.credits = credits
    self.opcode = opcode
    self.returnParameters = returnParameters
  }

  /// Makes the event that answers a command of this type.
  public init<Command: HCICommand>(
    credits: UInt8 = 1, to command: Command.Type, _ returnParameters: Command.ReturnParameters
  ) {
    var writer = OctetWriter()
    returnParameters.write(to: &writer)
    self.init(credits: credits, opcode: Command.opcode, returnParameters: writer.octets)
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    credits = try reader.uint8()
    opcode = Opcode(rawValue: try reader.uint16())
    returnParameters = reader.rest()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(credits)
    writer.uint16(opcode.rawValue)
    writer.octets(returnParameters)
  }

  /// How the command went. A command without return parameters went well.
  public var status: HCIStatus { HCIStatus(rawValue: returnParameters.first ?? 0) }

  /// The meaning of what the command returned.
  /// - Throws: `.truncated` also for a failed command that returned nothing but its status: look at `status` first.
  public func decoded<Command: HCICommand>(
    as command: Command.Type
  ) throws(HCICodingError) -> Command.ReturnParameters {
    var reader = OctetReader(returnParameters)
    let parameters = try Command.ReturnParameters(from: &reader)
    try reader.end()
    return parameters
  }
}

/// Command Status (Core 5.4, Vol 4, Part E, 7.7.15).
public struct CommandStatus: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x0F
  /// Whether the command was begun.
  public var status: HCIStatus
  /// How many commands the controller takes now.
  public var credits: UInt8
  /// Which command; `.none` if the event only gives credits.
  public var opcode: Opcode

  /// Makes it of its parameters.
  public init(status: HCIStatus, credits: UInt8 = 1, opcode: Opcode) {
    self.status = status
    self.credits = credits
    self.opcode = opcode
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    credits = try reader.uint8()
    opcode = Opcode(rawValue: try reader.uint16())
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint8(credits)
    writer.uint16(opcode.rawValue)
  }
}

/// Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.7.19).
public struct NumberOfCompletedPackets: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x13

  /// What one link sent.
  public struct Link: Hashable, Sendable {
    /// The connection handle, 0x0000 to 0x0EFF.
    public var handle: UInt16
    /// How many packets left the controller.
    public var packets: UInt16
    /// Makes it of its parts.
    public init(handle: UInt16, packets: UInt16) {
      self.handle = handle
      self.packets = packets
    }
  }

  /// The links that sent.
  public var links: [Link]

  /// Makes it of its parameters.
  public init(links: [Link]) { self.links = links }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    links = []
    for _ in 0..<(try reader.uint8()) {
      links.append(Link(handle: try reader.uint16(), packets: try reader.uint16()))
    }
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(UInt8(min(links.count, 63)))
    for link in links.prefix(63) {
      writer.uint16(link.handle)
      writer.uint16(link.packets)
    }
  }
}
