/// The number of a command: six bits of group and ten of command (Core 5.4, Vol 4, Part E, 5.4.1).
public struct Opcode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The 16 bits on the wire.
  public let rawValue: UInt16
  /// Makes an opcode of its 16 bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// An opcode written as a number.
  public init(integerLiteral value: UInt16) { rawValue = value }

  /// The group: 1 link control, 3 controller, 4 information, 5 status, 8 LE, 0x3F the maker's own.
  public var group: UInt16 { rawValue >> 10 }
  /// The command within the group.
  public var command: UInt16 { rawValue & 0x03FF }
  /// Opcode zero: a Command Complete that only gives credits.
  public static let none: Opcode = 0
}

/// A command with its parameters.
public protocol HCICommand: Hashable, Sendable {
  /// `LegacyFamily`, `ExtendedFamily`, or `AnyFamily` where there is no difference.
  associatedtype Family = AnyFamily
  /// What Command Complete carries.
  associatedtype ReturnParameters: HCIReturnParameters = StatusReturn
  /// Identifies the command.
  static var opcode: Opcode { get }
  /// Reads the parameters.
  init(from reader: inout OctetReader) throws(HCICodingError)
  /// Writes the parameters.
  func write(to writer: inout OctetWriter)
}

extension HCICommand {
  /// Reads the command from a packet of its opcode.
  public init(decoding packet: CommandPacket) throws(HCICodingError) {
    var reader = OctetReader(packet.parameters)
    try self.init(from: &reader)
    try reader.end()
  }
}

/// What a Command Complete carries behind the opcode.
public protocol HCIReturnParameters: Hashable, Sendable {
  /// How the command went.
  var status: HCIStatus { get }
  /// Reads the parameters.
  init(from reader: inout OctetReader) throws(HCICodingError)
  /// Writes the parameters.
  func write(to writer: inout OctetWriter)
}

/// Return parameters that are nothing but a status.
public struct StatusReturn: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// Makes it of a status.
  public init(status: HCIStatus) { self.status = status }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) { status = try reader.status() }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) { writer.status(status) }
}
