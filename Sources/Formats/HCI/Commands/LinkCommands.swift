// MARK: - Filter accept list

/// LE Read Filter Accept List Size (Core 5.4, Vol 4, Part E, 7.8.14).
package struct LEReadFilterAcceptListSize: HCICommand, WithoutParameters {
  /// Capacity of the list, 1 to 255.
  package typealias ReturnParameters = ValueReturn<UInt8>
  package static let opcode: Opcode = 0x200F
  package init() {}
}

/// LE Clear Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.15).
package struct LEClearFilterAcceptList: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x2010
  package init() {}
}

/// LE Add Device To Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.16).
package struct LEAddDeviceToFilterAcceptList: HCICommand {
  package static let opcode: Opcode = 0x2011
  package var device = HCIAddress()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device) }
}

/// LE Remove Device From Filter Accept List (Core 5.4, Vol 4, Part E, 7.8.17).
package struct LERemoveDeviceFromFilterAcceptList: HCICommand {
  package static let opcode: Opcode = 0x2012
  package var device = HCIAddress()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&device) }
}

// MARK: - Links

/// LE Create Connection Cancel (Core 5.4, Vol 4, Part E, 7.8.13). It ends the extended command as well.
package struct LECreateConnectionCancel: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x200E
  package init() {}
}

/// Disconnect (Core 5.4, Vol 4, Part E, 7.1.6). The outcome is Disconnection Complete.
package struct Disconnect: HCICommand {
  package static let opcode: Opcode = 0x0406
  package var handle: ConnectionHandle = 0
  /// Why, as the peer will see it.
  package var reason = HCIStatus(.remoteUserTerminatedConnection)

  package init() {}
  package init(handle: ConnectionHandle, reason: HCIStatus) {
    self.handle = handle
    self.reason = reason
  }
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle, &reason) }
}

/// Read Remote Version Information (Core 5.4, Vol 4, Part E, 7.1.23).
package struct ReadRemoteVersionInformation: LinkCommand {
  package static let opcode: Opcode = 0x041D
  package var handle: UInt16 = 0
  package init() {}
}

/// Read RSSI (Core 5.4, Vol 4, Part E, 7.5.4).
package struct ReadRSSI: LinkCommand {
  package static let opcode: Opcode = 0x1405
  package var handle: UInt16 = 0
  package init() {}

  /// A link's signal strength.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    package var handle: ConnectionHandle = 0
    /// In dBm, −127 to 20; 127 if unknown.
    package var rssi: Int8 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &handle, &rssi) }
  }
}

/// LE Connection Update (Core 5.4, Vol 4, Part E, 7.8.18).
package struct LEConnectionUpdate: HCICommand {
  package static let opcode: Opcode = 0x2013
  package var handle: ConnectionHandle = 0
  /// 0x0006 to 0x0C80, in 1.25 ms.
  package var intervalMin: UInt16 = 0
  /// 0x0006 to 0x0C80, in 1.25 ms.
  package var intervalMax: UInt16 = 0
  /// Events the peripheral may skip, 0 to 499.
  package var latency: UInt16 = 0
  /// 0x000A to 0x0C80, in 10 ms.
  package var supervisionTimeout: UInt16 = 0
  /// In 0.625 ms.
  package var minimumCELength: UInt16 = 0
  /// In 0.625 ms.
  package var maximumCELength: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &intervalMin, &intervalMax, &latency, &supervisionTimeout)
    coder.fields(&minimumCELength, &maximumCELength)
  }
}

/// LE Remote Connection Parameter Request Reply (Core 5.4, Vol 4, Part E, 7.8.31).
package struct LERemoteConnectionParameterRequestReply: HCICommand {
  package typealias ReturnParameters = ValueReturn<ConnectionHandle>
  package static let opcode: Opcode = 0x2020
  package var handle: ConnectionHandle = 0
  /// 0x0006 to 0x0C80, in 1.25 ms.
  package var intervalMin: UInt16 = 0
  /// 0x0006 to 0x0C80, in 1.25 ms.
  package var intervalMax: UInt16 = 0
  /// Events the peripheral may skip, 0 to 499.
  package var latency: UInt16 = 0
  /// 0x000A to 0x0C80, in 10 ms.
  package var supervisionTimeout: UInt16 = 0
  /// In 0.625 ms.
  package var minimumCELength: UInt16 = 0
  /// In 0.625 ms.
  package var maximumCELength: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &intervalMin, &intervalMax, &latency, &supervisionTimeout)
    coder.fields(&minimumCELength, &maximumCELength)
  }
}

