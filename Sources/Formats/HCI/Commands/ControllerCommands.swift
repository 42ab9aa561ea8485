/// Set Event Mask (Core 5.4, Vol 4, Part E, 7.3.1).
package struct SetEventMask: HCICommand {
  package static let opcode: Opcode = 0x0C01
  /// One bit per event.
  package var mask: UInt64 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&mask) }
}

/// Read Local Version Information (Core 5.4, Vol 4, Part E, 7.4.1).
package struct ReadLocalVersionInformation: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x1001
  package init() {}

  /// The versions of the specification that a controller follows.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// The version of HCI; 11 is 5.2.
    package var hciVersion: UInt8 = 0
    /// The revision of HCI.
    package var hciSubversion: UInt16 = 0
    /// The link layer's version.
    package var lmpVersion: UInt8 = 0
    /// The controller's maker.
    package var companyIdentifier: UInt16 = 0
    /// The link layer's revision.
    package var lmpSubversion: UInt16 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&status, &hciVersion, &hciSubversion, &lmpVersion, &companyIdentifier, &lmpSubversion)
    }
  }
}

/// Read Local Supported Commands (Core 5.4, Vol 4, Part E, 7.4.2).
package struct ReadLocalSupportedCommands: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x1002
  package init() {}

  /// The commands that a controller has.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// 64 octets, one bit a command (6.27).
    package var commands: [UInt8] = []

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&status)
      coder.octets(&commands, count: 64)
    }
  }
}

/// Read Buffer Size (Core 5.4, Vol 4, Part E, 7.4.5).
package struct ReadBufferSize: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x1005
  package init() {}

  /// A controller's buffers.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// Octets in one ACL packet.
    package var aclDataPacketLength: UInt16 = 0
    /// Octets in one synchronous packet.
    package var synchronousDataPacketLength: UInt8 = 0
    /// The number of ACL packets.
    package var aclDataPackets: UInt16 = 0
    /// The number of synchronous packets.
    package var synchronousDataPackets: UInt16 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(
        &status, &aclDataPacketLength, &synchronousDataPacketLength, &aclDataPackets, &synchronousDataPackets)
    }
  }
}

/// Read BD_ADDR (Core 5.4, Vol 4, Part E, 7.4.6).
package struct ReadBDADDR: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x1009
  package init() {}

  /// A controller's public address.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// 48 bits; zero if it has none.
    package var address: UInt64 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&status)
      coder.number(&address, octets: 6)
    }
  }
}

/// LE Set Event Mask (Core 5.4, Vol 4, Part E, 7.8.1).
package struct LESetEventMask: HCICommand {
  package static let opcode: Opcode = 0x2001
  /// One bit per subevent.
  package var mask: UInt64 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&mask) }
}

/// LE Read Buffer Size (Core 5.4, Vol 4, Part E, 7.8.2).
package struct LEReadBufferSize: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x2002
  package init() {}

  /// A controller's buffers for LE.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// Octets in one packet; 0 if LE shares the other buffers.
    package var aclDataPacketLength: UInt16 = 0
    /// The number of packets.
    package var aclDataPackets: UInt8 = 0

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&status, &aclDataPacketLength, &aclDataPackets)
    }
  }
}

/// LE Read Local Supported Features (Core 5.4, Vol 4, Part E, 7.8.3).
package struct LEReadLocalSupportedFeatures: HCICommand, WithoutParameters {
  package typealias ReturnParameters = ValueReturn<LEFeatures>
  package static let opcode: Opcode = 0x2003
  package init() {}
}

/// An LE controller's features (Core 5.4, Vol 6, Part B, 4.6).
package struct LEFeatures: OptionSet, PacketField, Hashable, Sendable {
  /// One bit per feature.
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Peripheral-initiated Features Exchange.
  package static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
  /// LE Data Packet Length Extension.
  package static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
  /// LL Privacy: the controller can resolve private addresses.
  package static let llPrivacy = LEFeatures(rawValue: 1 << 6)
  /// LE 2M PHY.
  package static let phy2M = LEFeatures(rawValue: 1 << 8)
  /// LE Coded PHY.
  package static let codedPHY = LEFeatures(rawValue: 1 << 11)
  /// LE Extended Advertising: the controller has the extended family.
  package static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
  /// LE Periodic Advertising.
  package static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)
  /// Periodic Advertising Sync Transfer – Sender.
  package static let periodicTransferSender = LEFeatures(rawValue: 1 << 24)
  /// Periodic Advertising Sync Transfer – Recipient.
  package static let periodicTransferRecipient = LEFeatures(rawValue: 1 << 25)
  /// Connection Subrating.
  package static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
  /// Connection Subrating (Host Support).
  package static let connectionSubratingHostSupport = LEFeatures(rawValue: 1 << 38)
  /// Advertising Coding Selection.
  package static let advertisingCodingSelection = LEFeatures(rawValue: 1 << 40)
  /// Periodic Advertising with Responses – Advertiser.
  package static let periodicResponsesAdvertiser = LEFeatures(rawValue: 1 << 43)
  /// Periodic Advertising with Responses – Scanner.
  package static let periodicResponsesScanner = LEFeatures(rawValue: 1 << 44)
  /// LL Extended Feature Set: there are `LEMoreFeatures`.
  package static let extendedFeatureSet = LEFeatures(rawValue: 1 << 63)
}

/// LE Read Maximum Data Length (Core 5.4, Vol 4, Part E, 7.8.46).
package struct LEReadMaximumDataLength: HCICommand, WithoutParameters {
  package static let opcode: Opcode = 0x202F
  package init() {}

  /// A controller's longest packets on links.
  package struct ReturnParameters: HCIReturnParameters {
    package var status = HCIStatus.success
    /// The longest sent payload, 27 to 251 octets.
    package var txOctets: UInt16 = 27
    /// Its maximum duration, in µs.
    package var txTime: UInt16 = 328
    /// The longest received payload, 27 to 251 octets.
    package var rxOctets: UInt16 = 27
    /// Its maximum duration, in µs.
    package var rxTime: UInt16 = 328

    package init() {}
    package mutating func code(with coder: inout OctetCoder) {
      coder.fields(&status, &txOctets, &txTime, &rxOctets, &rxTime)
    }
  }
}

/// LE Set Random Address (Core 5.4, Vol 4, Part E, 7.8.4).
package struct LESetRandomAddress: HCICommand {
  package static let opcode: Opcode = 0x2005
  /// The random address, 48 bits.
  package var address: UInt64 = 0

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.number(&address, octets: 6) }
}

/// LE Read Supported States (Core 5.4, Vol 4, Part E, 7.8.27).
package struct LEReadSupportedStates: HCICommand, WithoutParameters {
  package typealias ReturnParameters = ValueReturn<LEStates>
  package static let opcode: Opcode = 0x201C
  package init() {}
}
