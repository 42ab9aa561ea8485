/// One packet between host and controller with the octet that tells its type (Core 5.4, Vol 4, Part A, 2).
public enum HCIPacket: Hashable, Sendable {
  /// Type 0x01, to the controller.
  case command(CommandPacket)
  /// Type 0x02, both ways.
  case acl(ACLDataPacket)
  /// Type 0x04, to the host.
  case event(EventPacket)

  /// Reads a whole packet.
  public init(decoding octets: [UInt8]) throws(HCICodingError) {
    var reader = OctetReader(octets)
    switch try reader.uint8() {
    case 0x01: self = .command(try CommandPacket(from: &reader))
    case 0x02: self = .acl(try ACLDataPacket(from: &reader))
    case 0x04: self = .event(try EventPacket(from: &reader))
    case let type: throw .unknownPacketType(type)
    }
    try reader.end()
  }

  /// The packet as it is on the wire.
  public var octets: [UInt8] {
    var writer = OctetWriter()
    switch self {
    case .command(let packet):
      writer.uint8(0x01)
      writer.uint16(packet.opcode.rawValue)
      writer.uint8(UInt8(truncatingIfNeeded: packet.parameters.count))
      writer.octets(packet.parameters, count: min(packet.parameters.count, 255))
    case .acl(let packet):
      writer.uint8(0x02)
      writer.uint16(packet.handle & 0x0FFF | UInt16(packet.boundary & 3) << 12 | UInt16(packet.broadcast & 3) << 14)
      writer.uint16(UInt16(truncatingIfNeeded: packet.data.count))
      writer.octets(packet.data, count: min(packet.data.count, 0xFFFF))
    case .event(let packet):
      writer.uint8(0x04)
      writer.uint8(packet.code)
      writer.uint8(UInt8(truncatingIfNeeded: packet.parameters.count))
      writer.octets(packet.parameters, count: min(packet.parameters.count, 255))
    }
    return writer.octets
  }
}

/// A command without knowledge of its meaning (Core 5.4, Vol 4, Part E, 5.4.1).
public struct CommandPacket: Hashable, Sendable {
  /// Which command.
  public var opcode: Opcode
  /// Its parameters, at the most 255 octets.
  public var parameters: [UInt8]

  /// Makes a packet of its parts.
  public init(opcode: Opcode, parameters: [UInt8]) {
    self.opcode = opcode
    self.parameters = parameters
  }

  /// Packs a command.
  public init(_ command: some HCICommand) {
    var writer = OctetWriter()
    command.write(to: &writer)
    self.init(opcode: type(of: command).opcode, parameters: writer.octets)
  }

  init(from reader: inout OctetReader) throws(HCICodingError) {
    opcode = Opcode(rawValue: try reader.uint16())
    parameters = try reader.octets(Int(try reader.uint8()))
  }
}

/// A piece of data on a link (Core 5.4, Vol 4, Part E, 5.4.2).
public struct ACLDataPacket: Hashable, Sendable {
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// 0 first piece to the controller, 1 a further piece, 2 first piece from the controller.
  public var boundary: UInt8
  /// 0 for LE.
  public var broadcast: UInt8
  /// The piece.
  public var data: [UInt8]

  /// Makes a packet of its parts.
  public init(handle: UInt16, boundary: UInt8, broadcast: UInt8 = 0, data: [UInt8]) {
    self.handle = handle
    self.boundary = boundary
    self.broadcast = broadcast
    self.data = data
  }

  init(from reader: inout OctetReader) throws(HCICodingError) {
    let header = try reader.uint16()
    handle = header & 0x0FFF
    boundary = UInt8(header >> 12 & 3)
    broadcast = UInt8(header >> 14)
    data = try reader.octets(Int(try reader.uint16()))
  }
}

/// An event without knowledge of its meaning (Core 5.4, Vol 4, Part E, 5.4.4).
public struct EventPacket: Hashable, Sendable {
  /// Which event.
  public var code: UInt8
  /// Its parameters, at the most 255 octets.
  public var parameters: [UInt8]

  /// Makes a packet of its parts.
  public init(code: UInt8, parameters: [UInt8]) {
    self.code = code
    self.parameters = parameters
  }

  init(from reader: inout OctetReader) throws(HCICodingError) {
    code = try reader.uint8()
    parameters = try reader.octets(Int(try reader.uint8()))
  }
}
