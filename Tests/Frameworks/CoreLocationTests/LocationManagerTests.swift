import BledClient
import BledRPC
@testable import CoreLocation
import DaemonTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LocationManagerTests {
  private static let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") ?? UUID()
  /// Two beacons of one owner, a near and a far one, and one of another owner.
  private static let scenario = """
    { "devices": [
      { "name": "Near", "address": "C0:DE:00:00:02:02", "addressType": "random", "connectable": false, "interval": 0.05,
        "advertising": { "manufacturerData": "4c000215e2c56db5dffb48d2b060d0f5a71096e000010003c5" },
        "rssi": { "base": -60, "noise": 0 } },
      { "name": "Far", "address": "C0:DE:00:00:02:01", "addressType": "random", "connectable": false, "interval": 0.05,
        "advertising": { "manufacturerData": "4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5" },
        "rssi": { "base": -80, "noise": 0 } },
      { "name": "Other", "address": "C0:DE:00:00:02:03", "addressType": "random", "connectable": false,
        "interval": 0.05,
        "advertising": { "manufacturerData": "4c0002150000000000000000000000000000000000010002c5" } },
    ] }
    """

  private let log = LocationLog()

  private func manager(of daemon: Daemon) -> CLLocationManager {
    let manager = CLLocationManager(socket: daemon.socket, queue: log.queue)
    manager.delegate = log
    return manager
  }

  @Test("beacons are ranged each second, the nearest first")
  func ranging() async throws {
    let daemon = try await Daemon(adapters: 1, scenario: Self.scenario)
    let manager = manager(of: daemon)
    let constraint = CLBeaconIdentityConstraint(uuid: Self.uuid)
    manager.startRangingBeacons(satisfying: constraint)
    #expect(manager.rangedBeaconConstraints == [constraint])
    #expect(await log.next() == .authorization(.authorizedAlways))
    let beacons = try #require(await log.list { $0.count == 2 })
    #expect(beacons.map(\.minor) == [3, 2])
    #expect(beacons.map(\.major) == [1, 1])
    #expect(beacons.map(\.uuid) == [Self.uuid, Self.uuid])
    #expect(beacons.map(\.proximity) == [.near, .far])
    #expect(beacons.map(\.rssi) == [-60, -80])
    #expect(abs(beacons[0].accuracy - 1.122) < 0.001)
    // Real time: a moment that has passed, however long ago.
    #expect(beacons[0].timestamp.timeIntervalSinceNow < 1)

    // One of them by its numbers, in the older form.
    let region = CLBeaconRegion(uuid: Self.uuid, major: 1, minor: 2, identifier: "far")
    (manager as any OldRanging).startOld(region)
    let event = await log.next { if case .rangedIn(let beacons, _) = $0 { !beacons.isEmpty } else { false } }
    guard case .rangedIn(let list, let ranged) = event else { return #expect(Bool(false)) }
    #expect(list.map(\.minor) == [2] && ranged === region)
    manager.stopRangingBeacons(satisfying: constraint)
    #expect(manager.rangedBeaconConstraints.isEmpty)
  }

  @Test("the status of a permitted program is the one it asked for")
  func authorization() async throws {
    let daemon = try await Daemon(adapters: 1)
    let manager = manager(of: daemon)
    manager.requestWhenInUseAuthorization()
    #expect(await log.next() == .authorization(.authorizedWhenInUse))
    manager.requestWhenInUseAuthorization()
    manager.requestAlwaysAuthorization()
    #expect(await log.next() == .authorization(.authorizedAlways))
  }

  @Test("without a daemon the status is not determined, and a user who was denied stays so")
  func noDaemon() async throws {
    let manager = CLLocationManager(socket: "/nowhere/bled.sock", queue: log.queue)
    manager.delegate = log
    #expect(manager.authorizationStatus == .notDetermined)
    let region = CLBeaconRegion(uuid: Self.uuid, identifier: "house")
    manager.startMonitoring(for: region)
    #expect(await log.next() == .monitoringFailed(region, .regionMonitoringFailure))
    #expect(manager.authorizationStatus == .notDetermined)
    let denied = CLLocationManager(socket: "/nowhere/bled.sock", queue: log.queue)
    denied.delegate = log
    denied.happened(.permitted(false))
    #expect(await log.next() == .authorization(.denied))
    denied.startMonitoring(for: region)
    #expect(await log.next() == .monitoringFailed(region, .regionMonitoringFailure))
    #expect(denied.authorizationStatus == .denied)
  }

  @Test("a region that is ranged again in another form is ranged as it is now, and constraints have twenty places")
  func rangedAgain() async throws {
    let daemon = try await Daemon(adapters: 1, scenario: Self.scenario)
    let manager = manager(of: daemon)
    let old = manager as any OldRanging
    for number in 0..<19 {
      manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: Self.uuid, major: UInt16(100 + number)))
    }
    old.startOld(CLBeaconRegion(uuid: Self.uuid, major: 1, minor: 2, identifier: "house"))
    let refused = CLBeaconIdentityConstraint(uuid: Self.uuid, major: 7)
    manager.startRangingBeacons(satisfying: refused)
    #expect(manager.rangedBeaconConstraints.count == 19)
    #expect(await log.next { $0 == .rangingFailed(refused, .rangingFailure) } != nil)
    // Another one of the same name replaces it.
    let region = CLBeaconRegion(uuid: Self.uuid, major: 1, minor: 3, identifier: "house")
    old.startOld(region)
    let event = await log.next {
      if case .rangedIn(let beacons, let ranged) = $0 { ranged === region && !beacons.isEmpty } else { false }
    }
    guard case .rangedIn(let list, _) = event else { return #expect(Bool(false)) }
    #expect(list.map(\.minor) == [3])
    old.stopOld(CLBeaconRegion(uuid: Self.uuid, identifier: "house"))
    manager.startRangingBeacons(satisfying: refused)
    #expect(manager.rangedBeaconConstraints.contains(refused))
    #expect(await log.next { if case .ranged(_, refused) = $0 { true } else { false } } != nil)
  }

  @Test("a region is entered, its state is told, and another is not")
  func monitoring() async throws {
    let daemon = try await Daemon(adapters: 1, scenario: Self.scenario)
    let manager = manager(of: daemon)
    let region = CLBeaconRegion(uuid: Self.uuid, major: 1, identifier: "house")
    manager.startMonitoring(for: region)
    #expect(manager.monitoredRegions == [region])
    #expect(await log.next() == .authorization(.authorizedAlways))
    #expect(await log.next() == .started(region))
    #expect(await log.next() == .determined(.inside, region))
    #expect(await log.next() == .entered(region))
    manager.requestState(for: region)
    #expect(await log.next() == .determined(.inside, region))
    let unknown = CLBeaconRegion(uuid: Self.uuid, identifier: "not monitored")
    manager.requestState(for: unknown)
    #expect(await log.next() == .determined(.unknown, unknown))
    manager.stopMonitoring(for: region)
    #expect(manager.monitoredRegions.isEmpty)
  }

  @Test("ranging fails while Bluetooth is off, and goes on after it")
  func bluetoothOff() async throws {
    let daemon = try await Daemon(adapters: 1, scenario: Self.scenario)
    let client = try await daemon.client()
    let manager = manager(of: daemon)
    let constraint = CLBeaconIdentityConstraint(uuid: Self.uuid, major: 1)
    let region = CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: "house")
    manager.startRangingBeacons(satisfying: constraint)
    _ = await log.list { !$0.isEmpty }
    _ = try await client.call(AdapterPower.self, .init(adapter: nil, on: false))
    #expect(await log.next() == .rangingFailed(constraint, .rangingUnavailable))
    manager.startMonitoring(for: region)
    #expect(await log.next() == .monitoringFailed(region, .regionMonitoringFailure))
    _ = try await client.call(AdapterPower.self, .init(adapter: nil, on: true))
    #expect(await log.next() == .started(region))
    #expect(await log.next() == .determined(.inside, region))
    #expect(await log.list { !$0.isEmpty }?.isEmpty == false)
  }

  @Test("all but beacons fails through the delegate")
  func noLocations() async throws {
    let daemon = try await Daemon(adapters: 1)
    let manager = manager(of: daemon)
    #expect(await log.next() == .authorization(.authorizedAlways))
    manager.startUpdatingLocation()
    #expect(await log.next() == .failed(.denied))
    manager.requestLocation()
    #expect(await log.next() == .failed(.denied))
    manager.startUpdatingHeading()
    #expect(await log.next() == .failed(.headingFailure))
    let circle = CLCircularRegion(center: .init(latitude: 52, longitude: 13), radius: 100, identifier: "circle")
    #expect(!CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self))
    #expect(CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self))
    manager.startMonitoring(for: circle)
    #expect(await log.next() == .monitoringFailed(circle, .regionMonitoringFailure))
    for number in 0..<21 {
      manager.startMonitoring(for: CLBeaconRegion(uuid: Self.uuid, identifier: "\(number)"))
    }
    let refused = await log.next { if case .monitoringFailed = $0 { true } else { false } }
    #expect(refused == .monitoringFailed(CLBeaconRegion(uuid: Self.uuid, identifier: "20"), .regionMonitoringFailure))
    #expect(manager.monitoredRegions.count == 20)
  }
}

/// For the deprecated form without a warning.
private protocol OldRanging {
  func startOld(_ region: CLBeaconRegion)
  func stopOld(_ region: CLBeaconRegion)
}

extension CLLocationManager: OldRanging {
  @available(*, deprecated)
  fileprivate func startOld(_ region: CLBeaconRegion) { startRangingBeacons(in: region) }
  @available(*, deprecated)
  fileprivate func stopOld(_ region: CLBeaconRegion) { stopRangingBeacons(in: region) }
}
