import CoreLocation

/// Says when a region is entered and left, and how near its beacons are while it is there.
@MainActor
final class BeaconWatcher: NSObject {
  private let region: CLBeaconRegion
  private let manager = CLLocationManager()
  /// The lists that are still printed; then the program ends.
  private var left: Int

  init(region: CLBeaconRegion, lists: Int) {
    self.region = region
    left = lists
  }

  func start() {
    manager.delegate = self
    manager.requestAlwaysAuthorization()
  }
}

extension BeaconWatcher: @preconcurrency CLLocationManagerDelegate {
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    guard manager.authorizationStatus == .authorizedAlways else { return print("Not permitted.") }
    manager.startMonitoring(for: region)
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    print("Entered \(region.identifier).")
    manager.startRangingBeacons(satisfying: self.region.beaconIdentityConstraint)
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    print("Left \(region.identifier).")
    manager.stopRangingBeacons(satisfying: self.region.beaconIdentityConstraint)
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    guard !beacons.isEmpty else { return }
    for beacon in beacons {
      let distance = (beacon.accuracy * 10).rounded() / 10
      print("\(beacon.major).\(beacon.minor): \(beacon.proximity), \(distance) m, \(beacon.rssi) dBm")
    }
    left -= 1
    if left == 0 { exit(0) }
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    print("Cannot monitor: \(error.localizedDescription)")
  }
}
