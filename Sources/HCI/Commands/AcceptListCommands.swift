/// LE Read Filter Accept List Size (Core 5.4, Vol 4, Part E, 7.8.14).
public struct LEReadFilterAcceptListSize: HCICommand, WithoutParameters {
  /// What Command Complete carries.
  public typealias ReturnParameters = FilterAcceptListSize
  /// Identifies the command.
  public static let opcode: Opcode = 0x200F

  /// Makes it.
  public init() {}
}

/// How many devices the list holds (7.8.14).
public struct FilterAcceptListSize: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// 1 to 255.
  public var size: UInt8

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, size: UInt8) {
    self.status = status
    self.size = size
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    size = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint8(size)
  }
}

/// LE Clear Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.15).
public struct LEClearFilterAcceptList: HCICommand, WithoutParameters {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2010

  /// Makes it.
  public init() {}
}

/// LE Add Device To Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.16).
public struct LEAddDeviceToFilterAcceptList: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2011
  /// Whom.
  public var device: HCIAddress

  /// Makes it of its parameters.
  public init(device: HCIAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try reader.address()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.address(device)
  }
}

/// LE Remove Device From Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.17).
public struct LERemoveDeviceFromFilterAcceptList: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2012
  /// Whom.
  public var device: HCIAddress

  /// Makes it of its parameters.
  public init(device: HCIAddress) {
    self.device = device
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try reader.address()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.address(device)
  }
}
