// MARK: - Scanning

/// LE Set Extended Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.64).
package struct LESetExtendedScanParameters: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2041

  /// How to scan on one PHY.
  package struct Scan: PacketParameters {
    /// True to request scan responses.
    package var isActive = false
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    package var interval: UInt16 = 0
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    package var window: UInt16 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) { coder.fields(&isActive, &interval, &window) }
  }

  /// The kind of our address.
  package var ownAddressType = AddressType.public
  /// 0 all, 1 accept list only.
  package var filterPolicy: UInt8 = 0
  /// Bit 0: 1M, bit 2: Coded; for each bit there is an element in `scans`.
  package var phys: UInt8 = 1
  /// The scan on each PHY.
  package var scans: [Scan] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&ownAddressType, &filterPolicy, &phys)
    coder.groups(&scans, count: phys.nonzeroBitCount)
  }
}

/// LE Set Extended Scan Enable (Core 5.4, Vol 4, Part E, 7.8.65).
package struct LESetExtendedScanEnable: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2042
  package var isEnabled = false
  /// 0 no, 1 yes, 2 anew in each period.
  package var filtersDuplicates: UInt8 = 0
  /// In 10 ms; 0 until it is disabled.
  package var duration: UInt16 = 0
  /// In 1.28 s; 0 for one duration.
  package var period: UInt16 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&isEnabled, &filtersDuplicates, &duration, &period)
  }
}

// MARK: - Initiating

/// LE Extended Create Connection (Core 5.4, Vol 4, Part E, 7.8.66).
package struct LEExtendedCreateConnection: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2043

  /// The search for the device on one PHY, and the parameters of a resulting link.
  package struct Initiation: PacketParameters {
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    package var scanInterval: UInt16 = 0
    /// 0x0004 to 0xFFFF, in 0.625 ms.
    package var scanWindow: UInt16 = 0
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
      coder.fields(&scanInterval, &scanWindow)
      coder.fields(&intervalMin, &intervalMax, &latency, &supervisionTimeout, &minimumCELength, &maximumCELength)
    }
  }

  /// 0 the peer below, 1 any device in the accept list.
  package var filterPolicy: UInt8 = 0
  /// The kind of our address.
  package var ownAddressType = AddressType.public
  /// The peer; not looked at if the accept list is used.
  package var peer = HCIAddress()
  /// Bits 0 to 2: 1M, 2M, Coded; for each bit there is an element in `initiations`.
  package var phys: UInt8 = 1
  /// The parameters for each PHY.
  package var initiations: [Initiation] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&filterPolicy, &ownAddressType, &peer, &phys)
    coder.groups(&initiations, count: phys.nonzeroBitCount)
  }
}
