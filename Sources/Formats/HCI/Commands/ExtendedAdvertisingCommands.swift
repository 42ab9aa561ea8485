/// LE Set Advertising Set Random Address (Core 5.4, Vol 4, Part E, 7.8.52).
package struct LESetAdvertisingSetRandomAddress: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2035
  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// The random address, 48 bits.
  package var address: UInt64 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&advertisingHandle)
    coder.number(&address, octets: 6)
  }
}

/// LE Set Extended Advertising Parameters (Core 5.4, Vol 4, Part E, 7.8.53).
package struct LESetExtendedAdvertisingParameters: HCICommand {
  package typealias Family = ExtendedFamily
  /// The transmit power chosen by the controller, in dBm.
  package typealias ReturnParameters = ValueReturn<Int8>
  package static let opcode: Opcode = 0x2036

  /// A set's kind of advertisement.
  package struct Properties: OptionSet, PacketField, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Connectable.
    package static let connectable = Properties(rawValue: 1 << 0)
    /// Scannable.
    package static let scannable = Properties(rawValue: 1 << 1)
    /// Directed.
    package static let directed = Properties(rawValue: 1 << 2)
    /// Directed with the high duty cycle; legacy PDUs only.
    package static let highDutyCycle = Properties(rawValue: 1 << 3)
    /// With legacy PDUs, which every scanner hears and which carry at the most 31 octets.
    package static let legacyPDUs = Properties(rawValue: 1 << 4)
    /// Without the advertiser's address.
    package static let anonymous = Properties(rawValue: 1 << 5)
    /// With the transmit power in the header.
    package static let includesTxPower = Properties(rawValue: 1 << 6)
  }

  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// The kind of advertisement.
  package var properties: Properties = []
  /// 0x000020 to 0xFFFFFF, in 0.625 ms.
  package var intervalMin: UInt32 = 0
  /// 0x000020 to 0xFFFFFF, in 0.625 ms.
  package var intervalMax: UInt32 = 0
  /// Bits 0 to 2: channels 37 to 39.
  package var channelMap: UInt8 = 7
  /// The kind of our address.
  package var ownAddressType = AddressType.public
  /// The target of directed advertising.
  package var peer = HCIAddress()
  /// The devices permitted to scan and connect; 0 all.
  package var filterPolicy: UInt8 = 0
  /// In dBm; 127 leaves it to the controller.
  package var txPower: Int8 = 127
  /// 1 for 1M, 3 for Coded.
  package var primaryPHY: UInt8 = 1
  /// Maximum events without the auxiliary packet.
  package var secondaryMaxSkip: UInt8 = 0
  /// 1 for 1M, 2 for 2M, 3 for Coded.
  package var secondaryPHY: UInt8 = 1
  /// The set identifier in the packets, 0 to 15.
  package var sid: UInt8 = 0
  /// True to report scan requests as events.
  package var notifiesScanRequests = false

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&advertisingHandle, &properties)
    coder.number(&intervalMin, octets: 3)
    coder.number(&intervalMax, octets: 3)
    coder.fields(&channelMap, &ownAddressType, &peer, &filterPolicy, &txPower)
    coder.fields(&primaryPHY, &secondaryMaxSkip, &secondaryPHY, &sid, &notifiesScanRequests)
  }
}

/// LE Set Extended Advertising Parameters [v2] (Core 5.4, Vol 4, Part E, 7.8.53), which chooses the coding, too.
package struct LESetExtendedAdvertisingParametersV2: HCICommand {
  package typealias Family = ExtendedFamily
  package typealias ReturnParameters = LESetExtendedAdvertisingParameters.ReturnParameters
  package static let opcode: Opcode = 0x207F

  /// The coding where a PHY is LE Coded.
  package enum PHYOptions: UInt8, PacketField, Hashable, Sendable {
    /// The controller chooses.
    case none = 0
    /// S=2 is preferred.
    case prefersS2 = 1
    /// S=8 is preferred.
    case prefersS8 = 2
    /// S=2 is required.
    case requiresS2 = 3
    /// S=8 is required.
    case requiresS8 = 4

    package init() { self = .none }
  }

  /// The parameters of the command without a version.
  package var parameters = LESetExtendedAdvertisingParameters()
  /// For the primary PHY.
  package var primaryOptions = PHYOptions.none
  /// For the secondary PHY.
  package var secondaryOptions = PHYOptions.none

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&parameters, &primaryOptions, &secondaryOptions)
  }
}

