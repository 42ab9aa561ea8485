/// Disconnect (mgmt-api).
public struct DisconnectDevice: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0014
  /// Whom.
  public var device: ManagementAddress

  /// Makes it of its parameters.
  public init(device: ManagementAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
  }
}

/// Pair Device (mgmt-api).
public struct PairDevice: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0019
  /// Whom.
  public var device: ManagementAddress
  /// As in Set IO Capability.
  public var capability: UInt8

  /// Makes it of its parameters.
  public init(device: ManagementAddress, capability: UInt8) {
    self.device = device
    self.capability = capability
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    capability = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint8(capability)
  }
}

/// Cancel Pair Device (mgmt-api).
public struct CancelPairDevice: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x001A
  /// Whom.
  public var device: ManagementAddress

  /// Makes it of its parameters.
  public init(device: ManagementAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
  }
}

/// Unpair Device (mgmt-api).
public struct UnpairDevice: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x001B
  /// Whom.
  public var device: ManagementAddress
  /// Whether the link ends as well.
  public var disconnects: Bool

  /// Makes it of its parameters.
  public init(device: ManagementAddress, disconnects: Bool) {
    self.device = device
    self.disconnects = disconnects
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    disconnects = try reader.bool()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.bool(disconnects)
  }
}

/// User Confirmation Reply (mgmt-api).
public struct UserConfirmationReply: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x001C
  /// Whom.
  public var device: ManagementAddress

  /// Makes it of its parameters.
  public init(device: ManagementAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
  }
}

/// User Confirmation Negative Reply (mgmt-api).
public struct UserConfirmationNegativeReply: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x001D
  /// Whom.
  public var device: ManagementAddress

  /// Makes it of its parameters.
  public init(device: ManagementAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
  }
}

/// User Passkey Reply (mgmt-api).
public struct UserPasskeyReply: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x001E
  /// Whom.
  public var device: ManagementAddress
  /// 0 to 999999.
  public var passkey: UInt32

  /// Makes it of its parameters.
  public init(device: ManagementAddress, passkey: UInt32) {
    self.device = device
    self.passkey = passkey
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    passkey = try reader.uint32()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint32(passkey)
  }
}

/// User Passkey Negative Reply (mgmt-api).
public struct UserPasskeyNegativeReply: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x001F
  /// Whom.
  public var device: ManagementAddress

  /// Makes it of its parameters.
  public init(device: ManagementAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
  }
}

/// Get Connection Information (mgmt-api).
public struct GetConnectionInformation: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0031
  /// Whom.
  public var device: ManagementAddress

  /// Makes it of its parameters.
  public init(device: ManagementAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
  }
}
