/// A packet between host and controller with its type octet (Core 5.4, Vol 4, Part A, 2).
package enum HCIPacket: Hashable, Sendable {
  /// Type 0x01, to the controller.
  case command(CommandPacket)
  /// Type 0x02, both ways.
  case acl(ACLDataPacket)
  /// Type 0x04, to the host.
  case event(EventPacket)

  /// The octet before data.
  fileprivate static let dataType: UInt8 = 0x02
  /// The octet before events.
  static let eventType: UInt8 = 0x04

  /// Reads a whole packet.
  package init(decoding octets: [UInt8]) throws(HCICodingError) {
    var coder = OctetCoder(reading: octets)
    let type: UInt8 = try coder.read()
    switch type {
    case 0x01: self = .command(try coder.read())
    case Self.dataType: self = .acl(try coder.read())
    case Self.eventType: self = .event(try coder.read())
    default: throw .unknownPacketType(type)
    }
    try coder.end()
  }

  /// Begins to read the parameters of an event with this code in place, without the copy made for an `EventPacket`.
  /// - Returns: nil for another packet.
  /// - Throws: `.trailingOctets`, or `.truncated`, if the packet does not end where its length says.
  static func parameters(of code: UInt8, in octets: [UInt8]) throws(HCICodingError) -> OctetCoder? {
    guard octets.count >= 3, octets[0] == eventType, octets[1] == code else { return nil }
    try check(octets.count - 3, against: octets[2])
    return OctetCoder(reading: octets, from: 3)
  }

  /// Compares the number of octets after a length with that length.
  /// - Throws: `.trailingOctets` if there are more, `.truncated` if there are fewer.
  static func check(_ count: Int, against length: some BinaryInteger) throws(HCICodingError) {
    let excess = count - Int(length)
    guard excess <= 0 else { throw .trailingOctets(count: excess) }
    guard excess == 0 else { throw .truncated(missing: -excess) }
  }

  /// The link of data that may be truncated or too long; nil for other packets, and for data without a whole handle.
  package static func dataHandle(of octets: [UInt8]) -> ConnectionHandle? {
    guard octets.count >= 3, octets[0] == dataType else { return nil }
    return (UInt16(octets[1]) | UInt16(octets[2]) << 8) & 0x0FFF
  }

  /// The packet as it is on the wire.
  package var octets: [UInt8] {
    switch self {
    case .command(let packet): Self.octets(0x01, packet)
    case .acl(let packet): Self.octets(Self.dataType, packet)
    case .event(let packet): Self.octets(Self.eventType, packet)
    }
  }

  private static func octets(_ type: UInt8, _ packet: some PacketField) -> [UInt8] {
    var coder = OctetCoder()
    coder.write(type)
    coder.write(packet)
    return coder.octets
  }
}

/// An uninterpreted command (Core 5.4, Vol 4, Part E, 5.4.1).
package struct CommandPacket: PacketField, Hashable, Sendable {
  /// The command.
  package var opcode = Opcode.none
  /// Its parameters, at the most 255 octets.
  package var parameters: [UInt8] = []

  package init() {}
  /// Makes a packet from its parts.
  package init(opcode: Opcode, parameters: [UInt8]) {
    self.opcode = opcode
    self.parameters = parameters
  }
  /// Packs a command.
  package init<Command: HCICommand>(_ command: Command) {
    self.init(opcode: Command.opcode, parameters: command.octets)
  }
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&opcode)
    coder.octets(&parameters, countedBy: UInt8.self)
  }
}

/// A piece of data on a link (Core 5.4, Vol 4, Part E, 5.4.2).
package struct ACLDataPacket: PacketParameters {
  package var handle: ConnectionHandle = 0
  /// 0 first piece to the controller, 1 a further piece, 2 first piece from the controller.
  package var boundary: UInt8 = 0
  /// 0 for LE.
  package var broadcast: UInt8 = 0
  /// The piece: a view into the received packet.
  package var data: ArraySlice<UInt8> = []

  package init() {}

  /// A whole packet's octets before its data.
  package static let prefix = 5

  /// Reads a whole packet, like `HCIPacket`, but in place: one is received for each packet of data.
  /// - Returns: nil for another packet.
  /// - Throws: `.truncated`, and `.trailingOctets` if the packet does not end where its length says.
  package init?(packet octets: [UInt8]) throws(HCICodingError) {
    guard octets.count >= Self.prefix, octets[0] == HCIPacket.dataType else { return nil }
    try HCIPacket.check(octets.count - Self.prefix, against: UInt16(octets[3]) | UInt16(octets[4]) << 8)
    header = UInt16(octets[1]) | UInt16(octets[2]) << 8
    data = octets[Self.prefix...]
  }

  /// Completes a packet to the controller whose data are in place.
  /// - Parameter octets: `prefix` octets of any value, then at most 65,535 octets of data.
  package static func begin(_ octets: inout [UInt8], handle: ConnectionHandle, isFirst: Bool) {
    let header = handle & 0x0FFF | (isFirst ? 0 : 1 << 12)
    let count = octets.count - prefix
    octets[0] = HCIPacket.dataType
    octets[1] = UInt8(truncatingIfNeeded: header)
    octets[2] = UInt8(header >> 8)
    octets[3] = UInt8(truncatingIfNeeded: count)
    octets[4] = UInt8(truncatingIfNeeded: count >> 8)
  }

  private var header: UInt16 {
    get { handle & 0x0FFF | UInt16(boundary & 3) << 12 | UInt16(broadcast & 3) << 14 }
    set {
      handle = newValue & 0x0FFF
      boundary = UInt8(newValue >> 12 & 3)
      broadcast = UInt8(newValue >> 14)
    }
  }

  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&header)
    coder.octets(&data, countedBy: UInt16.self)
  }
}

/// An uninterpreted event (Core 5.4, Vol 4, Part E, 5.4.4).
package struct EventPacket: PacketField, Hashable, Sendable {
  /// The event.
  package var code: UInt8 = 0
  /// Its parameters, at the most 255 octets.
  package var parameters: [UInt8] = []

  package init() {}
  /// Makes a packet from its parts.
  package init(code: UInt8, parameters: [UInt8]) {
    self.code = code
    self.parameters = parameters
  }
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&code)
    coder.octets(&parameters, countedBy: UInt8.self)
  }
}
