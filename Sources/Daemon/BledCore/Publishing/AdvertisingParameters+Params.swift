import Adapter
import BledRPC
import Bluetooth

extension AdvertisingStart.Params {
  /// The shortest interval for a program in the background, in seconds.
  private static let backgroundInterval = 1.0
  /// Maximum octets of an advertisement (Core 5.4, Vol 4, Part E, 7.8.57).
  private static let longest = 1650
  /// Maximum time for counted advertising events, in seconds.
  private static let longestCount = 30.0

  /// The parameters for the adapter, and the name if it had to be shortened. In the background there is no name, and no
  /// hurry.
  /// - Parameters:
  ///   - target: the device meant by `directedTo`.
  ///   - information: the sending adapter.
  /// - Throws: `BledError.invalidParameter` for mutually exclusive members; `GAPError.advertisingDataTooLong`.
  func parameters(
    inBackground: Bool, to target: CalledDevice?, on information: AdapterInformation
  ) throws -> (AdvertisingParameters, shortenedName: String?) {
    var params = self
    var interval = interval ?? 0.1
    if inBackground {
      params.name = nil
      interval = max(interval, Self.backgroundInterval)
    }
    var parameters = AdvertisingParameters(
      kind: try kind(to: target?.address), interval: .seconds(interval), data: [])
    parameters.callsPrivately = target?.isPrivate ?? false
    try params.apply(to: &parameters)
    parameters.periodic = try params.train(for: parameters, inBackground: inBackground)
    let shortenedName = try params.pack(into: &parameters, information)
    return (parameters, shortenedName)
  }

  private var isExtended: Bool { extended == true }

  /// The kind, by the devices permitted to answer.
  private func kind(to target: DeviceAddress?) throws(BluetoothError) -> AdvertisingParameters.Kind {
    if let target {
      try require(connectable != false, "\"directedTo\" makes an advertisement connectable: leave out \"connectable\"")
      try require(scannable != true, "an advertisement with \"directedTo\" is not scannable")
      try require(anonymous != true, "an advertisement with \"directedTo\" is not anonymous")
      try require(highDuty != true || !isExtended, "\"highDuty\" goes without \"extended\" only")
      return .directed(target, isHighDuty: highDuty == true)
    }
    try require(highDuty != true, "\"highDuty\" goes with \"directedTo\" only")
    if anonymous == true {
      try require(connectable != true && scannable != true, "an anonymous advertisement can only be heard")
      return .nonconnectable
    }
    if isExtended {
      try require(
        connectable != true || scannable != true,
        "an extended advertisement is connectable or scannable: leave one of them out, or \"extended\"")
      return scannable == true ? .scannable : connectable == false ? .nonconnectable : .connectable
    }
    guard connectable == false else {
      try require(scannable != false, "a connectable advertisement without \"extended\" is scannable, too")
      return .connectable
    }
    return scannable == true ? .scannable : .nonconnectable
  }

  /// Everything but the content.
  private func apply(to parameters: inout AdvertisingParameters) throws {
    parameters.isExtended = isExtended
    parameters.isAnonymous = anonymous == true
    parameters.includesTxPower = includeTxPower == true
    let extendedOnly = [
      ("anonymous", anonymous == true), ("includeTxPower", includeTxPower == true),
      ("secondaryPHY", secondaryPHY != nil),
    ]
    for (member, isGiven) in extendedOnly {
      try require(!isGiven || isExtended, "\"\(member)\" goes with \"extended\":true only")
    }
    if let txPower {
      try require((-127...20).contains(txPower), "\"txPower\" must be -127 to 20 dBm")
      parameters.txPower = txPower
    }
    if let channels {
      let known = channels.compactMap(AdvertisingChannels.init(number:))
      try require(
        !known.isEmpty && known.count == channels.count, "\"channels\" must list some of 37, 38 and 39")
      parameters.channels = AdvertisingChannels(known)
    }
    if let ownAddress {
      let address = DeviceAddress(ownAddress, kind: .random)
      guard let address, address.isStaticRandom, address.hasBothBits else {
        throw BledError.invalidParameter.error(
          "\"ownAddress\" must be a static random address: its two top bits are set, as in C0:12:34:56:78:9A")
      }
      parameters.ownAddress = address
    }
    if let count {
      guard let events = UInt8(exactly: count), events > 0 else {
        throw BledError.invalidParameter.error("\"count\" must be 1 to 255")
      }
      // A counted advertisement is not interrupted, as the controller would restart its count: others wait as long.
      try require(
        (self.interval ?? 0.1) * Double(events) <= Self.longestCount,
        "\"count\" times \"interval\" may be 30 s at most: give a \"duration\" instead")
      parameters.maximumEvents = events
    }
    let primary = LinkPHY(choice: primaryPHY?.choice ?? .le1M)
    (parameters.primaryPHY, parameters.primaryCoding) = (primary.phy, primary.coding)
    try require(
      parameters.primaryPHY == .le1M || isExtended, "\"primaryPHY\" other than \"1M\" goes with \"extended\":true only")
    let secondary = secondaryPHY.map { LinkPHY(choice: $0) } ?? primary
    (parameters.secondaryPHY, parameters.secondaryCoding) = (secondary.phy, secondary.coding)
  }

