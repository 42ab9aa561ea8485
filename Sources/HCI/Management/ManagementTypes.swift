import Bluetooth

/// A device as the management interface names it: address first, then type.
public struct ManagementAddress: ManagementParameters {
  /// The 48 bits as a number.
  public var value: UInt64
  /// 0 BR/EDR, 1 LE public, 2 LE random.
  public var type: UInt8

  /// The address of an LE device.
  public init(_ device: DeviceAddress) {
    value = device.value
    type = device.kind == .public ? 1 : 2
  }

  /// The LE device behind it; nil for one of BR/EDR.
  public var device: DeviceAddress? {
    switch type {
    case 1: DeviceAddress(value: value, kind: .public)
    case 2: DeviceAddress(value: value, kind: .random)
    default: nil
    }
  }

  /// Reads it.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    value = try reader.uint48()
    type = try reader.uint8()
  }
  /// Writes it.
  public func write(to writer: inout OctetWriter) {
    writer.uint48(value)
    writer.uint8(type)
  }
}

/// Octets behind their number in 16 bits.
public struct ManagementData: ManagementParameters {
  /// The octets.
  public var octets: [UInt8]
  /// Makes it of octets.
  public init(octets: [UInt8]) { self.octets = octets }
  /// Reads it.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    octets = try reader.octets(Int(try reader.uint16()))
  }
  /// Writes it.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(UInt16(truncatingIfNeeded: octets.count))
    writer.octets(octets, count: min(octets.count, 0xFFFF))
  }
}

/// What a controller can do and does (mgmt-api, Read Controller Information).
public struct ManagementSettings: OptionSet, ManagementParameters {
  /// The bits on the socket.
  public let rawValue: UInt32
  /// Makes a set of its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// It has power.
  public static let powered = ManagementSettings(rawValue: 1 << 0)
  /// It accepts BR/EDR connections.
  public static let connectable = ManagementSettings(rawValue: 1 << 1)
  /// It can be discovered.
  public static let discoverable = ManagementSettings(rawValue: 1 << 3)
  /// It accepts bonding.
  public static let bondable = ManagementSettings(rawValue: 1 << 4)
  /// BR/EDR.
  public static let basicRate = ManagementSettings(rawValue: 1 << 7)
  /// LE.
  public static let lowEnergy = ManagementSettings(rawValue: 1 << 9)
  /// The kernel advertises by itself.
  public static let advertising = ManagementSettings(rawValue: 1 << 10)
  /// LE Secure Connections.
  public static let secureConnections = ManagementSettings(rawValue: 1 << 11)
  /// The kernel uses private addresses.
  public static let privacy = ManagementSettings(rawValue: 1 << 13)
  /// The kernel uses a static random address.
  public static let staticAddress = ManagementSettings(rawValue: 1 << 15)

  /// Reads it.
  public init(from reader: inout OctetReader) throws(HCICodingError) { rawValue = try reader.uint32() }
  /// Writes it.
  public func write(to writer: inout OctetWriter) { writer.uint32(rawValue) }
}

/// How the kernel answers a command (mgmt-api, Error codes).
public struct ManagementStatus: RawRepresentable, Hashable, Sendable {
  /// The octet on the socket.
  public let rawValue: UInt8
  /// Makes a status of the octet.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// It went well.
  public static let success = ManagementStatus(rawValue: 0x00)
  /// The kernel does not know the command.
  public static let unknownCommand = ManagementStatus(rawValue: 0x01)
  /// It failed.
  public static let failed = ManagementStatus(rawValue: 0x03)
  /// The controller is busy with something else.
  public static let busy = ManagementStatus(rawValue: 0x0A)
  /// The controller's state does not allow it.
  public static let rejected = ManagementStatus(rawValue: 0x0B)
  /// The controller cannot do it.
  public static let notSupported = ManagementStatus(rawValue: 0x0C)
  /// A parameter is invalid.
  public static let invalidParameters = ManagementStatus(rawValue: 0x0D)
  /// The controller has no power.
  public static let notPowered = ManagementStatus(rawValue: 0x0F)
  /// There is no such controller.
  public static let invalidIndex = ManagementStatus(rawValue: 0x11)
  /// rfkill keeps the controller off.
  public static let rfkilled = ManagementStatus(rawValue: 0x12)
  /// The process lacks CAP_NET_ADMIN.
  public static let permissionDenied = ManagementStatus(rawValue: 0x14)
}
