import CoreBluetooth
import CoreLocation

/// A program that ranges beacons, and is one.
final class Beacons: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private let region = CLBeaconRegion(uuid: UUID(), major: 1, identifier: "house")
  private(set) var nearest: CLBeacon?

  func start(_ peripheral: CBPeripheralManager) {
    manager.delegate = self
    manager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
    peripheral.startAdvertising(region.peripheralData(withMeasuredPower: -60) as? [String: Any])
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    nearest = beacons.first { $0.proximity == .immediate }
  }
}
