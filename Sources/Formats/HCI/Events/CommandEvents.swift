/// Command Complete (Core 5.4, Vol 4, Part E, 7.7.14).
package struct CommandComplete: HCIEventParameters {
  package static let code: UInt8 = 0x0E
  /// Commands the controller accepts now.
  package var credits: UInt8 = 1
  /// The command; `.none` if the event only gives credits.
  package var opcode = Opcode.none
  /// The octets returned by the command.
  package var returnParameters: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&credits, &opcode)
    coder.rest(&returnParameters)
  }

  /// How the command went. A command without return parameters went well.
  package var status: HCIStatus { HCIStatus(rawValue: returnParameters.first ?? 0) }

  /// The command's return parameters, decoded.
  /// - Throws: `.truncated` also for a failed command that returned nothing but its status: check `status` first.
  package func decoded<Command: HCICommand>(
    as command: Command.Type
  ) throws(HCICodingError) -> Command.ReturnParameters {
    try Command.ReturnParameters(decoding: returnParameters)
  }
}

/// Command Status (Core 5.4, Vol 4, Part E, 7.7.15).
package struct CommandStatus: HCIEventParameters {
  package static let code: UInt8 = 0x0F
  /// Success if the command was begun.
  package var status = HCIStatus.success
  /// Commands the controller accepts now.
  package var credits: UInt8 = 1
  /// The command; `.none` if the event only gives credits.
  package var opcode = Opcode.none

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &credits, &opcode) }
}

/// Number Of Completed Packets (Core 5.4, Vol 4, Part E, 7.7.19).
package struct NumberOfCompletedPackets: HCIEventParameters {
  package static let code: UInt8 = 0x13

  /// The packets sent on one link.
  package struct Link: PacketParameters {
    package var handle: ConnectionHandle = 0
    /// The packets that left the controller.
    package var packets: UInt16 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle, &packets) }
  }

  /// The sending links.
  package var links: [Link] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.groups(&links, countedBy: UInt8.self, limit: 63)
  }
}
