/// Read Controller Index List; to no controller (mgmt-api).
public struct ReadIndexList: ManagementCommand, WithoutParameters {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0003

  /// Makes it.
  public init() {}
}

/// Read Controller Information (mgmt-api).
public struct ReadControllerInformation: ManagementCommand, WithoutParameters {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0004

  /// Makes it.
  public init() {}
}

/// Set Powered (mgmt-api).
public struct SetPowered: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0005
  /// 0 off, 1 on.
  public var value: UInt8

  /// Makes it of its parameters.
  public init(value: UInt8) {
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    value = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(value)
  }
}

/// Set Bondable (mgmt-api).
public struct SetBondable: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0009
  /// 0 off, 1 on.
  public var value: UInt8

  /// Makes it of its parameters.
  public init(value: UInt8) {
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    value = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(value)
  }
}

/// Set Low Energy (mgmt-api).
public struct SetLowEnergy: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x000D
  /// 0 off, 1 on.
  public var value: UInt8

  /// Makes it of its parameters.
  public init(value: UInt8) {
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    value = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(value)
  }
}

/// Set IO Capability (mgmt-api).
public struct SetIOCapability: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0018
  /// 0 display only, 1 display yes/no, 2 keyboard only, 3 none, 4 keyboard and display.
  public var capability: UInt8

  /// Makes it of its parameters.
  public init(capability: UInt8) {
    self.capability = capability
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    capability = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(capability)
  }
}

/// Set Advertising (mgmt-api).
public struct SetAdvertising: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x0029
  /// 0 off, 1 on.
  public var value: UInt8

  /// Makes it of its parameters.
  public init(value: UInt8) {
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    value = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(value)
  }
}

/// Set Static Address; only while off (mgmt-api).
public struct SetStaticAddress: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x002B
  /// 48 bits, the two top ones set; zero for none.
  public var address: UInt64

  /// Makes it of its parameters.
  public init(address: UInt64) {
    self.address = address
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    address = try reader.uint48()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint48(address)
  }
}

/// Set Secure Connections (mgmt-api).
public struct SetSecureConnections: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x002D
  /// 0 off, 1 on, 2 only.
  public var mode: UInt8

  /// Makes it of its parameters.
  public init(mode: UInt8) {
    self.mode = mode
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    mode = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(mode)
  }
}

/// Set Privacy; only while off (mgmt-api).
public struct SetPrivacy: ManagementCommand {
  /// Identifies the command.
  public static let opcode: UInt16 = 0x002F
  /// 0 off, 1 on, 2 limited.
  public var mode: UInt8
  /// 16 octets.
  public var identityResolvingKey: [UInt8]

  /// Makes it of its parameters.
  public init(mode: UInt8, identityResolvingKey: [UInt8]) {
    self.mode = mode
    self.identityResolvingKey = identityResolvingKey
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    mode = try reader.uint8()
    identityResolvingKey = try reader.octets(16)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(mode)
    writer.octets(identityResolvingKey, count: 16)
  }
}
