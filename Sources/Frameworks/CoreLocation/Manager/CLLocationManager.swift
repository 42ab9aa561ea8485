import CoreBluetooth
import FrameworkSupport

/// Tells of iBeacons: which regions are entered and left, and how near the beacons are.
///
/// The program must retain it: when it is released, monitoring and ranging end. The delegate is called on the main
/// queue. Locations and directions do not exist on Linux: requests for them fail.
open class CLLocationManager: NSObject {
  struct Shared {
    weak var delegate: (any CLLocationManagerDelegate)?
    /// Nil: the daemon has not answered yet.
    var isPermitted: Bool?
    /// The status of a program that is permitted: as it asked for.
    var granted = CLAuthorizationStatus.authorizedAlways
    var hasToldPermission = false
    var monitored: [String: CLBeaconRegion] = [:]
    var constraints: Set<CLBeaconIdentityConstraint> = []
    var rangedRegions: Set<CLBeaconRegion> = []

    /// The constraints that are ranged in either form.
    var ranged: Set<CLBeaconIdentityConstraint> {
      constraints.union(rangedRegions.map(\.beaconIdentityConstraint))
    }
  }

  let shared = Guarded(Shared())
  private let delivery: Delivery
  private(set) var engine: LocationEngine?

  /// Makes a manager.
  public override convenience init() { self.init(socket: nil, queue: nil) }

  /// - Parameters:
  ///   - socket: The daemon's; nil: the one that the environment names.
  ///   - queue: Where the delegate is called; nil: the main queue.
  init(socket: String?, queue: DispatchQueue?) {
    delivery = Delivery(to: queue)
    super.init()
    engine = LocationEngine(socket: socket) { [weak self] in self?.happened($0) }
  }

  deinit { engine?.close() }

  /// The delegate, held weakly. One that is set when the permission is known and no delegate was told of it is told.
  open weak var delegate: (any CLLocationManagerDelegate)? {
    get { shared[\.delegate] }
    set {
      shared[\.delegate] = newValue
      if newValue != nil { deliver { $0.tellPermission() } }
    }
  }

  // MARK: Permission

  /// Whether bled's policy permits this program to scan: `notDetermined` until the daemon has said so, and the delegate
  /// is told. It stays when the daemon is away.
  open var authorizationStatus: CLAuthorizationStatus {
    let (isPermitted, granted) = shared.with { ($0.isPermitted, $0.granted) }
    guard let isPermitted else { return Self.reachability }
    return isPermitted ? granted : .denied
  }

  /// `denied` to a program that may not use the daemon's socket; the policy is known to a manager alone.
  @available(*, deprecated, message: "Use the property of a manager")
  open class func authorizationStatus() -> CLAuthorizationStatus { reachability }

  private static var reachability: CLAuthorizationStatus {
    CBManager.authorization == .denied ? .denied : .notDetermined
  }

  /// Beacons are told as they are heard.
  open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

  /// Whether widgets of the program may be told: there are none on Linux.
  open var isAuthorizedForWidgets: Bool { false }

  /// Beacons are told as they are heard: there is nothing to ask for.
  /// - Parameters:
  ///   - purposeKey: Not used.
  ///   - completion: Called on the queue of the delegate, without an error.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) { deliver { _ in completion?(nil) } }

  /// There is no dialog: the policy of bled decides. The status of a permitted program is `authorizedWhenInUse` then.
  open func requestWhenInUseAuthorization() { request(.authorizedWhenInUse) }

  /// There is no dialog: the policy of bled decides. The status of a permitted program is `authorizedAlways`.
  open func requestAlwaysAuthorization() { request(.authorizedAlways) }

  private func request(_ status: CLAuthorizationStatus) {
    shared.with {
      guard $0.granted != status else { return }
      $0.granted = status
      if $0.isPermitted != false { $0.hasToldPermission = false }
    }
    deliver { $0.tellPermission() }
  }

  // MARK: Monitoring

