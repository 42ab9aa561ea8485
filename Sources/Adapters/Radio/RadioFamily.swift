import Adapter
import Bluetooth
import HCI

/// A command family's way of scanning, advertising and initiating. A machine generic over it cannot mix the families.
protocol RadioFamily: CommandFamily {
  /// True if another family can replace this one on a controller that claims its commands but fails them.
  static var isReplaceable: Bool { get }
  /// The PHYs for scanning and initiating with these commands.
  static func primaryPHYs(of profile: ControllerProfile) -> Set<PHY>
  /// True if LE Advertising Set Terminated reports an advertisement's end; otherwise Connection Complete does.
  static var reportsEndOfAdvertising: Bool { get }

  static func scanParameters(_ parameters: ScanParameters, own: AddressType) -> FamilyCommand<Self>
  /// - Parameter filtersDuplicates: true to report each advertiser once.
  static func scanEnable(_ isEnabled: Bool, filtersDuplicates: Bool) -> FamilyCommand<Self>

  /// The commands to prepare an advertisement while it is off.
  static func prepareAdvertising(
    handle: UInt8, _ parameters: AdvertisingParameters, own: DeviceAddress
  ) -> [FamilyCommand<Self>]
  /// The commands to set an advertisement's data and scan response, as far as they differ from the former ones.
  static func advertisingData(
    handle: UInt8, _ parameters: AdvertisingParameters, after former: AdvertisingParameters?
  ) -> [FamilyCommand<Self>]
  /// The command to put a prepared advertisement on the air.
  /// - Parameter events: the number of events until its end; 0 for no limit.
  static func advertisingBegin(
    handle: UInt8, _ parameters: AdvertisingParameters, events: UInt8
  ) -> FamilyCommand<Self>
  /// The command to take an advertisement off the air.
  static func advertisingEnd(handle: UInt8) -> FamilyCommand<Self>
  /// Disables all advertisements, including other programs' remains.
  static var advertisingDisable: FamilyCommand<Self> { get }
  /// The commands to make the controller forget an advertisement that is off.
  static func forgetAdvertising(handle: UInt8) -> [FamilyCommand<Self>]

  /// The commands to prepare a train of periodic advertisements while it is off.
  static func preparePeriodic(handle: UInt8, _ periodic: PeriodicAdvertising) -> [FamilyCommand<Self>]
  /// The commands to begin or end a train.
  static func periodicEnable(handle: UInt8, _ isEnabled: Bool) -> [FamilyCommand<Self>]

  /// Connects to any device in the accept list. `first` is one of them, for controllers ignoring the list.
  static func createConnection(
    first: HCIAddress, _ parameters: ConnectionParameters, own: AddressType
  ) -> FamilyCommand<Self>
}

/// Half of the time: other scanning continues beside it.
private let initiatingInterval: UInt16 = 0x0060
private let initiatingWindow: UInt16 = 0x0030

extension LegacyFamily: RadioFamily {
  static var isReplaceable: Bool { false }
  static var reportsEndOfAdvertising: Bool { false }

  static func primaryPHYs(of profile: ControllerProfile) -> Set<PHY> { [.le1M] }

  static func scanParameters(_ parameters: ScanParameters, own: AddressType) -> FamilyCommand<Self> {
    let interval = TimeUnits.scan(parameters.interval)
    return FamilyCommand(
      LESetScanParameters {
        $0.isActive = parameters.isActive
        $0.interval = interval
        $0.window = min(interval, TimeUnits.scan(parameters.window))
        $0.ownAddressType = own
      })
  }

  static func scanEnable(_ isEnabled: Bool, filtersDuplicates: Bool) -> FamilyCommand<Self> {
    FamilyCommand(
      LESetScanEnable {
        $0.isEnabled = isEnabled
        $0.filtersDuplicates = filtersDuplicates
      })
  }

  static func createConnection(
    first: HCIAddress, _ parameters: ConnectionParameters, own: AddressType
  ) -> FamilyCommand<Self> {
    FamilyCommand(
      LECreateConnection {
        $0.scanInterval = initiatingInterval
        $0.scanWindow = initiatingWindow
        $0.filterPolicy = 1
        $0.peer = first
        $0.ownAddressType = own
        $0.intervalMin = TimeUnits.connection(parameters.interval.lowerBound)
        $0.intervalMax = TimeUnits.connection(parameters.interval.upperBound)
        $0.latency = UInt16(clamping: parameters.latency)
        $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
      })
  }
}

extension ExtendedFamily: RadioFamily {
  static var isReplaceable: Bool { true }
  static var reportsEndOfAdvertising: Bool { true }

  static func primaryPHYs(of profile: ControllerProfile) -> Set<PHY> {
    profile.features.contains(.codedPHY) ? [.le1M, .leCoded] : [.le1M]
  }

  static func scanParameters(_ parameters: ScanParameters, own: AddressType) -> FamilyCommand<Self> {
    let interval = TimeUnits.scan(parameters.interval)
    let scan = LESetExtendedScanParameters.Scan {
      $0.isActive = parameters.isActive
      $0.interval = interval
      $0.window = min(interval, TimeUnits.scan(parameters.window))
    }
    let phys = parameters.phys.mask
    return FamilyCommand(
      LESetExtendedScanParameters {
        $0.ownAddressType = own
        $0.phys = phys
        $0.scans = [LESetExtendedScanParameters.Scan](repeating: scan, count: phys.nonzeroBitCount)
      })
  }

  static func scanEnable(_ isEnabled: Bool, filtersDuplicates: Bool) -> FamilyCommand<Self> {
    FamilyCommand(
      LESetExtendedScanEnable {
        $0.isEnabled = isEnabled
        $0.filtersDuplicates = filtersDuplicates ? 1 : 0
      })
  }

  static func createConnection(
    first: HCIAddress, _ parameters: ConnectionParameters, own: AddressType
  ) -> FamilyCommand<Self> {
    let phys = parameters.phys.mask
    let initiation = LEExtendedCreateConnection.Initiation {
      $0.scanInterval = initiatingInterval
      $0.scanWindow = initiatingWindow
      $0.intervalMin = TimeUnits.connection(parameters.interval.lowerBound)
      $0.intervalMax = TimeUnits.connection(parameters.interval.upperBound)
      $0.latency = UInt16(clamping: parameters.latency)
      $0.supervisionTimeout = TimeUnits.supervision(parameters.supervisionTimeout)
    }
    return FamilyCommand(
      LEExtendedCreateConnection {
        $0.filterPolicy = 1
        $0.ownAddressType = own
        $0.peer = first
        $0.phys = phys
        $0.initiations = [LEExtendedCreateConnection.Initiation](repeating: initiation, count: phys.nonzeroBitCount)
      })
  }
}
