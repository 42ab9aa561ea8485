/// Disconnect (Core 5.4, Vol 4, Part E, 7.1.6). The outcome is Disconnection Complete.
public struct Disconnect: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x0406
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Why, as the peer will see it.
  public var reason: HCIStatus

  /// Makes it of its parameters.
  public init(handle: UInt16, reason: HCIStatus) {
    self.handle = handle
    self.reason = reason
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    reason = try reader.status()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.status(reason)
  }
}

/// Read Remote Version Information (Core 5.4, Vol 4, Part E, 7.1.23).
public struct ReadRemoteVersionInformation: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x041D
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

/// Read RSSI (Core 5.4, Vol 4, Part E, 7.5.4).
public struct ReadRSSI: HCICommand {
  /// What Command Complete carries.
  public typealias ReturnParameters = RSSI
  /// Identifies the command.
  public static let opcode: Opcode = 0x1405
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

/// The signal strength of a link (7.5.4).
public struct RSSI: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// In dBm, −127 to 20; 127 if unknown.
  public var rssi: Int8

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, handle: UInt16, rssi: Int8) {
    self.status = status
    self.handle = handle
    self.rssi = rssi
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    rssi = try reader.int8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.int8(rssi)
  }
}

/// LE Create Connection Cancel (Core 5.4, Vol 4, Part E, 7.8.13). It ends the extended command as well.
public struct LECreateConnectionCancel: HCICommand, WithoutParameters {
  /// Identifies the command.
  public static let opcode: Opcode = 0x200E

  /// Makes it.
  public init() {}
}

/// LE Connection Update (Core 5.4, Vol 4, Part E, 7.8.18).
public struct LEConnectionUpdate: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2013
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// 0x0006 to 0x0C80, in 1.25 ms.
  public var intervalMin: UInt16
  /// 0x0006 to 0x0C80, in 1.25 ms.
  public var intervalMax: UInt16
  /// Events that the peripheral may skip, 0 to 499.
  public var latency: UInt16
  /// 0x000A to 0x0C80, in 10 ms.
  public var supervisionTimeout: UInt16
  /// In 0.625 ms.
  public var minimumCELength: UInt16
  /// In 0.625 ms.
  public var maximumCELength: UInt16

  /// Makes it of its parameters.
  public init(
    handle: UInt16, intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, supervisionTimeout: UInt16,
    minimumCELength: UInt16 = 0, maximumCELength: UInt16 = 0
  ) {
    self.handle = handle
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.minimumCELength = minimumCELength
    self.maximumCELength = maximumCELength
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    intervalMin = try reader.uint16()
    intervalMax = try reader.uint16()
    latency = try reader.uint16()
    supervisionTimeout = try reader.uint16()
    minimumCELength = try reader.uint16()
    maximumCELength = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.uint16(intervalMin)
    writer.uint16(intervalMax)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout)
    writer.uint16(minimumCELength)
    writer.uint16(maximumCELength)
  }
}

/// LE Read Remote Features (Core 5.4, Vol 4, Part E, 7.8.21).
public struct LEReadRemoteFeatures: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2016
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

/// LE Set Data Length (Core 5.4, Vol 4, Part E, 7.8.33).
public struct LESetDataLength: HCICommand {
  /// What Command Complete carries.
  public typealias ReturnParameters = HandleReturn
  /// Identifies the command.
  public static let opcode: Opcode = 0x2022
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Octets in one link layer packet, 27 to 251.
  public var txOctets: UInt16
  /// In µs, 328 to 17040.
  public var txTime: UInt16

  /// Makes it of its parameters.
  public init(handle: UInt16, txOctets: UInt16, txTime: UInt16) {
    self.handle = handle
    self.txOctets = txOctets
    self.txTime = txTime
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    txOctets = try reader.uint16()
    txTime = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.uint16(txOctets)
    writer.uint16(txTime)
  }
}

/// LE Read PHY (Core 5.4, Vol 4, Part E, 7.8.47).
public struct LEReadPHY: HCICommand {
  /// What Command Complete carries.
  public typealias ReturnParameters = LinkPHYs
  /// Identifies the command.
  public static let opcode: Opcode = 0x2030
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

/// The PHYs of a link (7.8.47).
public struct LinkPHYs: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  public var tx: UInt8
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  public var rx: UInt8

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, handle: UInt16, tx: UInt8, rx: UInt8) {
    self.status = status
    self.handle = handle
    self.tx = tx
    self.rx = rx
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    tx = try reader.uint8()
    rx = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.uint8(tx)
    writer.uint8(rx)
  }
}

/// LE Set PHY (Core 5.4, Vol 4, Part E, 7.8.49).
public struct LESetPHY: HCICommand {
  /// Identifies the command.
  public static let opcode: Opcode = 0x2032
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Bit 0: no preference for sending; bit 1: for receiving.
  public var allPHYs: UInt8
  /// Bits 0 to 2: 1M, 2M, Coded.
  public var txPHYs: UInt8
  /// Bits 0 to 2: 1M, 2M, Coded.
  public var rxPHYs: UInt8
  /// Which coding is preferred.
  public var options: UInt16

  /// Makes it of its parameters.
  public init(handle: UInt16, allPHYs: UInt8 = 0, txPHYs: UInt8, rxPHYs: UInt8, options: UInt16 = 0) {
    self.handle = handle
    self.allPHYs = allPHYs
    self.txPHYs = txPHYs
    self.rxPHYs = rxPHYs
    self.options = options
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    allPHYs = try reader.uint8()
    txPHYs = try reader.uint8()
    rxPHYs = try reader.uint8()
    options = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.uint8(allPHYs)
    writer.uint8(txPHYs)
    writer.uint8(rxPHYs)
    writer.uint16(options)
  }
}

/// Status and handle, as several commands return them.
public struct HandleReturn: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, handle: UInt16) {
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
