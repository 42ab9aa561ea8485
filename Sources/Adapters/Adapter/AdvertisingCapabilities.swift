import Bluetooth

/// The sets supported by a controller. Both adapters refuse impossible advertisements by it, with the same words.
public struct AdvertisingCapabilities: Hashable, Sendable {
  /// True with the extended advertising commands.
  public var isExtended: Bool
  /// Maximum octets of an advertisement (LE Read Maximum Advertising Data Length, Core 5.4, Vol 4, Part E, 7.8.57): 31
  /// without the extended commands.
  public var dataLength: Int
  /// The supported PHYs.
  public var phys: Set<PHY>
  /// Its own address.
  public var address: DeviceAddress
  /// True with periodic advertising.
  public var hasPeriodic: Bool
  /// True if devices can respond to its trains.
  public var hasResponses = false
  /// True if the coding on LE Coded can be chosen.
  public var selectsCoding: Bool
  /// True if the kernel uses the controller, too: it assumes one random address for all links.
  public var isShared = true

  /// Describes a controller.
  public init(
    isExtended: Bool, dataLength: Int, phys: Set<PHY>, address: DeviceAddress, hasPeriodic: Bool = false,
    selectsCoding: Bool = false
  ) {
    self.hasPeriodic = hasPeriodic
    self.selectsCoding = selectsCoding
    self.isExtended = isExtended
    self.dataLength = isExtended ? dataLength : Self.legacyLength
    self.phys = phys
    self.address = address
  }

  /// Data octets in a legacy PDU (Core 5.4, Vol 6, Part B, 2.3.1).
  public static let legacyLength = 31

  /// Maximum octets of an extended advertisement by kind. A connectable advertisement is one PDU, AUX_ADV_IND, without
  /// a chain: 255 octets less its header with our address and ADI, and TargetA if it is directed (Core 5.4, Vol 6, Part
  /// B, 2.3.4).
  public func extendedLength(of kind: AdvertisingParameters.Kind, includesTxPower: Bool) -> Int {
    let power = includesTxPower ? 1 : 0
    return switch kind {
    case .connectable: min(dataLength, 245 - power)
    case .directed: min(dataLength, 239 - power)
    case .scannable, .nonconnectable: dataLength
    }
  }

  /// The reason why an advertisement can never be sent; nil if it can.
  public func problem(with parameters: AdvertisingParameters) -> BluetoothError? {
    if !isExtended, let needed = parameters.needsExtendedCommands(at: address) {
      return GAPError.notSupported.error(
        """
        \(needed) needs a controller with extended advertising (Bluetooth 5.0); this adapter has legacy advertising \
        only
        """)
    }
    if parameters.periodic != nil, !hasPeriodic {
      return GAPError.notSupported.error(
        "this adapter does not have periodic advertising, which controllers of Bluetooth 5.0 can have")
    }
    if parameters.periodic?.responses != nil, !hasResponses {
      return GAPError.notSupported.error(
        "this adapter does not have periodic advertising with responses, which controllers of Bluetooth 5.4 can have")
    }
    for phy in [parameters.primaryPHY, parameters.secondaryPHY] where !phys.contains(phy) {
      return GAPError.notSupported.error("this adapter does not have the PHY \(phy.word)")
    }
    if parameters.choosesCoding, !selectsCoding {
      return GAPError.notSupported.error(
        """
        this adapter chooses the coding of advertisements by itself: selecting it takes a controller of Bluetooth 5.4; \
        ask for the PHY coded
        """)
    }
    if isShared, let own = parameters.ownAddress, own != address, address.kind == .random {
      return GAPError.notSupported.error(
        "this adapter has no public address: the kernel would take \(own) for that of its links, too")
    }
    return lengthProblem(with: parameters)
  }

  private func lengthProblem(with parameters: AdvertisingParameters) -> BluetoothError? {
    if let periodic = parameters.periodic, periodic.data.count > dataLength {
      return GAPError.advertisingDataTooLong.error(
        "the periodic advertisement has \(periodic.data.count) octets; this adapter sends at most \(dataLength)")
    }
    let longest = max(parameters.data.count, parameters.scanResponse.count)
    let limit =
      parameters.isExtended
      ? extendedLength(of: parameters.kind, includesTxPower: parameters.includesTxPower) : Self.legacyLength
    guard longest > limit else { return nil }
    let advice =
      parameters.isExtended
      ? parameters.isConnectable && dataLength > limit
        ? "; one that is not connectable, \(dataLength)" : ""
      : isExtended ? " with legacy PDUs; with extended ones, \(dataLength)" : ""
    return GAPError.advertisingDataTooLong.error(
      "the advertisement has \(longest) octets; this adapter sends at most \(limit)\(advice)")
  }
}

extension AdvertisingParameters {
  /// The part of the parameters beyond legacy commands, in words.
  fileprivate func needsExtendedCommands(at address: DeviceAddress) -> String? {
    if isExtended { return "an advertisement with extended PDUs" }
    if txPower != nil { return "a transmit power of one's choice" }
    if ownAddress != nil, ownAddress != address { return "an address of its own" }
    if maximumEvents != nil { return "a number of events" }
    return nil
  }
}
