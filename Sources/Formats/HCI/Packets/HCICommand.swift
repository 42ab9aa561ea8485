/// A command's number: six bits for the group and ten for the command (Core 5.4, Vol 4, Part E, 5.4.1).
package struct Opcode: RawRepresentable, PacketField, Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The 16 bits on the wire.
  package let rawValue: UInt16
  package init() { rawValue = 0 }
  /// Makes an opcode from its 16 bits.
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  /// An opcode written as a number.
  package init(integerLiteral value: UInt16) { rawValue = value }

  /// The group: 1 link control, 3 controller, 4 information, 5 status, 8 LE, 0x3F the maker's own.
  package var group: UInt16 { rawValue >> 10 }
  /// Opcode zero: a Command Complete that only gives credits.
  package static let none: Opcode = 0
}

/// A command with its parameters.
package protocol HCICommand: PacketParameters {
  /// `LegacyFamily`, `ExtendedFamily`, or `AnyFamily` if both are the same.
  associatedtype Family = AnyFamily
  /// The parameters returned in Command Complete.
  associatedtype ReturnParameters: HCIReturnParameters = StatusReturn
  /// Identifies the command.
  static var opcode: Opcode { get }
}

extension HCICommand {
  /// Reads the command from a packet with its opcode.
  /// - Throws: `.trailingOctets` too, as our commands have no more than the fields described.
  package init(decoding packet: CommandPacket) throws(HCICodingError) {
    var coder = OctetCoder(reading: packet.parameters)
    self = try coder.read()
    try coder.end()
  }
}

/// A Command Complete's parameters after the opcode.
package protocol HCIReturnParameters: PacketParameters {
  /// How the command went.
  var status: HCIStatus { get }
}

/// Return parameters consisting of a status.
package struct StatusReturn: HCIReturnParameters {
  package var status = HCIStatus.success

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status) }
}

/// A status and one value, as many commands return them.
package struct ValueReturn<Value: PacketField & Hashable & Sendable>: HCIReturnParameters {
  package var status = HCIStatus.success
  /// The value of the alias in the command.
  package var value = Value()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &value) }
}

/// A command about a link without other parameters.
package protocol LinkCommand: HCICommand {
  var handle: ConnectionHandle { get set }
}

extension LinkCommand {
  package init(handle: UInt16) {
    self.init()
    self.handle = handle
  }
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle) }
}

// MARK: - Families

/// The two families of scanning, advertising and initiating commands. A controller that received one family's command
/// answers the other's commands with Command Disallowed until it is reset (Core 5.4, Vol 4, Part E, 3.1.1). Code
/// generic over the family can therefore only make commands of the family chosen for the adapter.
package protocol CommandFamily {}

/// Commands in neither family, compatible with each.
package enum AnyFamily {}
/// Scanning, advertising and initiating with the commands of Bluetooth 4.0.
package enum LegacyFamily: CommandFamily {}
/// Scanning, advertising and initiating with the extended commands of Bluetooth 5.0.
package enum ExtendedFamily: CommandFamily {}

/// A command for a controller driven with this family.
package struct FamilyCommand<Family: CommandFamily>: Hashable, Sendable {
  /// The command, ready to be sent.
  package let packet: CommandPacket

  /// The family's command.
  package init<Command: HCICommand>(_ command: Command) where Command.Family == Family {
    packet = CommandPacket(command)
  }

  /// A command for both families.
  package init<Command: HCICommand>(_ command: Command) where Command.Family == AnyFamily {
    packet = CommandPacket(command)
  }
}
