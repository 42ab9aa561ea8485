/// LE Set Advertising Set Random Address (Core 5.4, Vol 4, Part E, 7.8.52).
public struct LESetAdvertisingSetRandomAddress: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2035
  /// Which set, 0x00 to 0xEF.
  public var advertisingHandle: UInt8
  /// 48 bits of the random address.
  public var address: UInt64

  /// Makes it of its parameters.
  public init(advertisingHandle: UInt8, address: UInt64) {
    self.advertisingHandle = advertisingHandle
    self.address = address
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    advertisingHandle = try reader.uint8()
    address = try reader.uint48()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(advertisingHandle)
    writer.uint48(address)
  }
}

/// LE Set Extended Advertising Parameters (Core 5.4, Vol 4, Part E, 7.8.53).
public struct LESetExtendedAdvertisingParameters: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// What Command Complete carries.
  public typealias ReturnParameters = SelectedTxPower
  /// Identifies the command.
  public static let opcode: Opcode = 0x2036
  /// Which set, 0x00 to 0xEF.
  public var advertisingHandle: UInt8
  /// What kind of advertisement.
  public var properties: AdvertisingEventProperties
  /// 0x000020 to 0xFFFFFF, in 0.625 ms.
  public var intervalMin: UInt32
  /// 0x000020 to 0xFFFFFF, in 0.625 ms.
  public var intervalMax: UInt32
  /// Bits 0 to 2: channels 37 to 39.
  public var channelMap: UInt8
  /// Which of our addresses is used.
  public var ownAddressType: AddressType
  /// To whom, for directed advertising.
  public var peer: HCIAddress
  /// Who may scan and connect; 0 everybody.
  public var filterPolicy: UInt8
  /// In dBm; 127 leaves it to the controller.
  public var txPower: Int8
  /// 1 for 1M, 3 for Coded.
  public var primaryPHY: UInt8
  /// How many events may pass without the auxiliary packet.
  public var secondaryMaxSkip: UInt8
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  public var secondaryPHY: UInt8
  /// The set identifier in the packets, 0 to 15.
  public var sid: UInt8
  /// Whether scan requests become events.
  public var notifiesScanRequests: Bool

  /// Makes it of its parameters.
  public init(
    advertisingHandle: UInt8, properties: AdvertisingEventProperties, intervalMin: UInt32, intervalMax: UInt32,
    channelMap: UInt8 = 7, ownAddressType: AddressType = .public, peer: HCIAddress = .none, filterPolicy: UInt8 = 0,
    txPower: Int8 = 127, primaryPHY: UInt8 = 1, secondaryMaxSkip: UInt8 = 0, secondaryPHY: UInt8 = 1, sid: UInt8 = 0,
    notifiesScanRequests: Bool = false
  ) {
    self.advertisingHandle = advertisingHandle
    self.properties = properties
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.channelMap = channelMap
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.filterPolicy = filterPolicy
    self.txPower = txPower
    self.primaryPHY = primaryPHY
    self.secondaryMaxSkip = secondaryMaxSkip
    self.secondaryPHY = secondaryPHY
    self.sid = sid
    self.notifiesScanRequests = notifiesScanRequests
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    advertisingHandle = try reader.uint8()
    properties = try AdvertisingEventProperties(from: &reader)
    intervalMin = try reader.uint24()
    intervalMax = try reader.uint24()
    channelMap = try reader.uint8()
    ownAddressType = try AddressType(from: &reader)
    peer = try reader.address()
    filterPolicy = try reader.uint8()
    txPower = try reader.int8()
    primaryPHY = try reader.uint8()
    secondaryMaxSkip = try reader.uint8()
    secondaryPHY = try reader.uint8()
    sid = try reader.uint8()
    notifiesScanRequests = try reader.bool()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(advertisingHandle)
    properties.write(to: &writer)
    writer.uint24(intervalMin)
    writer.uint24(intervalMax)
    writer.uint8(channelMap)
    ownAddressType.write(to: &writer)
    writer.address(peer)
    writer.uint8(filterPolicy)
    writer.int8(txPower)
    writer.uint8(primaryPHY)
    writer.uint8(secondaryMaxSkip)
    writer.uint8(secondaryPHY)
    writer.uint8(sid)
    writer.bool(notifiesScanRequests)
  }
}

/// The power that the controller chose (7.8.53).
public struct SelectedTxPower: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// In dBm.
  public var txPower: Int8

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, txPower: Int8) {
    self.status = status
    self.txPower = txPower
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    txPower = try reader.int8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.int8(txPower)
  }
}

/// LE Read Maximum Advertising Data Length (Core 5.4, Vol 4, Part E, 7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCICommand, WithoutParameters {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// What Command Complete carries.
  public typealias ReturnParameters = MaximumAdvertisingDataLength
  /// Identifies the command.
  public static let opcode: Opcode = 0x203A

  /// Makes it.
  public init() {}
}

/// How long an advertisement may be (7.8.57).
public struct MaximumAdvertisingDataLength: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// In octets, 31 to 1650.
  public var length: UInt16

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, length: UInt16) {
    self.status = status
    self.length = length
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    length = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(length)
  }
}

/// LE Read Number of Supported Advertising Sets (Core 5.4, Vol 4, Part E, 7.8.58).
public struct LEReadNumberOfSupportedAdvertisingSets: HCICommand, WithoutParameters {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// What Command Complete carries.
  public typealias ReturnParameters = NumberOfSupportedAdvertisingSets
  /// Identifies the command.
  public static let opcode: Opcode = 0x203B

  /// Makes it.
  public init() {}
}

/// How many sets may be used at once (7.8.58).
public struct NumberOfSupportedAdvertisingSets: HCIReturnParameters {
  /// How the command went.
  public var status: HCIStatus
  /// 1 to 240.
  public var count: UInt8

  /// Makes it of its parameters.
  public init(status: HCIStatus = .success, count: UInt8) {
    self.status = status
    self.count = count
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    count = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint8(count)
  }
}

/// LE Remove Advertising Set (Core 5.4, Vol 4, Part E, 7.8.59).
public struct LERemoveAdvertisingSet: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x203C
  /// Which set, 0x00 to 0xEF.
  public var advertisingHandle: UInt8

  /// Makes it of its parameters.
  public init(advertisingHandle: UInt8) {
    self.advertisingHandle = advertisingHandle
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    advertisingHandle = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint8(advertisingHandle)
  }
}
