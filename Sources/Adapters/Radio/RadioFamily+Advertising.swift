import Adapter
import Bluetooth
import HCI

extension LegacyFamily {
  static func prepareAdvertising(
    handle: UInt8, _ parameters: AdvertisingParameters, own: DeviceAddress
  ) -> [FamilyCommand<Self>] {
    let interval = TimeUnits.advertising(parameters.interval)
    let prepared = FamilyCommand<Self>(
      LESetAdvertisingParameters {
        $0.intervalMin = interval
        $0.intervalMax = interval
        $0.type = type(of: parameters.kind)
        $0.ownAddressType = parameters.ownAddressType(own)
        if let target = parameters.target { $0.peer = HCIAddress(target) }
        $0.channelMap = parameters.channels.rawValue
      })
    return [prepared] + advertisingData(handle: handle, parameters, after: nil)
  }

  static func advertisingData(
    handle: UInt8, _ parameters: AdvertisingParameters, after former: AdvertisingParameters?
  ) -> [FamilyCommand<Self>] {
    // ADV_DIRECT_IND has no data.
    guard parameters.target == nil else { return [] }
    var commands: [FamilyCommand<Self>] = []
    if former?.data != parameters.data {
      commands.append(FamilyCommand(LESetAdvertisingData { $0.data = parameters.data }))
    }
    if former?.scanResponse != parameters.scanResponse {
      commands.append(FamilyCommand(LESetScanResponseData { $0.data = parameters.scanResponse }))
    }
    return commands
  }

  private static func type(of kind: AdvertisingParameters.Kind) -> LESetAdvertisingParameters.AdvertisingType {
    switch kind {
    case .connectable: .connectableUndirected
    case .scannable: .scannableUndirected
    case .nonconnectable: .nonconnectableUndirected
    case .directed(_, isHighDuty: true): .directedHighDutyCycle
    case .directed(_, isHighDuty: false): .directedLowDutyCycle
    }
  }

  static func advertisingBegin(
    handle: UInt8, _ parameters: AdvertisingParameters, events: UInt8
  ) -> FamilyCommand<Self> {
    FamilyCommand(LESetAdvertisingEnable { $0.isEnabled = true })
  }

  static func advertisingEnd(handle: UInt8) -> FamilyCommand<Self> { advertisingDisable }

  static var advertisingDisable: FamilyCommand<Self> { FamilyCommand(LESetAdvertisingEnable { $0.isEnabled = false }) }

  static func forgetAdvertising(handle: UInt8) -> [FamilyCommand<Self>] { [] }
}

extension ExtendedFamily {
  static func prepareAdvertising(
    handle: UInt8, _ parameters: AdvertisingParameters, own: DeviceAddress
  ) -> [FamilyCommand<Self>] {
    let interval = UInt32(TimeUnits.advertising(parameters.interval))
    let own = parameters.ownAddress ?? own
    let prepared = LESetExtendedAdvertisingParameters {
      $0.advertisingHandle = handle
      $0.properties = properties(of: parameters)
      $0.intervalMin = interval
      $0.intervalMax = interval
      $0.channelMap = parameters.channels.rawValue
      $0.ownAddressType = parameters.ownAddressType(own)
      if let target = parameters.target { $0.peer = HCIAddress(target) }
      if let power = parameters.txPower { $0.txPower = Int8(clamping: power) }
      $0.primaryPHY = parameters.primaryPHY.rawValue
      $0.secondaryPHY = parameters.secondaryPHY.rawValue
      $0.sid = handle & 0x0F
    }
    var commands = [FamilyCommand<Self>(prepared)]
    // The kernel learns the kind of our address from the first version, and does not know the second.
    if parameters.choosesCoding {
      commands.append(
        FamilyCommand(
          LESetExtendedAdvertisingParametersV2 {
            $0.parameters = prepared
            $0.primaryOptions = options(parameters.primaryCoding)
            $0.secondaryOptions = options(parameters.secondaryCoding)
          }))
    }
    if own.kind == .random {
      commands.append(
        FamilyCommand(
          LESetAdvertisingSetRandomAddress {
            $0.advertisingHandle = handle
            $0.address = own.value
          }))
    }
    return commands + advertisingData(handle: handle, parameters, after: nil)
  }

