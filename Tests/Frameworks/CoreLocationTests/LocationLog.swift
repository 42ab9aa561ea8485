import CoreLocation

/// The delegate of a location manager, which records its calls.
final class LocationLog: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  enum Event: @unchecked Sendable, Equatable {
    case authorization(CLAuthorizationStatus)
    case started(CLRegion)
    case monitoringFailed(CLRegion?, CLError.Code?)
    case entered(CLRegion)
    case exited(CLRegion)
    case determined(CLRegionState, CLRegion)
    case ranged([CLBeacon], CLBeaconIdentityConstraint)
    case rangingFailed(CLBeaconIdentityConstraint, CLError.Code?)
    case rangedIn([CLBeacon], CLBeaconRegion)
    case failed(CLError.Code?)
  }

  let queue = DispatchQueue(label: "test.location")
  private let events: AsyncStream<Event>
  private let add: AsyncStream<Event>.Continuation

  override init() { (events, add) = AsyncStream.makeStream() }

  /// The next event other than `ranged`, or one for which the condition holds.
  func next(where condition: (Event) -> Bool) async -> Event? {
    for await event in events where condition(event) { return event }
    return nil
  }

  /// The next event that is not a list of beacons.
  func next() async -> Event? {
    await next { event in
      switch event {
      case .ranged, .rangedIn: false
      default: true
      }
    }
  }

  /// The next list of beacons for which the condition holds.
  func list(where condition: ([CLBeacon]) -> Bool) async -> [CLBeacon]? {
    let event = await next { event in
      if case .ranged(let beacons, _) = event { condition(beacons) } else { false }
    }
    return if case .ranged(let beacons, _) = event { beacons } else { nil }
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    add.yield(.authorization(manager.authorizationStatus))
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    add.yield(.started(region))
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) { add.yield(.monitoringFailed(region, (error as? CLError)?.code)) }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) { add.yield(.entered(region)) }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) { add.yield(.exited(region)) }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) { add.yield(.determined(state, region)) }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon], satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) { add.yield(.ranged(beacons, beaconConstraint)) }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint, error: any Error
  ) { add.yield(.rangingFailed(beaconConstraint, (error as? CLError)?.code)) }

  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) { add.yield(.rangedIn(beacons, region)) }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    add.yield(.failed((error as? CLError)?.code))
  }
}
