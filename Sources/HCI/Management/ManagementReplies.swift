/// Command Complete of the management interface (mgmt-api).
public struct ManagementCommandComplete: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0001
  /// Which command.
  public var opcode: UInt16
  /// How it went.
  public var status: ManagementStatus
  /// What it returned.
  public var returnParameters: [UInt8]

  /// Makes it of its parameters.
  public init(opcode: UInt16, status: ManagementStatus = .success, returnParameters: [UInt8] = []) {
    self.opcode = opcode
    self.status = status
    self.returnParameters = returnParameters
  }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    opcode = try reader.uint16()
    status = ManagementStatus(rawValue: try reader.uint8())
    returnParameters = reader.rest()
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(opcode)
    writer.uint8(status.rawValue)
    writer.octets(returnParameters)
  }
}

/// Command Status of the management interface (mgmt-api).
public struct ManagementCommandStatus: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0002
  /// Which command.
  public var opcode: UInt16
  /// How it went.
  public var status: ManagementStatus

  /// Makes it of its parameters.
  public init(opcode: UInt16, status: ManagementStatus) {
    self.opcode = opcode
    self.status = status
  }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    opcode = try reader.uint16()
    status = ManagementStatus(rawValue: try reader.uint8())
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(opcode)
    writer.uint8(status.rawValue)
  }
}

/// What Read Controller Index List returns.
public struct ControllerIndexList: ManagementParameters {
  /// The controllers that are there.
  public var indexes: [ControllerIndex]

  /// Makes it of its parameters.
  public init(indexes: [ControllerIndex]) { self.indexes = indexes }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    indexes = []
    for _ in 0..<(try reader.uint16()) { indexes.append(ControllerIndex(rawValue: try reader.uint16())) }
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(UInt16(clamping: indexes.count))
    for index in indexes { writer.uint16(index.rawValue) }
  }
}

/// What Read Controller Information returns.
public struct ControllerInformation: ManagementParameters {
  /// The public address as 48 bits; zero if there is none.
  public var address: UInt64
  /// The version of Bluetooth; 9 is 5.0.
  public var version: UInt8
  /// Who made the controller.
  public var manufacturer: UInt16
  /// What it can do.
  public var supported: ManagementSettings
  /// What it does.
  public var current: ManagementSettings
  /// The class of device.
  public var classOfDevice: UInt32
  /// Its name, without the zeros that fill the field of 249 octets.
  public var name: [UInt8]
  /// Its short name, without the zeros that fill the field of 11 octets.
  public var shortName: [UInt8]

  /// Makes it of its parameters.
  public init(
    address: UInt64, version: UInt8 = 9, manufacturer: UInt16 = 0xFFFF, supported: ManagementSettings,
    current: ManagementSettings, classOfDevice: UInt32 = 0, name: [UInt8] = [], shortName: [UInt8] = []
  ) {
    self.address = address
    self.version = version
    self.manufacturer = manufacturer
    self.supported = supported
    self.current = current
    self.classOfDevice = classOfDevice
    self.name = name
    self.shortName = shortName
  }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    address = try reader.uint48()
    version = try reader.uint8()
    manufacturer = try reader.uint16()
    supported = try ManagementSettings(from: &reader)
    current = try ManagementSettings(from: &reader)
    classOfDevice = try reader.uint24()
    name = Array(try reader.octets(249).prefix { $0 != 0 })
    shortName = Array(try reader.octets(11).prefix { $0 != 0 })
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint48(address)
    writer.uint8(version)
    writer.uint16(manufacturer)
    supported.write(to: &writer)
    current.write(to: &writer)
    writer.uint24(classOfDevice)
    writer.octets(name, count: 249)
    writer.octets(shortName, count: 11)
  }
}

/// What Get Connection Information returns.
public struct ConnectionInformation: ManagementParameters {
  /// Whom it is about.
  public var device: ManagementAddress
  /// In dBm; 127 if unknown.
  public var rssi: Int8
  /// In dBm; 127 if unknown.
  public var txPower: Int8
  /// In dBm; 127 if unknown.
  public var maximumTxPower: Int8

  /// Makes it of its parameters.
  public init(device: ManagementAddress, rssi: Int8, txPower: Int8, maximumTxPower: Int8) {
    self.device = device
    self.rssi = rssi
    self.txPower = txPower
    self.maximumTxPower = maximumTxPower
  }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    rssi = try reader.int8()
    txPower = try reader.int8()
    maximumTxPower = try reader.int8()
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.int8(rssi)
    writer.int8(txPower)
    writer.int8(maximumTxPower)
  }
}