  static func advertisingData(
    handle: UInt8, _ parameters: AdvertisingParameters, after former: AdvertisingParameters?
  ) -> [FamilyCommand<Self>] {
    var commands: [FamilyCommand<Self>] = []
    let format = AdvertisingFormat(parameters)
    if format.hasData, former?.data != parameters.data {
      for fragment in AdvertisingDataFragment.fragments(of: parameters.data, advertisingHandle: handle) {
        commands.append(FamilyCommand(LESetExtendedAdvertisingData { $0.fragment = fragment }))
      }
    }
    if format.hasScanResponse, former?.scanResponse != parameters.scanResponse {
      for fragment in AdvertisingDataFragment.fragments(of: parameters.scanResponse, advertisingHandle: handle) {
        commands.append(FamilyCommand(LESetExtendedScanResponseData { $0.fragment = fragment }))
      }
    }
    return commands
  }

  private static func options(_ coding: LinkPHY.Coding?) -> LESetExtendedAdvertisingParametersV2.PHYOptions {
    switch coding {
    case .s2: .requiresS2
    case .s8: .requiresS8
    case nil: .none
    }
  }

  private static func properties(
    of parameters: AdvertisingParameters
  ) -> LESetExtendedAdvertisingParameters.Properties {
    var properties: LESetExtendedAdvertisingParameters.Properties = parameters.isExtended ? [] : .legacyPDUs
    if parameters.isConnectable { properties.insert(.connectable) }
    if parameters.isScannable { properties.insert(.scannable) }
    if parameters.target != nil { properties.insert(.directed) }
    if parameters.isHighDuty { properties.insert(.highDutyCycle) }
    if parameters.isAnonymous { properties.insert(.anonymous) }
    if parameters.includesTxPower { properties.insert(.includesTxPower) }
    return properties
  }

  static func advertisingBegin(
    handle: UInt8, _ parameters: AdvertisingParameters, events: UInt8
  ) -> FamilyCommand<Self> {
    FamilyCommand(
      LESetExtendedAdvertisingEnable {
        $0.isEnabled = true
        $0.sets = [
          .init {
            $0.advertisingHandle = handle
            // The high duty cycle must have a duration (Core 5.4, Vol 4, Part E, 7.8.56).
            if parameters.isHighDuty { $0.duration = 128 }
            $0.maximumEvents = events
          }
        ]
      })
  }

  static func advertisingEnd(handle: UInt8) -> FamilyCommand<Self> {
    FamilyCommand(
      LESetExtendedAdvertisingEnable {
        $0.isEnabled = false
        $0.sets = [.init { $0.advertisingHandle = handle }]
      })
  }

  static var advertisingDisable: FamilyCommand<Self> {
    FamilyCommand(LESetExtendedAdvertisingEnable { $0.isEnabled = false })
  }

  static func forgetAdvertising(handle: UInt8) -> [FamilyCommand<Self>] {
    [FamilyCommand(LERemoveAdvertisingSet { $0.advertisingHandle = handle })]
  }
}

extension AdvertisingParameters {
  /// Our address type in commands. With an identity type the controller fills in private addresses: the target's, and
  /// ours if its list has a key for that; else it uses `own` (Core 5.4, Vol 4, Part E, 7.8.53).
  fileprivate func ownAddressType(_ own: DeviceAddress) -> AddressType {
    switch own.kind {
    case .public: resolvesTarget ? .publicIdentity : .public
    case .random: resolvesTarget ? .randomIdentity : .random
    }
  }
}
