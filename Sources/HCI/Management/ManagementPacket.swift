/// Which controller a management packet is about.
public struct ControllerIndex: RawRepresentable, Hashable, Sendable {
  /// The number: 0 for hci0; 0xFFFF for none.
  public let rawValue: UInt16
  /// Makes an index of a number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// No controller: the packet is about the kernel as a whole.
  public static let none = ControllerIndex(rawValue: 0xFFFF)
  /// The kernel's name for the controller: "hci0".
  public var name: String { "hci\(rawValue)" }
}

/// One packet of the kernel's management interface, in either direction (mgmt-api).
public struct ManagementPacket: Hashable, Sendable {
  /// The opcode of a command or the code of an event.
  public var code: UInt16
  /// Which controller it is about.
  public var index: ControllerIndex
  /// What it carries.
  public var parameters: [UInt8]

  /// Makes a packet of its parts.
  public init(code: UInt16, index: ControllerIndex, parameters: [UInt8]) {
    self.code = code
    self.index = index
    self.parameters = parameters
  }

  /// Packs a command.
  public init<Command: ManagementCommand>(_ command: Command, index: ControllerIndex = .none) {
    var writer = OctetWriter()
    command.write(to: &writer)
    self.init(code: Command.opcode, index: index, parameters: writer.octets)
  }

  /// Packs an event.
  public init<Event: ManagementEventParameters>(event: Event, index: ControllerIndex = .none) {
    var writer = OctetWriter()
    event.write(to: &writer)
    self.init(code: Event.code, index: index, parameters: writer.octets)
  }

  /// Reads a whole packet.
  public init(decoding octets: [UInt8]) throws(HCICodingError) {
    var reader = OctetReader(octets)
    code = try reader.uint16()
    index = ControllerIndex(rawValue: try reader.uint16())
    parameters = try reader.octets(Int(try reader.uint16()))
    try reader.end()
  }

  /// The packet as it is on the socket.
  public var octets: [UInt8] {
    var writer = OctetWriter()
    writer.uint16(code)
    writer.uint16(index.rawValue)
    writer.uint16(UInt16(truncatingIfNeeded: parameters.count))
    writer.octets(parameters, count: min(parameters.count, 0xFFFF))
    return writer.octets
  }
}

/// What can be read from and written into management packets.
public protocol ManagementParameters: Hashable, Sendable {
  /// Reads the parameters.
  init(from reader: inout OctetReader) throws(HCICodingError)
  /// Writes the parameters.
  func write(to writer: inout OctetWriter)
}

extension ManagementParameters {
  /// Reads all of these octets.
  public init(decoding octets: [UInt8]) throws(HCICodingError) {
    var reader = OctetReader(octets)
    try self.init(from: &reader)
    try reader.end()
  }
}

/// A command to the kernel.
public protocol ManagementCommand: ManagementParameters {
  /// Identifies the command.
  static var opcode: UInt16 { get }
}

/// The parameters of one kind of event.
public protocol ManagementEventParameters: ManagementParameters {
  /// The event code.
  static var code: UInt16 { get }
}
