/// LE Connection Complete (Core 5.4, Vol 4, Part E, 7.7.65.1).
package struct LEConnectionComplete: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x01
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// Our role: 0 central, 1 peripheral.
  package var role: UInt8 = 0
  /// The device at the other end.
  package var peer = HCIAddress()
  /// In 1.25 ms.
  package var interval: UInt16 = 0
  /// Events the peripheral may skip.
  package var latency: UInt16 = 0
  /// In 10 ms.
  package var supervisionTimeout: UInt16 = 0
  /// 0 to 7: 500 to 20 ppm.
  package var centralClockAccuracy: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &role, &peer)
    coder.fields(&interval, &latency, &supervisionTimeout, &centralClockAccuracy)
  }
}

/// LE Enhanced Connection Complete (Core 5.4, Vol 4, Part E, 7.7.65.10).
package struct LEEnhancedConnectionComplete: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x0A
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// Our role: 0 central, 1 peripheral.
  package var role: UInt8 = 0
  /// The device at the other end.
  package var peer = HCIAddress()
  /// 48 bits; zero if none was used.
  package var localResolvablePrivateAddress: UInt64 = 0
  /// 48 bits; zero if none was used.
  package var peerResolvablePrivateAddress: UInt64 = 0
  /// In 1.25 ms.
  package var interval: UInt16 = 0
  /// Events the peripheral may skip.
  package var latency: UInt16 = 0
  /// In 10 ms.
  package var supervisionTimeout: UInt16 = 0
  /// 0 to 7: 500 to 20 ppm.
  package var centralClockAccuracy: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &role, &peer)
    coder.number(&localResolvablePrivateAddress, octets: 6)
    coder.number(&peerResolvablePrivateAddress, octets: 6)
    coder.fields(&interval, &latency, &supervisionTimeout, &centralClockAccuracy)
  }
}

/// LE Connection Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.3).
package struct LEConnectionUpdateComplete: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x03
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// In 1.25 ms.
  package var interval: UInt16 = 0
  /// Events the peripheral may skip.
  package var latency: UInt16 = 0
  /// In 10 ms.
  package var supervisionTimeout: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &interval, &latency, &supervisionTimeout)
  }
}

/// LE Read Remote Features Complete (Core 5.4, Vol 4, Part E, 7.7.65.4).
package struct LEReadRemoteFeaturesComplete: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x04
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// The other controller's features.
  package var features: LEFeatures = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &handle, &features) }
}

/// LE Long Term Key Request (Core 5.4, Vol 4, Part E, 7.7.65.5).
package struct LELongTermKeyRequest: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x05
  package var handle: ConnectionHandle = 0
  /// Chosen with the key.
  package var randomNumber: UInt64 = 0
  /// Chosen with the key.
  package var encryptedDiversifier: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &randomNumber, &encryptedDiversifier)
  }
}

/// LE Remote Connection Parameter Request (Core 5.4, Vol 4, Part E, 7.7.65.6).
package struct LERemoteConnectionParameterRequest: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x06
  package var handle: ConnectionHandle = 0
  /// In 1.25 ms.
  package var intervalMin: UInt16 = 0
  /// In 1.25 ms.
  package var intervalMax: UInt16 = 0
  /// Events the peripheral may skip.
  package var latency: UInt16 = 0
  /// In 10 ms.
  package var supervisionTimeout: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &intervalMin, &intervalMax, &latency, &supervisionTimeout)
  }
}

/// LE Data Length Change (Core 5.4, Vol 4, Part E, 7.7.65.7).
package struct LEDataLengthChange: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x07
  package var handle: ConnectionHandle = 0
  /// 27 to 251.
  package var maximumTxOctets: UInt16 = 0
  /// In µs.
  package var maximumTxTime: UInt16 = 0
  /// 27 to 251.
  package var maximumRxOctets: UInt16 = 0
  /// In µs.
  package var maximumRxTime: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &maximumTxOctets, &maximumTxTime, &maximumRxOctets, &maximumRxTime)
  }
}

