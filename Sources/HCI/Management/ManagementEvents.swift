/// Controller Error (mgmt-api).
public struct ManagementControllerError: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0003
  /// The number.
  public var errorCode: UInt8

  /// Makes it of its parameters.
  public init(errorCode: UInt8) {
    self.errorCode = errorCode
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    errorCode = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(errorCode)
  }
}

/// New Settings (mgmt-api).
public struct NewSettings: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0006
  /// What is on now.
  public var settings: ManagementSettings

  /// Makes it of its parameters.
  public init(settings: ManagementSettings) {
    self.settings = settings
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    settings = try ManagementSettings(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    settings.write(to: &writer)
  }
}

/// Device Connected (mgmt-api).
public struct DeviceConnected: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x000B
  /// Whom.
  public var device: ManagementAddress
  /// Bit 3: the other device began.
  public var flags: UInt32
  /// Advertising data of the device.
  public var data: ManagementData

  /// Makes it of its parameters.
  public init(device: ManagementAddress, flags: UInt32, data: ManagementData) {
    self.device = device
    self.flags = flags
    self.data = data
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    flags = try reader.uint32()
    data = try ManagementData(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint32(flags)
    data.write(to: &writer)
  }
}

/// Device Disconnected (mgmt-api).
public struct DeviceDisconnected: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x000C
  /// Whom.
  public var device: ManagementAddress
  /// 0 unknown, 1 timeout, 2 by us, 3 by the device, 4 authentication, 5 by us to suspend.
  public var reason: UInt8

  /// Makes it of its parameters.
  public init(device: ManagementAddress, reason: UInt8) {
    self.device = device
    self.reason = reason
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    reason = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint8(reason)
  }
}

/// Connect Failed (mgmt-api).
public struct ConnectFailed: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x000D
  /// Whom.
  public var device: ManagementAddress
  /// A mgmt status.
  public var status: UInt8

  /// Makes it of its parameters.
  public init(device: ManagementAddress, status: UInt8) {
    self.device = device
    self.status = status
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    status = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint8(status)
  }
}

/// User Confirmation Request (mgmt-api).
public struct UserConfirmationRequest: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x000F
  /// Whom.
  public var device: ManagementAddress
  /// 1: yes or no is all that is asked (Just Works).
  public var confirmHint: UInt8
  /// The number to compare, 0 to 999999.
  public var value: UInt32

  /// Makes it of its parameters.
  public init(device: ManagementAddress, confirmHint: UInt8, value: UInt32) {
    self.device = device
    self.confirmHint = confirmHint
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    confirmHint = try reader.uint8()
    value = try reader.uint32()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint8(confirmHint)
    writer.uint32(value)
  }
}

/// User Passkey Request (mgmt-api).
public struct UserPasskeyRequest: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0010
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

/// Authentication Failed (mgmt-api).
public struct AuthenticationFailed: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0011
  /// Whom.
  public var device: ManagementAddress
  /// A mgmt status.
  public var status: UInt8

  /// Makes it of its parameters.
  public init(device: ManagementAddress, status: UInt8) {
    self.device = device
    self.status = status
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    status = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint8(status)
  }
}

/// Device Unpaired (mgmt-api).
public struct DeviceUnpaired: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0016
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

/// Passkey Notify (mgmt-api).
public struct PasskeyNotify: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0017
  /// Whom.
  public var device: ManagementAddress
  /// The number to show, 0 to 999999.
  public var passkey: UInt32
  /// How many digits the other side has typed.
  public var entered: UInt8

  /// Makes it of its parameters.
  public init(device: ManagementAddress, passkey: UInt32, entered: UInt8) {
    self.device = device
    self.passkey = passkey
    self.entered = entered
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    passkey = try reader.uint32()
    entered = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint32(passkey)
    writer.uint8(entered)
  }
}

/// New Connection Parameter (mgmt-api).
public struct NewConnectionParameters: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x001C
  /// Whether the key ought to be kept.
  public var storeHint: Bool
  /// Whom.
  public var device: ManagementAddress
  /// In 1.25 ms.
  public var intervalMin: UInt16
  /// In 1.25 ms.
  public var intervalMax: UInt16
  /// Events that may be skipped.
  public var latency: UInt16
  /// In 10 ms.
  public var supervisionTimeout: UInt16

  /// Makes it of its parameters.
  public init(
    storeHint: Bool, device: ManagementAddress, intervalMin: UInt16, intervalMax: UInt16, latency: UInt16,
    supervisionTimeout: UInt16
  ) {
    self.storeHint = storeHint
    self.device = device
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    storeHint = try reader.bool()
    device = try ManagementAddress(from: &reader)
    intervalMin = try reader.uint16()
    intervalMax = try reader.uint16()
    latency = try reader.uint16()
    supervisionTimeout = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(storeHint)
    device.write(to: &writer)
    writer.uint16(intervalMin)
    writer.uint16(intervalMax)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout)
  }
}