  /// Whether regions of a class can be monitored: beacon regions can.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool { regionClass is CLBeaconRegion.Type }

  /// The regions that this manager monitors.
  open var monitoredRegions: Set<CLRegion> { Set(shared[\.monitored].values) }

  /// How large a circle may be: none can be monitored.
  open var maximumRegionMonitoringDistance: CLLocationDistance { -1 }

  /// Monitors a region, in place of the one of the same name. A manager monitors twenty at most.
  open func startMonitoring(for region: CLRegion) {
    guard let region = (region as? CLBeaconRegion)?.copy() as? CLBeaconRegion else {
      return fail(region, .regionMonitoringFailure, "on Linux regions of beacons alone are monitored")
    }
    let (identifier, beacons) = (region.identifier, region.beaconIdentityConstraint.region)
    let (tellsEntry, tellsExit) = (region.notifyOnEntry, region.notifyOnExit)
    let hasRoom = shared.with {
      guard $0.monitored[identifier] != nil || $0.monitored.count < BeaconMachine.maximumWatches else { return false }
      $0.monitored[identifier] = region
      return true
    }
    guard hasRoom else {
      let reason = "a manager monitors \(BeaconMachine.maximumWatches) regions at most"
      return fail(region, .regionMonitoringFailure, reason)
    }
    engine?.change { machine, now in
      machine.monitor(identifier, beacons, tellsEntry: tellsEntry, tellsExit: tellsExit, at: now)
    }
  }

  /// Monitors the region of this name no longer.
  open func stopMonitoring(for region: CLRegion) {
    let identifier = region.identifier
    guard shared.with({ $0.monitored.removeValue(forKey: identifier) }) != nil else { return }
    engine?.change { machine, _ in
      machine.stopMonitoring(identifier)
      return []
    }
  }

  /// Asks for the state of a monitored region: the delegate is told when it is known.
  open func requestState(for region: CLRegion) {
    let identifier = region.identifier
    guard shared[\.monitored][identifier] != nil else {
      return deliver { $0.delegate?.locationManager($0, didDetermineState: .unknown, for: region) }
    }
    engine?.change { $0.ask(identifier, at: $1) }
  }

  // MARK: Ranging

  /// Whether beacons can be ranged.
  open class func isRangingAvailable() -> Bool { true }

  /// The constraints whose beacons are ranged.
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { shared[\.constraints] }

  /// The regions whose beacons are ranged.
  @available(*, deprecated, renamed: "rangedBeaconConstraints")
  open var rangedRegions: Set<CLRegion> { shared[\.rangedRegions] }