/// LE PHY Update Complete (Core 5.4, Vol 4, Part E, 7.7.65.12).
package struct LEPHYUpdateComplete: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x0C
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  package var tx: UInt8 = 1
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  package var rx: UInt8 = 1

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &handle, &tx, &rx) }
}

/// LE Subrate Change (Core 5.4, Vol 4, Part E, 7.7.65.35).
package struct LESubrateChange: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x23
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// The subrate factor: one in this many connection events is used, 1 to 500.
  package var factor: UInt16 = 1
  /// Subrated events the peripheral may skip, 0 to 499.
  package var latency: UInt16 = 0
  /// Further events used after one with data, 0 to 499.
  package var continuationNumber: UInt16 = 0
  /// In 10 ms.
  package var supervisionTimeout: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &factor, &latency, &continuationNumber, &supervisionTimeout)
  }
}

/// LE Read All Remote Features Complete (Core 6.0, Vol 4, Part E, 7.7.65.39). Features of later pages follow, and are
/// not read.
package struct LEReadAllRemoteFeaturesComplete: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x2B
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// The highest page with features of the other controller, 0 to 10.
  package var lastPage: UInt8 = 0
  /// The highest requested page.
  package var lastValidPage: UInt8 = 0
  /// Page 0.
  package var features: LEFeatures = []
  /// The first 64 of page 1, if valid.
  package var more: LEMoreFeatures = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &lastPage, &lastValidPage, &features, &more)
  }
}

/// LE Connection Rate Change (Core 6.2, Vol 4, Part E, 7.7.65.50).
package struct LEConnectionRateChange: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x37
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// In 0.125 ms.
  package var interval: UInt16 = 0
  /// The subrate factor: one in this many connection events is used, 1 to 500.
  package var factor: UInt16 = 1
  /// Subrated events the peripheral may skip, 0 to 499.
  package var latency: UInt16 = 0
  /// Further events used after one with data, 0 to 499.
  package var continuationNumber: UInt16 = 0
  /// In 10 ms.
  package var supervisionTimeout: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &interval, &factor)
    coder.fields(&latency, &continuationNumber, &supervisionTimeout)
  }
}

/// LE Advertising Set Terminated (Core 5.4, Vol 4, Part E, 7.7.65.18).
package struct LEAdvertisingSetTerminated: LEMetaEventParameters {
  package static let subevent: UInt8? = 0x12
  package var status = HCIStatus.success
  /// The set.
  package var advertisingHandle: UInt8 = 0
  package var handle: ConnectionHandle = 0
  /// The number of events sent.
  package var completedEvents: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &advertisingHandle, &handle, &completedEvents)
  }
}

/// Disconnection Complete (Core 5.4, Vol 4, Part E, 7.7.5).
package struct DisconnectionComplete: HCIEventParameters {
  package static let code: UInt8 = 0x05
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// The reason for the link's end.
  package var reason = HCIStatus.success

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &handle, &reason) }
}

/// Encryption Change (Core 5.4, Vol 4, Part E, 7.7.8).
package struct EncryptionChange: HCIEventParameters {
  package static let code: UInt8 = 0x08
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// 0 off, 1 on.
  package var mode: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &handle, &mode) }
}

/// Encryption Key Refresh Complete (Core 5.4, Vol 4, Part E, 7.7.39).
package struct EncryptionKeyRefreshComplete: HCIEventParameters {
  package static let code: UInt8 = 0x30
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &handle) }
}

/// Read Remote Version Information Complete (Core 5.4, Vol 4, Part E, 7.7.12).
package struct ReadRemoteVersionInformationComplete: HCIEventParameters {
  package static let code: UInt8 = 0x0C
  package var status = HCIStatus.success
  package var handle: ConnectionHandle = 0
  /// The link layer's version.
  package var version: UInt8 = 0
  /// The controller's maker.
  package var companyIdentifier: UInt16 = 0
  /// The link layer's revision.
  package var subversion: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&status, &handle, &version, &companyIdentifier, &subversion)
  }
}
