/// Disconnection Complete (Core 5.4, Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x05
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Why the link ended.
  public var reason: HCIStatus

  /// Makes it of its parameters.
  public init(status: HCIStatus, handle: UInt16, reason: HCIStatus) {
    self.status = status
    self.handle = handle
    self.reason = reason
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    reason = try reader.status()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.status(reason)
  }
}

/// Encryption Change (Core 5.4, Vol 4, Part E, 7.7.8).
public struct EncryptionChange: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x08
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// 0 off, 1 on.
  public var mode: UInt8

  /// Makes it of its parameters.
  public init(status: HCIStatus, handle: UInt16, mode: UInt8) {
    self.status = status
    self.handle = handle
    self.mode = mode
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    mode = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.uint8(mode)
  }
}

/// Read Remote Version Information Complete (Core 5.4, Vol 4, Part E, 7.7.12).
public struct ReadRemoteVersionInformationComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x0C
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// The version of the link layer.
  public var version: UInt8
  /// Who made the controller.
  public var companyIdentifier: UInt16
  /// The revision of the link layer.
  public var subversion: UInt16

  /// Makes it of its parameters.
  public init(status: HCIStatus, handle: UInt16, version: UInt8, companyIdentifier: UInt16, subversion: UInt16) {
    self.status = status
    self.handle = handle
    self.version = version
    self.companyIdentifier = companyIdentifier
    self.subversion = subversion
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    version = try reader.uint8()
    companyIdentifier = try reader.uint16()
    subversion = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.uint8(version)
    writer.uint16(companyIdentifier)
    writer.uint16(subversion)
  }
}

/// Hardware Error (Core 5.4, Vol 4, Part E, 7.7.16).
public struct HardwareError: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x10
  /// The maker's own number.
  public var hardwareCode: UInt8

  /// Makes it of its parameters.
  public init(hardwareCode: UInt8) {
    self.hardwareCode = hardwareCode
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    hardwareCode = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(hardwareCode)
  }
}

/// Encryption Key Refresh Complete (Core 5.4, Vol 4, Part E, 7.7.39).
public struct EncryptionKeyRefreshComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x30
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16

  /// Makes it of its parameters.
  public init(status: HCIStatus, handle: UInt16) {
    self.status = status
    self.handle = handle
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
  }
}
