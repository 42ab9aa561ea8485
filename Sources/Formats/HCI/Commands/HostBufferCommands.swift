/// Set Controller To Host Flow Control (Core 5.4, Vol 4, Part E, 7.3.38).
package struct SetControllerToHostFlowControl: HCICommand {
  package static let opcode: Opcode = 0x0C31
  /// Bit 0: of ACL data; bit 1: of synchronous data.
  package var mode: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&mode) }
}

/// Host Buffer Size (Core 5.4, Vol 4, Part E, 7.3.39).
package struct HostBufferSize: HCICommand {
  package static let opcode: Opcode = 0x0C33
  /// Octets in one ACL packet.
  package var aclDataPacketLength: UInt16 = 0
  /// Octets in one synchronous packet.
  package var synchronousDataPacketLength: UInt8 = 0
  /// The number of ACL packets.
  package var aclDataPackets: UInt16 = 0
  /// The number of synchronous packets.
  package var synchronousDataPackets: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&aclDataPacketLength, &synchronousDataPacketLength, &aclDataPackets, &synchronousDataPackets)
  }
}

/// Host Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.3.40). It may be sent at any time, and has no answer.
package struct HostNumberOfCompletedPackets: HCICommand {
  package static let opcode: Opcode = 0x0C35

  /// One link's packets.
  package struct Link: PacketParameters {
    package var handle: ConnectionHandle = 0
    /// Additional packets with room.
    package var packets: UInt16 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle, &packets) }
  }

  /// The links, at most 63.
  package var links: [Link] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.groups(&links, countedBy: UInt8.self) }
}