/// LE Remote Connection Parameter Request Negative Reply (Core 5.4, Vol 4, Part E, 7.8.32).
package struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
  package typealias ReturnParameters = ValueReturn<ConnectionHandle>
  package static let opcode: Opcode = 0x2021
  package var handle: ConnectionHandle = 0
  /// Why, as the peer will see it.
  package var reason = HCIStatus.success

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle, &reason) }
}

/// LE Read Remote Features (Core 5.4, Vol 4, Part E, 7.8.21).
package struct LEReadRemoteFeatures: LinkCommand {
  package static let opcode: Opcode = 0x2016
  package var handle: UInt16 = 0
  package init() {}
}

/// LE Set Data Length (Core 5.4, Vol 4, Part E, 7.8.33).
package struct LESetDataLength: HCICommand {
  package typealias ReturnParameters = ValueReturn<ConnectionHandle>
  package static let opcode: Opcode = 0x2022
  package var handle: ConnectionHandle = 0
  /// Octets in one link layer packet, 27 to 251.
  package var txOctets: UInt16 = 27
  /// In µs, 328 to 17040.
  package var txTime: UInt16 = 328

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&handle, &txOctets, &txTime) }
}

/// LE Read PHY (Core 5.4, Vol 4, Part E, 7.8.47).
package struct LEReadPHY: LinkCommand {
  package static let opcode: Opcode = 0x2030
  package var handle: UInt16 = 0
  package init() {}

  /// A link's PHYs.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    package var handle: ConnectionHandle = 0
    /// 1 for 1M, 2 for 2M, 3 for Coded.
    package var tx: UInt8 = 1
    /// 1 for 1M, 2 for 2M, 3 for Coded.
    package var rx: UInt8 = 1

    package init() {}
    package mutating func code(with coder: inout OctetCoder) { coder.fields(&status, &handle, &tx, &rx) }
  }
}

/// LE Set PHY (Core 5.4, Vol 4, Part E, 7.8.49).
package struct LESetPHY: HCICommand {
  package static let opcode: Opcode = 0x2032
  package var handle: ConnectionHandle = 0
  /// Bit 0: no preference for sending; bit 1: for receiving.
  package var allPHYs: UInt8 = 0
  /// Bits 0 to 2: 1M, 2M, Coded.
  package var txPHYs: UInt8 = 0
  /// Bits 0 to 2: 1M, 2M, Coded.
  package var rxPHYs: UInt8 = 0
  /// The preferred coding.
  package var options: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &allPHYs, &txPHYs, &rxPHYs, &options)
  }
}

// MARK: - Encryption

/// LE Enable Encryption (Core 5.4, Vol 4, Part E, 7.8.24).
package struct LEEnableEncryption: HCICommand {
  package static let opcode: Opcode = 0x2019
  package var handle: ConnectionHandle = 0
  /// Chosen with the key; 0 for LE Secure Connections.
  package var randomNumber: UInt64 = 0
  /// Chosen with the key; 0 for LE Secure Connections.
  package var encryptedDiversifier: UInt16 = 0
  /// 16 octets, least significant first.
  package var longTermKey: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle, &randomNumber, &encryptedDiversifier)
    coder.octets(&longTermKey, count: 16)
  }
}

/// LE Long Term Key Request Reply (Core 5.4, Vol 4, Part E, 7.8.25).
package struct LELongTermKeyRequestReply: HCICommand {
  package typealias ReturnParameters = ValueReturn<ConnectionHandle>
  package static let opcode: Opcode = 0x201A
  package var handle: ConnectionHandle = 0
  /// 16 octets, least significant first.
  package var longTermKey: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&handle)
    coder.octets(&longTermKey, count: 16)
  }
}

/// LE Long Term Key Request Negative Reply (Core 5.4, Vol 4, Part E, 7.8.26).
package struct LELongTermKeyRequestNegativeReply: LinkCommand {
  package typealias ReturnParameters = ValueReturn<ConnectionHandle>
  package static let opcode: Opcode = 0x201B
  package var handle: ConnectionHandle = 0
  package init() {}
}
