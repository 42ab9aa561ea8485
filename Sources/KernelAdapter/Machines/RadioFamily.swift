import Adapter
import Bluetooth
import HCI

/// How one family of commands expresses scanning, advertising and initiating. A machine that is generic over it cannot
/// mix the families.
protocol RadioFamily: CommandFamily {
  static func scanParameters(_ parameters: ScanParameters, own: AddressType) -> FamilyCommand<Self>
  static func scanEnable(_ isEnabled: Bool) -> FamilyCommand<Self>

  /// What prepares an advertisement while it is off.
  static func prepareAdvertising(
    handle: UInt8, _ parameters: AdvertisingParameters, own: DeviceAddress
  ) -> [FamilyCommand<Self>]
  static func advertisingEnable(_ isEnabled: Bool, handle: UInt8) -> FamilyCommand<Self>
  /// What gives back the memory of an advertisement that is off.
  static func forgetAdvertising(handle: UInt8) -> [FamilyCommand<Self>]

  /// Connects to whoever is in the accept list. `first` is one of them, for controllers that ignore the list.
  static func createConnection(
    first: HCIAddress, _ parameters: ConnectionParameters, own: AddressType
  ) -> FamilyCommand<Self>
}

/// Half of the time: scanning for others goes on beside it.
private let initiatingInterval: UInt16 = 0x0060
private let initiatingWindow: UInt16 = 0x0030

extension LegacyFamily: RadioFamily {
  static func scanParameters(_ parameters: ScanParameters, own: AddressType) -> FamilyCommand<Self> {
    let interval = TimeUnits.scan(parameters.interval)
    return FamilyCommand(
      LESetScanParameters(
        isActive: parameters.isActive, interval: interval, window: min(interval, TimeUnits.scan(parameters.window)),
        ownAddressType: own))
  }

  static func scanEnable(_ isEnabled: Bool) -> FamilyCommand<Self> {
    FamilyCommand(LESetScanEnable(isEnabled: isEnabled))
  }

  static func prepareAdvertising(
    handle: UInt8, _ parameters: AdvertisingParameters, own: DeviceAddress
  ) -> [FamilyCommand<Self>] {
    let interval = TimeUnits.advertising(parameters.interval)
    let type: LegacyAdvertisingType =
      parameters.isConnectable
      ? .connectableUndirected : parameters.scanResponse.isEmpty ? .nonconnectableUndirected : .scannableUndirected
    return [
      FamilyCommand(
        LESetAdvertisingParameters(
          intervalMin: interval, intervalMax: interval, type: type, ownAddressType: HCIAddress(own).type)),
      FamilyCommand(LESetAdvertisingData(data: parameters.data)),
      FamilyCommand(LESetScanResponseData(data: parameters.scanResponse)),
    ]
  }

  static func advertisingEnable(_ isEnabled: Bool, handle: UInt8) -> FamilyCommand<Self> {
    FamilyCommand(LESetAdvertisingEnable(isEnabled: isEnabled))
  }

  static func forgetAdvertising(handle: UInt8) -> [FamilyCommand<Self>] { [] }

  static func createConnection(
    first: HCIAddress, _ parameters: ConnectionParameters, own: AddressType
  ) -> FamilyCommand<Self> {
    FamilyCommand(
      LECreateConnection(
        scanInterval: initiatingInterval, scanWindow: initiatingWindow, filterPolicy: 1, peer: first,
        ownAddressType: own, intervalMin: TimeUnits.connection(parameters.interval.lowerBound),
        intervalMax: TimeUnits.connection(parameters.interval.upperBound),
        latency: UInt16(clamping: parameters.latency),
        supervisionTimeout: TimeUnits.supervision(parameters.supervisionTimeout)))
  }
}

extension ExtendedFamily: RadioFamily {
  static func scanParameters(_ parameters: ScanParameters, own: AddressType) -> FamilyCommand<Self> {
    let interval = TimeUnits.scan(parameters.interval)
    let scan = LESetExtendedScanParameters.Scan(
      isActive: parameters.isActive, interval: interval, window: min(interval, TimeUnits.scan(parameters.window)))
    return FamilyCommand(LESetExtendedScanParameters(ownAddressType: own, scans: [scan]))
  }

  static func scanEnable(_ isEnabled: Bool) -> FamilyCommand<Self> {
    FamilyCommand(LESetExtendedScanEnable(isEnabled: isEnabled))
  }

  static func prepareAdvertising(
    handle: UInt8, _ parameters: AdvertisingParameters, own: DeviceAddress
  ) -> [FamilyCommand<Self>] {
    var properties: AdvertisingEventProperties = parameters.isConnectable ? .connectable : []
    // Legacy PDUs wherever they suffice: every scanner hears them.
    let isLegacy = parameters.data.count <= 31 && parameters.scanResponse.count <= 31
    if isLegacy { properties.insert(.legacyPDUs) }
    // Connectable legacy PDUs are scannable by definition; connectable extended ones cannot be.
    if isLegacy && parameters.isConnectable || !parameters.scanResponse.isEmpty { properties.insert(.scannable) }
    let interval = UInt32(TimeUnits.advertising(parameters.interval))
    var commands: [FamilyCommand<Self>] = [
      FamilyCommand(
        LESetExtendedAdvertisingParameters(
          advertisingHandle: handle, properties: properties, intervalMin: interval, intervalMax: interval,
          ownAddressType: HCIAddress(own).type, sid: handle & 0x0F))
    ]
    if own.kind == .random {
      commands.append(FamilyCommand(LESetAdvertisingSetRandomAddress(advertisingHandle: handle, address: own.value)))
    }
    // A scannable extended advertisement carries its data in the scan response alone.
    if isLegacy || !properties.contains(.scannable) {
      commands += AdvertisingDataFragment.fragments(of: parameters.data, advertisingHandle: handle).map {
        FamilyCommand(LESetExtendedAdvertisingData(fragment: $0))
      }
    }
    if properties.contains(.scannable) {
      commands += AdvertisingDataFragment.fragments(of: parameters.scanResponse, advertisingHandle: handle).map {
        FamilyCommand(LESetExtendedScanResponseData(fragment: $0))
      }
    }
    return commands
  }

  static func advertisingEnable(_ isEnabled: Bool, handle: UInt8) -> FamilyCommand<Self> {
    FamilyCommand(LESetExtendedAdvertisingEnable(isEnabled: isEnabled, sets: [.init(advertisingHandle: handle)]))
  }

  static func forgetAdvertising(handle: UInt8) -> [FamilyCommand<Self>] {
    [FamilyCommand(LERemoveAdvertisingSet(advertisingHandle: handle))]
  }

  static func createConnection(
    first: HCIAddress, _ parameters: ConnectionParameters, own: AddressType
  ) -> FamilyCommand<Self> {
    FamilyCommand(
      LEExtendedCreateConnection(
        filterPolicy: 1, ownAddressType: own, peer: first,
        initiations: [
          .init(
            scanInterval: initiatingInterval, scanWindow: initiatingWindow,
            intervalMin: TimeUnits.connection(parameters.interval.lowerBound),
            intervalMax: TimeUnits.connection(parameters.interval.upperBound),
            latency: UInt16(clamping: parameters.latency),
            supervisionTimeout: TimeUnits.supervision(parameters.supervisionTimeout))
        ]))
  }
}