  /// The train of periodic advertisements, if there is one.
  private func train(
    for parameters: AdvertisingParameters, inBackground: Bool
  ) throws -> PeriodicAdvertising? {
    guard let periodic else { return nil }
    try require(isExtended, "\"periodic\" goes with \"extended\":true only")
    try require(
      parameters.kind == .nonconnectable,
      "an advertisement with \"periodic\" can only be heard: \"connectable\":false, and neither \"scannable\" nor \"directedTo\""
    )
    try require(!parameters.isAnonymous, "an advertisement with \"periodic\" is not anonymous")
    let interval = periodic.interval ?? 0.1
    try require(
      PeriodicAdvertising.intervals.contains(interval),
      "the \"interval\" of \"periodic\" must be 0.0075 to 81.91875 seconds")
    let isPaced = inBackground && periodic.responses == nil
    var content = AdvertisingStart.Params(
      services: periodic.services, serviceData: periodic.serviceData, manufacturerData: periodic.manufacturerData)
    content.structures = periodic.structures
    var packed = try AdvertisingContent(content)
    // Flags are for connectable advertisements (CSS, Part A, 1.3).
    packed.flags = nil
    do throws(BluetoothError) {
      var train = PeriodicAdvertising(
        interval: .seconds(isPaced ? max(interval, Self.backgroundInterval) : interval),
        data: try packed.packed(capacity: Self.longest, scanResponseCapacity: 0).data,
        includesTxPower: periodic.includeTxPower == true)
      if let responses = periodic.responses { train.responses = try ResponseSlots(responses, within: train) }
      return train
    } catch {
      guard error.domain == .gap else { throw error }
      throw GAPError.advertisingDataTooLong.error("\"periodic\": \(error.message)")
    }
  }

  /// Fits the content into the PDUs.
  /// - Returns: the name, if it had to be shortened.
  private func pack(
    into parameters: inout AdvertisingParameters, _ information: AdapterInformation
  ) throws -> String? {
    var content = try AdvertisingContent(self)
    if parameters.target != nil, !isExtended {
      content.flags = nil
      try require(content == AdvertisingContent(flags: nil), "with \"directedTo\" there is data with \"extended\" only")
      return nil
    }
    // An advertisement without an address is not discoverable, and flags are not allowed in a scan response (CSS, Part
    // A, 1.3).
    if parameters.isAnonymous || isExtended && parameters.kind == .scannable { content.flags = nil }
    let hasExtended = information.hasExtendedAdvertising
    let capabilities = AdvertisingCapabilities(
      isExtended: true, dataLength: hasExtended ? information.maximumAdvertisingDataLength : Self.longest,
      phys: information.phys, address: information.address)
    let room = capabilities.extendedLength(of: parameters.kind, includesTxPower: parameters.includesTxPower)
    do {
      return try lay(content, into: &parameters, room: room)
    } catch {
      let hint =
        isExtended
        ? ": this adapter sends at most \(room) in such an advertisement"
        : hasExtended ? ": with \"extended\":true it may have \(room) in one" : ""
      throw GAPError.advertisingDataTooLong.error(error.message + hint)
    }
  }

  private func lay(
    _ content: AdvertisingContent, into parameters: inout AdvertisingParameters, room: Int
  ) throws(BluetoothError) -> String? {
    if isExtended {
      let packed = try content.packed(capacity: room, scanResponseCapacity: 0)
      if parameters.kind == .scannable { parameters.scanResponse = packed.data } else { parameters.data = packed.data }
      return packed.shortenedName
    }
    let isScannable = parameters.kind == .connectable || scannable != false
    let packed = try content.packed(scanResponseCapacity: isScannable ? AdvertisingCapabilities.legacyLength : 0)
    parameters.data = packed.data
    parameters.scanResponse = packed.scanResponse
    if parameters.kind == .nonconnectable, !packed.scanResponse.isEmpty { parameters.kind = .scannable }
    return packed.shortenedName
  }

  private func require(_ condition: Bool, _ rule: String) throws(BluetoothError) {
    guard condition else { throw BledError.invalidParameter.error(rule) }
  }
}

extension DeviceAddress {
  /// True if a static address's random part has both a 0 and a 1, as required (Core 5.4, Vol 6, Part B, 1.3.2.1).
  fileprivate var hasBothBits: Bool {
    let mask: UInt64 = 0x3FFF_FFFF_FFFF
    return value & mask != 0 && value & mask != mask
  }
}
