/// LE Connection Complete (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct LEConnectionComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x01
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Our role: 0 central, 1 peripheral.
  public var role: UInt8
  /// Who is at the other end.
  public var peer: HCIAddress
  /// In 1.25 ms.
  public var interval: UInt16
  /// Events that the peripheral may skip.
  public var latency: UInt16
  /// In 10 ms.
  public var supervisionTimeout: UInt16
  /// 0 to 7: 500 to 20 ppm.
  public var centralClockAccuracy: UInt8

  /// Makes it of its parameters.
  public init(
    status: HCIStatus, handle: UInt16, role: UInt8, peer: HCIAddress, interval: UInt16, latency: UInt16,
    supervisionTimeout: UInt16, centralClockAccuracy: UInt8
  ) {
    self.status = status
    self.handle = handle
    self.role = role
    self.peer = peer
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.centralClockAccuracy = centralClockAccuracy
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    role = try reader.uint8()
    peer = try reader.address()
    interval = try reader.uint16()
    latency = try reader.uint16()
    supervisionTimeout = try reader.uint16()
    centralClockAccuracy = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.uint8(role)
    writer.address(peer)
    writer.uint16(interval)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout)
    writer.uint8(centralClockAccuracy)
  }
}

/// LE Connection Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.3).
public struct LEConnectionUpdateComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x03
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// In 1.25 ms.
  public var interval: UInt16
  /// Events that the peripheral may skip.
  public var latency: UInt16
  /// In 10 ms.
  public var supervisionTimeout: UInt16

  /// Makes it of its parameters.
  public init(status: HCIStatus, handle: UInt16, interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
    self.status = status
    self.handle = handle
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    interval = try reader.uint16()
    latency = try reader.uint16()
    supervisionTimeout = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.uint16(interval)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout)
  }
}

/// LE Read Remote Features Complete (Core 5.4, Vol 4, Part E, 7.7.65.4).
public struct LEReadRemoteFeaturesComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x04
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// What the other controller can do.
  public var features: LEFeatures

  /// Makes it of its parameters.
  public init(status: HCIStatus, handle: UInt16, features: LEFeatures) {
    self.status = status
    self.handle = handle
    self.features = features
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    features = try LEFeatures(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    features.write(to: &writer)
  }
}

/// LE Long Term Key Request (Core 5.4, Vol 4, Part E, 7.7.65.5).
public struct LELongTermKeyRequest: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x05
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Chosen with the key.
  public var randomNumber: UInt64
  /// Chosen with the key.
  public var encryptedDiversifier: UInt16

  /// Makes it of its parameters.
  public init(handle: UInt16, randomNumber: UInt64, encryptedDiversifier: UInt16) {
    self.handle = handle
    self.randomNumber = randomNumber
    self.encryptedDiversifier = encryptedDiversifier
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    randomNumber = try reader.uint64()
    encryptedDiversifier = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.uint64(randomNumber)
    writer.uint16(encryptedDiversifier)
  }
}

/// LE Data Length Change (Core 5.4, Vol 4, Part E, 7.7.65.7).
public struct LEDataLengthChange: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x07
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// 27 to 251.
  public var maximumTxOctets: UInt16
  /// In µs.
  public var maximumTxTime: UInt16
  /// 27 to 251.
  public var maximumRxOctets: UInt16
  /// In µs.
  public var maximumRxTime: UInt16

  /// Makes it of its parameters.
  public init(
    handle: UInt16, maximumTxOctets: UInt16, maximumTxTime: UInt16, maximumRxOctets: UInt16, maximumRxTime: UInt16
  ) {
    self.handle = handle
    self.maximumTxOctets = maximumTxOctets
    self.maximumTxTime = maximumTxTime
    self.maximumRxOctets = maximumRxOctets
    self.maximumRxTime = maximumRxTime
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    handle = try reader.uint16()
    maximumTxOctets = try reader.uint16()
    maximumTxTime = try reader.uint16()
    maximumRxOctets = try reader.uint16()
    maximumRxTime = try reader.uint16()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.uint16(handle)
    writer.uint16(maximumTxOctets)
    writer.uint16(maximumTxTime)
    writer.uint16(maximumRxOctets)
    writer.uint16(maximumRxTime)
  }
}

