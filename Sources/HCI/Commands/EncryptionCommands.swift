/// LE Enable Encryption (Core 5.4, Vol 4, Part E, 7.8.24).
public struct LEEnableEncryption: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2019
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Chosen with the key; 0 for LE Secure Connections.
  public var randomNumber: UInt64
  /// Chosen with the key; 0 for LE Secure Connections.
  public var encryptedDiversifier: UInt16
  /// 16 octets, least significant first.
  public var longTermKey: [UInt8]

  /// Makes it of its parameters.
  public init(handle: UInt16, randomNumber: UInt64, encryptedDiversifier: UInt16, longTermKey: [UInt8]) {
    self.handle = handle
    self.randomNumber = randomNumber
    self.encryptedDiversifier = encryptedDiversifier
    self.longTermKey = longTermKey
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    randomNumber = try reader.uint64()
    encryptedDiversifier = try reader.uint16()
    longTermKey = try reader.octets(16)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.uint64(randomNumber)
    writer.uint16(encryptedDiversifier)
    writer.octets(longTermKey, count: 16)
  }
}

/// LE Long Term Key Request Reply (Core 5.4, Vol 4, Part E, 7.8.25).
public struct LELongTermKeyRequestReply: HCICommand {
  /// What Command Complete carries.
  public typealias ReturnParameters = HandleReturn
  /// Identifies the command.
  public static let opcode: Opcode = 0x201A
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// 16 octets, least significant first.
  public var longTermKey: [UInt8]

  /// Makes it of its parameters.
  public init(handle: UInt16, longTermKey: [UInt8]) {
    self.handle = handle
    self.longTermKey = longTermKey
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    longTermKey = try reader.octets(16)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.octets(longTermKey, count: 16)
  }
}

/// LE Long Term Key Request Negative Reply (Core 5.4, Vol 4, Part E, 7.8.26).
public struct LELongTermKeyRequestNegativeReply: HCICommand {
  /// What Command Complete carries.
  public typealias ReturnParameters = HandleReturn
  /// Identifies the command.
  public static let opcode: Opcode = 0x201B
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16

  /// Makes it of its parameters.
  public init(handle: UInt16) {
    self.handle = handle
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
  }
}
