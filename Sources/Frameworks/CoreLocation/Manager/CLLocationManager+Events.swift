import Beacons
import Bluetooth

extension CLLocationManager {
  /// On the engine's queue.
  func happened(_ event: LocationEngine.Event) {
    switch event {
    case .permitted(let isPermitted):
      deliver { manager in
        manager.shared.with {
          if $0.isPermitted != isPermitted { ($0.isPermitted, $0.hasToldPermission) = (isPermitted, false) }
        }
        manager.reportPermission()
      }
    case .beacons(let event):
      let now = Instant.now
      deliver { $0.report(event, at: now) }
    }
  }

  /// Reports the service's permission to the delegate, if known and unreported.
  func reportPermission() {
    let delegate = shared.with { shared -> (any CLLocationManagerDelegate)? in
      guard let delegate = shared.delegate, shared.isPermitted != nil, !shared.hasToldPermission else { return nil }
      shared.hasToldPermission = true
      return delegate
    }
    delegate?.locationManagerDidChangeAuthorization(self)
  }

  private func report(_ event: BeaconMachine.Event, at now: Instant) {
    guard let delegate else { return }
    // Regions and constraints given up by the program meanwhile are no longer reported.
    switch event {
    case .monitoringStarted(let identifier):
      guard let region = monitored(identifier) else { return }
      delegate.locationManager(self, didStartMonitoringFor: region)
    case .monitoringFailed(let identifier, let failure):
      guard let region = monitored(identifier) else { return }
      delegate.locationManager(self, monitoringDidFailFor: region, withError: failure.ofMonitoring)
    case .entered(let identifier):
      guard let region = monitored(identifier) else { return }
      delegate.locationManager(self, didEnterRegion: region)
    case .exited(let identifier):
      guard let region = monitored(identifier) else { return }
      delegate.locationManager(self, didExitRegion: region)
    case .determined(let identifier, let state):
      guard let region = monitored(identifier) else { return }
      delegate.locationManager(self, didDetermineState: CLRegionState(state), for: region)
    case .ranged(let beacons, let list):
      for constraint in constraints(of: beacons) {
        delegate.locationManager(self, didRange: list.beacons(of: constraint.uuid, at: now), satisfying: constraint)
      }
      for region in regions(of: beacons) {
        delegate.locationManager(self, didRangeBeacons: list.beacons(of: region.uuid, at: now), in: region)
      }
    case .rangingFailed(let beacons, let failure):
      for constraint in constraints(of: beacons) {
        delegate.locationManager(self, didFailRangingFor: constraint, error: failure.ofRanging)
      }
      for region in regions(of: beacons) {
        delegate.locationManager(self, rangingBeaconsDidFailFor: region, withError: failure.ofRanging)
      }
    }
  }

  private func monitored(_ identifier: String) -> CLBeaconRegion? { shared[\.monitored][identifier] }

  private func constraints(of beacons: BeaconMachine.Region) -> [CLBeaconIdentityConstraint] {
    shared[\.constraints].filter { $0.region == beacons }
  }

  private func regions(of beacons: BeaconMachine.Region) -> [CLBeaconRegion] {
    shared[\.rangedRegions].filter { $0.beaconIdentityConstraint.region == beacons }
  }
}

extension [BeaconRanging.Ranged] {
  /// A list's beacons, those with an unknown distance last.
  fileprivate func beacons(of uuid: UUID, at now: Instant) -> [CLBeacon] {
    let all = map { CLBeacon($0, of: uuid, at: now) }
    return all.filter { $0.proximity != .unknown } + all.filter { $0.proximity == .unknown }
  }
}

extension CLRegionState {
  fileprivate init(_ state: BeaconMachine.State) {
    self =
      switch state {
      case .unknown: .unknown
      case .inside: .inside
      case .outside: .outside
      }
  }
}

extension BeaconMachine.Failure {
  fileprivate var ofMonitoring: NSError {
    .location(self == .denied ? .regionMonitoringDenied : .regionMonitoringFailure, reason)
  }

  var ofRanging: NSError {
    switch self {
    case .denied: .location(.denied, reason)
    case .unavailable: .location(.rangingUnavailable, reason)
    case .limit: .location(.rangingFailure, reason)
    }
  }

  private var reason: String {
    switch self {
    case .denied: "bled's policy does not permit this user to scan"
    case .unavailable(let reason): reason
    case .limit: "a manager watches \(BeaconMachine.maximumWatches) regions at most: stop one first"
    }
  }
}
