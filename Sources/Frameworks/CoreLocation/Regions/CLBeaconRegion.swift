import Beacons
import CoreBluetooth

/// The region in which an owner's beacons are received.
open class CLBeaconRegion: CLRegion {
  /// The beacons.
  public let beaconIdentityConstraint: CLBeaconIdentityConstraint
  /// True to report the state when the display is switched on. No effect on Linux.
  open var notifyEntryStateOnDisplay = false

  /// Their owner.
  open var uuid: UUID { beaconIdentityConstraint.uuid }
  /// Their first number; nil: any.
  open var major: NSNumber? { beaconIdentityConstraint.major }
  /// Their second number; nil: any.
  open var minor: NSNumber? { beaconIdentityConstraint.minor }
  /// The older name of `uuid`.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }

  /// The region of all beacons of an owner.
  public convenience init(uuid: UUID, identifier: String) {
    self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid), identifier: identifier)
  }

  /// The region of an owner's beacons with this first number.
  public convenience init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major), identifier: identifier)
  }

  /// A single beacon's region.
  public convenience init(
    uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    self.init(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor),
      identifier: identifier)
  }

  /// The region of the beacons described by a constraint.
  public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    self.beaconIdentityConstraint = beaconIdentityConstraint
    super.init(identifier: identifier)
  }

  /// The older spelling of `init(uuid:identifier:)`.
  @available(*, deprecated, renamed: "init(uuid:identifier:)")
  public convenience init(proximityUUID: UUID, identifier: String) {
    self.init(uuid: proximityUUID, identifier: identifier)
  }

  /// The older spelling of `init(uuid:major:identifier:)`.
  @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
  public convenience init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
    self.init(uuid: proximityUUID, major: major, identifier: identifier)
  }

  /// The older spelling of `init(uuid:major:minor:identifier:)`.
  @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
  public convenience init(
    proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    self.init(uuid: proximityUUID, major: major, minor: minor, identifier: identifier)
  }

  /// Reads an archived region.
  public required init?(coder: NSCoder) {
    guard let constraint = CLBeaconIdentityConstraint(coder: coder) else { return nil }
    beaconIdentityConstraint = constraint
    super.init(coder: coder)
    notifyEntryStateOnDisplay = coder.decodeBool(forKey: "notifyEntryStateOnDisplay")
  }

  /// Writes the region into an archive.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    beaconIdentityConstraint.encode(with: coder)
    coder.encode(notifyEntryStateOnDisplay, forKey: "notifyEntryStateOnDisplay")
  }

  /// Makes a copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = CLBeaconRegion(beaconIdentityConstraint: beaconIdentityConstraint, identifier: identifier)
    (copy.notifyOnEntry, copy.notifyOnExit) = (notifyOnEntry, notifyOnExit)
    copy.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    return copy
  }

  /// The advertisement by which this machine becomes a beacon of the region: for
  /// `CBPeripheralManager.startAdvertising`.
  /// - Parameter measuredPower: The signal strength at a receiver 1 m away, in dBm; nil: −59. Measure it with the
  ///   intended device.
  /// - Returns: One value; a missing major or minor number becomes 0.
  open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
    let constraint = beaconIdentityConstraint
    let beacon = IBeacon(
      uuid: constraint.region.uuid, major: constraint.majorValue ?? 0, minor: constraint.minorValue ?? 0,
      measuredPower: Int8(clamping: measuredPower?.intValue ?? -59))
    return NSMutableDictionary(dictionary: [IBeacon.advertisementKey: Data(beacon.content)])
  }

  /// The name and the beacons.
  open override var description: String {
    "\(type(of: self)) (identifier: '\(identifier)', \(beaconIdentityConstraint))"
  }
}
