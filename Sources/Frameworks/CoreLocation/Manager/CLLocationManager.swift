import CoreBluetooth
import FrameworkSupport

/// Reports iBeacons: entry and exit of regions, and the beacons' distances.
///
/// The program must retain it: when it is released, monitoring and ranging end. The delegate is called on the main
/// queue. Locations and directions do not exist on Linux: requests for them fail.
open class CLLocationManager: NSObject {
  struct Shared {
    weak var delegate: (any CLLocationManagerDelegate)?
    /// Nil: the daemon has not answered yet.
    var isPermitted: Bool?
    /// A permitted program's status: as requested.
    var granted = CLAuthorizationStatus.authorizedAlways
    var hasToldPermission = false
    var monitored: [String: CLBeaconRegion] = [:]
    var constraints: Set<CLBeaconIdentityConstraint> = []
    var rangedRegions: Set<CLBeaconRegion> = []

    /// The constraints ranged in either form.
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
  ///   - socket: The daemon's; nil: the one named in the environment.
  ///   - queue: The delegate's queue; nil: the main queue.
  init(socket: String?, queue: DispatchQueue?) {
    delivery = Delivery(to: queue)
    super.init()
    engine = LocationEngine(socket: socket) { [weak self] in self?.happened($0) }
  }

  deinit { engine?.close() }

  /// The delegate (weak). If the permission is already known and unreported, it is delivered to a newly set delegate.
  open weak var delegate: (any CLLocationManagerDelegate)? {
    get { shared[\.delegate] }
    set {
      shared[\.delegate] = newValue
      if newValue != nil { deliver { $0.reportPermission() } }
    }
  }

  // MARK: Permission

  /// This program's permission to scan by bled's policy: `notDetermined` until the daemon reports it and the delegate
  /// is called. It is unchanged while the daemon is away.
  open var authorizationStatus: CLAuthorizationStatus {
    let (isPermitted, granted) = shared.with { ($0.isPermitted, $0.granted) }
    guard let isPermitted else { return Self.reachability }
    return isPermitted ? granted : .denied
  }

  /// `denied` for a program without access to the daemon's socket; only a manager knows the policy.
  @available(*, deprecated, message: "Use the property of a manager")
  open class func authorizationStatus() -> CLAuthorizationStatus { reachability }

  private static var reachability: CLAuthorizationStatus {
    CBManager.authorization == .denied ? .denied : .notDetermined
  }

  /// Beacons are reported as received.
  open var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

  /// True if the program's widgets may be notified: there are none on Linux.
  open var isAuthorizedForWidgets: Bool { false }

  /// Beacons are reported as received: there is nothing to request.
  /// - Parameters:
  ///   - purposeKey: Not used.
  ///   - completion: Called on the delegate's queue, without an error.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) { deliver { _ in completion?(nil) } }

  /// There is no dialog: bled's policy decides. A permitted program's status is then `authorizedWhenInUse`.
  open func requestWhenInUseAuthorization() { request(.authorizedWhenInUse) }

  /// There is no dialog: bled's policy decides. A permitted program's status is `authorizedAlways`.
  open func requestAlwaysAuthorization() { request(.authorizedAlways) }

  private func request(_ status: CLAuthorizationStatus) {
    shared.with {
      guard $0.granted != status else { return }
      $0.granted = status
      if $0.isPermitted != false { $0.hasToldPermission = false }
    }
    deliver { $0.reportPermission() }
  }

  // MARK: Monitoring

  /// Returns true if regions of a class can be monitored: beacon regions can.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool { regionClass is CLBeaconRegion.Type }

  /// The regions monitored by this manager.
  open var monitoredRegions: Set<CLRegion> { Set(shared[\.monitored].values) }

  /// Maximum size of a circle: none can be monitored.
  open var maximumRegionMonitoringDistance: CLLocationDistance { -1 }

  /// Monitors a region, replacing one with the same identifier. A manager monitors twenty at most.
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

  /// Stops monitoring the region with this identifier.
  open func stopMonitoring(for region: CLRegion) {
    let identifier = region.identifier
    guard shared.with({ $0.monitored.removeValue(forKey: identifier) }) != nil else { return }
    engine?.change { machine, _ in
      machine.stopMonitoring(identifier)
      return []
    }
  }

  /// Requests a monitored region's state: the delegate receives it when it is known.
  open func requestState(for region: CLRegion) {
    let identifier = region.identifier
    guard shared[\.monitored][identifier] != nil else {
      return deliver { $0.delegate?.locationManager($0, didDetermineState: .unknown, for: region) }
    }
    engine?.change { $0.ask(identifier, at: $1) }
  }

  // MARK: Ranging

  /// Returns true if beacons can be ranged.
  open class func isRangingAvailable() -> Bool { true }

  /// The constraints whose beacons are ranged.
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { shared[\.constraints] }

  /// The regions whose beacons are ranged.
  @available(*, deprecated, renamed: "rangedBeaconConstraints")
  open var rangedRegions: Set<CLRegion> { shared[\.rangedRegions] }

  /// Reports the beacons in range each second. A manager ranges for twenty constraints at most.
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
      // The earlier region with this identifier.
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

  /// The machine's place: not known on Linux.
  open var location: CLLocation? { nil }
  /// The direction: not known on Linux.
  open var heading: CLHeading? { nil }
  /// How exact locations should be. No effect on Linux.
  open var desiredAccuracy: CLLocationAccuracy = kCLLocationAccuracyBest
  /// The movements to report. No effect on Linux.
  open var distanceFilter: CLLocationDistance = kCLDistanceFilterNone
  /// The kind of movement. No effect on Linux.
  open var activityType = CLActivityType.other
  /// True if locations may pause. No effect on Linux.
  open var pausesLocationUpdatesAutomatically = true
  /// True to receive locations in the background. No effect on Linux.
  open var allowsBackgroundLocationUpdates = false
  /// True to show the use in the background. No effect on Linux.
  open var showsBackgroundLocationIndicator = false

  /// Returns true if there are location services: beacons are.
  open class func locationServicesEnabled() -> Bool { true }
  /// Returns true with a compass: false.
  open class func headingAvailable() -> Bool { false }
  /// Returns true if larger movements are reported: false.
  open class func significantLocationChangeMonitoringAvailable() -> Bool { false }

  /// Fails: the delegate receives `CLError.denied`.
  open func startUpdatingLocation() { failLocation(.denied) }
  /// Does nothing.
  open func stopUpdatingLocation() {}
  /// Fails: the delegate receives `CLError.denied`.
  open func requestLocation() { failLocation(.denied) }
  /// Fails: the delegate receives `CLError.headingFailure`.
  open func startUpdatingHeading() { failLocation(.headingFailure) }
  /// Does nothing.
  open func stopUpdatingHeading() {}
  /// Fails: the delegate receives `CLError.denied`.
  open func startMonitoringSignificantLocationChanges() { failLocation(.denied) }
  /// Does nothing.
  open func stopMonitoringSignificantLocationChanges() {}
  /// Fails: the delegate receives `CLError.denied`.
  open func startMonitoringVisits() { failLocation(.denied) }
  /// Does nothing.
  open func stopMonitoringVisits() {}

  /// Calls `body` on the delegate's queue, if the manager still exists.
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