  /// Tells the beacons in reach each second. A manager ranges for twenty constraints at most.
  open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    let hasRoom = shared.with { shared in
      guard Self.hasRoom(for: constraint, in: shared.ranged) else { return false }
      shared.constraints.insert(constraint)
      return true
    }
    guard hasRoom else {
      let error = BeaconMachine.Failure.limit.ofRanging
      return deliver { $0.delegate?.locationManager($0, didFailRangingFor: constraint, error: error) }
    }
    range(constraint)
  }

  private static func hasRoom(
    for constraint: CLBeaconIdentityConstraint, in ranged: Set<CLBeaconIdentityConstraint>
  ) -> Bool { ranged.contains(constraint) || ranged.count < BeaconMachine.maximumWatches }

  private func range(_ constraint: CLBeaconIdentityConstraint) {
    let region = constraint.region
    engine?.change { $0.range(region, at: $1) }
  }

  /// Ends the ranging.
  open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    shared.with { _ = $0.constraints.remove(constraint) }
    stopUnlessRanged(constraint)
  }

  /// The older form of `startRangingBeacons(satisfying:)`.
  @available(*, deprecated, renamed: "startRangingBeacons(satisfying:)")
  open func startRangingBeacons(in region: CLBeaconRegion) {
    let constraint = region.beaconIdentityConstraint
    let (hasRoom, former) = shared.with { shared -> (Bool, CLBeaconRegion?) in
      var others = shared
      // Of the same name.
      let former = others.rangedRegions.remove(region)
      guard Self.hasRoom(for: constraint, in: others.ranged) else { return (false, nil) }
      shared.rangedRegions.update(with: region)
      return (true, former)
    }
    guard hasRoom else {
      let error = BeaconMachine.Failure.limit.ofRanging
      return deliver { $0.delegate?.locationManager($0, rangingBeaconsDidFailFor: region, withError: error) }
    }
    if let former { stopUnlessRanged(former.beaconIdentityConstraint) }
    range(constraint)
  }

  /// The older form of `stopRangingBeacons(satisfying:)`.
  @available(*, deprecated, renamed: "stopRangingBeacons(satisfying:)")
  open func stopRangingBeacons(in region: CLBeaconRegion) {
    guard let former = shared.with({ $0.rangedRegions.remove(region) }) else { return }
    stopUnlessRanged(former.beaconIdentityConstraint)
  }

  private func stopUnlessRanged(_ constraint: CLBeaconIdentityConstraint) {
    let region = constraint.region
    guard shared.with({ !$0.ranged.contains(constraint) }) else { return }
    engine?.change { machine, _ in
      machine.stopRanging(region)
      return []
    }
  }

  // MARK: Locations

  /// Where the machine is: not known on Linux.
  open var location: CLLocation? { nil }
  /// The direction: not known on Linux.
  open var heading: CLHeading? { nil }
  /// How exact locations should be. No effect on Linux.
  open var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest
  /// Which movements are told. No effect on Linux.
  open var distanceFilter: CLLocationDistance = kCLDistanceFilterNone
  /// The kind of movement. No effect on Linux.
  open var activityType = CLActivityType.other
  /// Whether locations may pause. No effect on Linux.
  open var pausesLocationUpdatesAutomatically = true
  /// Whether locations come in the background. No effect on Linux.
  open var allowsBackgroundLocationUpdates = false
  /// Whether the use in the background is shown. No effect on Linux.
  open var showsBackgroundLocationIndicator = false

  /// Whether there are location services: beacons are.
  open class func locationServicesEnabled() -> Bool { true }
  /// Whether there is a compass: no.
  open class func headingAvailable() -> Bool { false }
  /// Whether larger movements are told: no.
  open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

  /// Fails: the delegate is told `CLError.denied`.
  open func startUpdatingLocation() { failLocation(.denied) }
  /// Does nothing.
  open func stopUpdatingLocation() {}
  /// Fails: the delegate is told `CLError.denied`.
  open func requestLocation() { failLocation(.denied) }
  /// Fails: the delegate is told `CLError.headingFailure`.
  open func startUpdatingHeading() { failLocation(.headingFailure) }
  /// Does nothing.
  open func stopUpdatingHeading() {}
  /// Fails: the delegate is told `CLError.denied`.
  open func startMonitoringSignificantLocationChanges() { failLocation(.denied) }
  /// Does nothing.
  open func stopMonitoringSignificantLocationChanges() {}
  /// Fails: the delegate is told `CLError.denied`.
  open func startMonitoringVisits() { failLocation(.denied) }
  /// Does nothing.
  open func stopMonitoringVisits() {}

  /// Calls `body` on the queue of the delegate, if the manager is still there.
  func deliver(_ body: @escaping (CLLocationManager) -> Void) {
    delivery { [weak self] in
      if let self { body(self) }
    }
  }

  private func fail(_ region: CLRegion, _ code: CLError.Code, _ reason: String) {
    deliver { manager in
      manager.delegate?.locationManager(
        manager, monitoringDidFailFor: region, withError: NSError.location(code, reason))
    }
  }

  private func failLocation(_ code: CLError.Code) {
    let error = NSError.location(code, "this machine has no location services but beacons")
    deliver { $0.delegate?.locationManager($0, didFailWithError: error) }
  }
}