/// A fragment of an extended set's data, with its operation (7.8.54, 7.8.55).
package struct AdvertisingDataFragment: PacketParameters {
  /// A fragment's place in the data.
  package enum Operation: UInt8, PacketField, Hashable, Sendable {
    /// A fragment in the middle.
    case intermediate = 0
    /// The first of several.
    case first = 1
    /// The last of several.
    case last = 2
    /// The whole data.
    case complete = 3
    /// No data: only the data identifier is to change.
    case unchanged = 4

    package init() { self = .complete }
  }

  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0
  /// The piece's place in the data.
  package var operation = Operation.complete
  /// 0 the controller may split the data, 1 it should not.
  package var fragmentPreference: UInt8 = 1
  /// At the most 251 octets.
  package var data: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&advertisingHandle, &operation, &fragmentPreference)
    coder.octets(&data, countedBy: UInt8.self, limit: Self.limit)
  }

  private static let limit = 251

  /// Splits data of any length into fragments for commands.
  package static func fragments(of data: [UInt8], advertisingHandle: UInt8) -> [AdvertisingDataFragment] {
    stride(from: 0, to: max(data.count, 1), by: limit).map { start in
      let end = min(start + limit, data.count)
      return AdvertisingDataFragment {
        $0.advertisingHandle = advertisingHandle
        $0.operation =
          switch (start == 0, end == data.count) {
          case (true, true): .complete
          case (true, false): .first
          case (false, true): .last
          case (false, false): .intermediate
          }
        $0.data = Array(data[start..<end])
      }
    }
  }
}

/// LE Set Extended Advertising Data (Core 5.4, Vol 4, Part E, 7.8.54).
package struct LESetExtendedAdvertisingData: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2037
  package var fragment = AdvertisingDataFragment()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&fragment) }
}

/// LE Set Extended Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.55).
package struct LESetExtendedScanResponseData: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2038
  package var fragment = AdvertisingDataFragment()

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&fragment) }
}

/// LE Set Extended Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.56).
package struct LESetExtendedAdvertisingEnable: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x2039

  /// A set, and when it ends by itself.
  package struct AdvertisingSet: PacketParameters {
    /// The set, 0x00 to 0xEF.
    package var advertisingHandle: UInt8 = 0
    /// In 10 ms; 0 for ever.
    package var duration: UInt16 = 0
    /// 0 without limit.
    package var maximumEvents: UInt8 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&advertisingHandle, &duration, &maximumEvents)
    }
  }

  package var isEnabled = false
  /// At the most 63; disabling with none disables all.
  package var sets: [AdvertisingSet] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    coder.fields(&isEnabled)
    coder.groups(&sets, countedBy: UInt8.self, limit: 63)
  }
}

/// LE Read Maximum Advertising Data Length (Core 5.4, Vol 4, Part E, 7.8.57).
package struct LEReadMaximumAdvertisingDataLength: HCICommand, WithoutParameters {
  package typealias Family = ExtendedFamily
  /// 0x001F to 0x0672 octets.
  package typealias ReturnParameters = ValueReturn<UInt16>
  package static let opcode: Opcode = 0x203A
  package init() {}
}

/// LE Read Number of Supported Advertising Sets (Core 5.4, Vol 4, Part E, 7.8.58).
package struct LEReadNumberOfSupportedAdvertisingSets: HCICommand, WithoutParameters {
  package typealias Family = ExtendedFamily
  /// 1 to 240 sets.
  package typealias ReturnParameters = ValueReturn<UInt8>
  package static let opcode: Opcode = 0x203B
  package init() {}
}

/// LE Remove Advertising Set (Core 5.4, Vol 4, Part E, 7.8.59).
package struct LERemoveAdvertisingSet: HCICommand {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x203C
  /// The set, 0x00 to 0xEF.
  package var advertisingHandle: UInt8 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&advertisingHandle) }
}

/// LE Clear Advertising Sets (Core 5.4, Vol 4, Part E, 7.8.60). Refused while one of them, or a train, is enabled.
package struct LEClearAdvertisingSets: HCICommand, WithoutParameters {
  package typealias Family = ExtendedFamily
  package static let opcode: Opcode = 0x203D
  package init() {}
}
