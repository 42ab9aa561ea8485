import Adapter
import Bluetooth
import HCI

/// A controller's description of itself, and the known faults in it.
package struct ControllerProfile: Hashable {
  package var features = LEFeatures()
  /// The features beyond the first 64.
  package var moreFeatures = LEMoreFeatures()
  /// The shortest interval of links between controllers with shorter connection intervals; nil: it has 7.5 ms, as all.
  package var shortestInterval: Duration?
  /// The compatible activities; nil if not reported.
  package var states: LEStates?
  /// The supported commands, one bit each (Core 5.4, Vol 4, Part E, 6.27); nil if not reported.
  package var commands: [UInt8]?
  /// The make of the controller, as far as reported.
  package var model = QuirkTable.Model()
  /// The quirks that it has, by the table.
  package var quirks: Set<Quirk> = []
  /// The features that do not work although the controller claims them.
  package var faults: ControllerFaults = []
  /// The commands of the set-up that change its settings, for a controller that forgets them.
  package var settings: [CommandPacket] = []
  /// True if neither another program nor the kernel uses it: then all its links are ours.
  package var isExclusive = false
  /// Capacity of the filter accept list.
  package var acceptListSize = 1
  /// Capacity of the resolving list; 0 if the controller cannot resolve private addresses, or not with both kinds of
  /// device addresses.
  package var resolvingListSize = 0
  /// Maximum devices the controller can watch for; 0 without that feature.
  package var monitoredListSize = 0
  /// Maximum simultaneous advertisements.
  package var advertisingSets = 1
  /// Maximum octets of an advertisement.
  package var advertisingDataLength = 31
  /// Maximum octets in a sent packet on a link, 27 to 251.
  package var maximumDataLength = 27
  /// Its identity address.
  package let address: DeviceAddress
  /// Its address on the air: its own, or a private one.
  package var addressOnAir: DeviceAddress

  package init(address: DeviceAddress) {
    self.address = address
    addressOnAir = address
  }

  /// Adopts the quirks of its model.
  package mutating func adopt(_ table: QuirkTable) {
    quirks = table.quirks(of: model)
    faults = ControllerFaults(quirks)
  }

  /// The same controller with another address on the air.
  package func seen(under address: DeviceAddress) -> Self {
    var profile = self
    profile.addressOnAir = address
    return profile
  }

  /// The type of our address in commands.
  package var ownAddressType: AddressType { addressOnAir.kind == .public ? .public : .random }

  /// Its features, except link features without their commands: LE Read PHY, LE Set PHY, LE Set Data Length and the
  /// subrating commands (Core 5.4, Vol 4, Part E, 6.27).
  package var usableFeatures: LEFeatures {
    var usable = features
    if !has(octet: 35, bits: 0x50) { usable.subtract([.phy2M, .codedPHY]) }
    if !has(octet: 33, bits: 0x40) { usable.remove(.dataPacketLengthExtension) }
    if !canSubrate { usable.subtract(.subrating) }
    if !has(octet: 40, bits: 0xC0) { usable.remove(.periodicTransferSender) }
    if !canReceiveTrains { usable.remove(.periodicTransferRecipient) }
    return usable
  }

  /// True with subrating: the feature, LE Set Host Feature, LE Set Default Subrate and LE Subrate Request.
  package var canSubrate: Bool {
    features.contains(.connectionSubrating) && has(octet: 44, bits: 0x02) && has(octet: 46, bits: 0x03)
  }

  /// True if it resolves private addresses: the feature, the commands for the list, LE Set Address Resolution Enable
  /// and LE Set Privacy Mode.
  package var canResolve: Bool {
    commands != nil && features.contains(.llPrivacy) && has(octet: 34, bits: 0x58) && has(octet: 35, bits: 0x02)
      && has(octet: 39, bits: 0x04)
  }

  /// True if it may support shorter connection intervals: features beyond the first 64, and the commands to read them
  /// and to use short intervals.
  package var mayShorten: Bool {
    commands != nil && features.contains(.extendedFeatureSet) && has(octet: 47, bits: 0x0C)
      && has(octet: 48, bits: 0xE0) && (has(octet: 47, bits: 0x10) || has(octet: 44, bits: 0x02))
  }

  /// True if it may monitor advertisers: features beyond the first 64, the command to read them, and those for the
  /// list; LE Enable Monitoring Advertisers has no bit.
  package var mayMonitor: Bool {
    commands != nil && features.contains(.extendedFeatureSet) && has(octet: 47, bits: 0xA4)
      && has(octet: 48, bits: 0x01)
  }

  /// True if it monitors advertisers: the feature, and the commands of `mayMonitor`.
  package var canMonitor: Bool { mayMonitor && moreFeatures.contains(.monitoringAdvertisers) }

  /// True if it supports shorter connection intervals: the feature, and the commands of `mayShorten`.
  package var canShorten: Bool { mayShorten && moreFeatures.contains(.shorterConnectionIntervals) }

  /// The PHYs usable on links.
  package var phys: Set<PHY> {
    var phys: Set<PHY> = [.le1M]
    if usableFeatures.contains(.phy2M) { phys.insert(.le2M) }
    if usableFeatures.contains(.codedPHY) { phys.insert(.leCoded) }
    return phys
  }

  /// The longest packet on links, in octets.
  package var longestPacket: Int { usableFeatures.contains(.dataPacketLengthExtension) ? maximumDataLength : 27 }

  // MARK: - Families

  // The kernel chooses a family for each procedure, and unmasks events accordingly: the choice here is equal. On the
  // own host a fault in one extended command applies to all (`ControllerFaults.extendedCommands`).

  /// True if advertising uses the extended commands.
  package var advertisesExtended: Bool {
    features.contains(.extendedAdvertising) && !faults.contains(.extendedAdvertising)
  }
  /// True with periodic advertising: the feature and the three commands.
  package var hasPeriodicAdvertising: Bool {
    advertisesExtended && features.contains(.periodicAdvertising) && has(octet: 37, bits: 0x1C)
  }
  /// True if devices can respond to its trains: the feature, LE Set Periodic Advertising Subevent Data and LE Set
  /// Periodic Advertising Parameters [v2].
  package var hasPeriodicResponses: Bool {
    hasPeriodicAdvertising && features.contains(.periodicResponsesAdvertiser) && has(octet: 46, bits: 0x20)
      && has(octet: 47, bits: 0x02)
  }
  /// True if the advertisements' coding can be chosen: the feature and the command's second version.
  package var selectsAdvertisingCoding: Bool {
    advertisesExtended && features.contains(.advertisingCodingSelection) && has(octet: 46, bits: 0x04)
  }
  /// True if it can follow periodic advertising: the feature and the three commands.
  package var canSynchronise: Bool {
    scansExtended && features.contains(.periodicAdvertising) && has(octet: 38, bits: 0x07)
  }
  /// True if it can follow trains with subevents and respond to them: the feature, LE Set Periodic Advertising Response
  /// Data and LE Set Periodic Sync Subevent.
  package var canRespond: Bool {
    features.contains(.periodicResponsesScanner) && has(octet: 46, bits: 0xC0) && (canSynchronise || canReceiveTrains)
  }
  /// True if it can follow a train transferred by a link's device: the feature, LE Set Periodic Advertising Sync
  /// Transfer Parameters and LE Periodic Advertising Terminate Sync.
  package var canReceiveTrains: Bool {
    features.contains(.periodicTransferRecipient) && has(octet: 41, bits: 0x01) && has(octet: 38, bits: 0x04)
      && !faults.contains(.extendedAdvertising)
  }
  /// True if scanning uses the extended commands.
  package var scansExtended: Bool { has(octet: 37, bits: 0x60) && !faults.contains(.extendedScan) }
  /// True if connecting uses the extended command.
  package var initiatesExtended: Bool { has(octet: 37, bits: 0x80) && !faults.contains(.extendedCreateConnection) }

  /// A controller that does not report its commands is assumed to have those for its features.
  package func has(octet: Int, bits: UInt8) -> Bool {
    guard let commands else { return features.contains(.extendedAdvertising) }
    return commands.indices.contains(octet) && commands[octet] & bits == bits
  }
}

extension LEFeatures {
  /// The features both controllers need for subrating, with their hosts' consent.
  package static let subrating: LEFeatures = [.connectionSubrating, .connectionSubratingHostSupport]
}