/// LE Enhanced Connection Complete (Core 5.4, Vol 4, Part E, 7.7.65.10).
public struct LEEnhancedConnectionComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x0A
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// Our role: 0 central, 1 peripheral.
  public var role: UInt8
  /// Who is at the other end.
  public var peer: HCIAddress
  /// 48 bits; zero if none was used.
  public var localResolvablePrivateAddress: UInt64
  /// 48 bits; zero if none was used.
  public var peerResolvablePrivateAddress: UInt64
  /// In 1.25 ms.
  public var interval: UInt16
  /// Events that the peripheral may skip.
  public var latency: UInt16
  /// In 10 ms.
  public var supervisionTimeout: UInt16
  /// 0 to 7: 500 to 20 ppm.
  public var centralClockAccuracy: UInt8

  /// Makes it of its parameters.
  public init(
    status: HCIStatus, handle: UInt16, role: UInt8, peer: HCIAddress, localResolvablePrivateAddress: UInt64,
    peerResolvablePrivateAddress: UInt64, interval: UInt16, latency: UInt16, supervisionTimeout: UInt16,
    centralClockAccuracy: UInt8
  ) {
    self.status = status
    self.handle = handle
    self.role = role
    self.peer = peer
    self.localResolvablePrivateAddress = localResolvablePrivateAddress
    self.peerResolvablePrivateAddress = peerResolvablePrivateAddress
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.centralClockAccuracy = centralClockAccuracy
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    handle = try reader.uint16()
    role = try reader.uint8()
    peer = try reader.address()
    localResolvablePrivateAddress = try reader.uint48()
    peerResolvablePrivateAddress = try reader.uint48()
    interval = try reader.uint16()
    latency = try reader.uint16()
    supervisionTimeout = try reader.uint16()
    centralClockAccuracy = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint16(handle)
    writer.uint8(role)
    writer.address(peer)
    writer.uint48(localResolvablePrivateAddress)
    writer.uint48(peerResolvablePrivateAddress)
    writer.uint16(interval)
    writer.uint16(latency)
    writer.uint16(supervisionTimeout)
    writer.uint8(centralClockAccuracy)
  }
}

/// LE PHY Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.12).
public struct LEPHYUpdateComplete: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x0C
  /// How it went.
  public var status: HCIStatus
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  public var tx: UInt8
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  public var rx: UInt8

  /// Makes it of its parameters.
  public init(status: HCIStatus, handle: UInt16, tx: UInt8, rx: UInt8) {
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

/// LE Advertising Set Terminated (Core 5.4, Vol 4, Part E, 7.7.65.18).
public struct LEAdvertisingSetTerminated: HCIEventParameters {
  /// The event code.
  public static let code: UInt8 = 0x3E
  /// The subevent code.
  public static let subevent: UInt8? = 0x12
  /// How it went.
  public var status: HCIStatus
  /// Which set.
  public var advertisingHandle: UInt8
  /// The connection handle, 0x0000 to 0x0EFF.
  public var handle: UInt16
  /// How many events it sent.
  public var completedEvents: UInt8

  /// Makes it of its parameters.
  public init(status: HCIStatus, advertisingHandle: UInt8, handle: UInt16, completedEvents: UInt8) {
    self.status = status
    self.advertisingHandle = advertisingHandle
    self.handle = handle
    self.completedEvents = completedEvents
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    status = try reader.status()
    advertisingHandle = try reader.uint8()
    handle = try reader.uint16()
    completedEvents = try reader.uint8()
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.status(status)
    writer.uint8(advertisingHandle)
    writer.uint16(handle)
    writer.uint8(completedEvents)
  }
}
