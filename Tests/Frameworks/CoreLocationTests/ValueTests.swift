import Beacons
import Bluetooth
import CoreLocation.CLBeaconRegion
import Testing

@testable import CoreLocation

@Suite struct ValueTests {
  private let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") ?? UUID()

  @Test("the advertisement of a region is that of Apple's framework")
  func peripheralData() throws {
    let region = CLBeaconRegion(uuid: uuid, major: 0x0102, minor: 0x0304, identifier: "house")
    let data = try #require(region.peripheralData(withMeasuredPower: nil) as? [String: Any])
    let octets = try #require(data["kCBAdvDataAppleBeaconKey"] as? Data)
    let owner: [UInt8] = [
      0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0,
    ]
    #expect(Array(octets) == owner + [1, 2, 3, 4, 0xC5])
    let other = CLBeaconRegion(uuid: uuid, identifier: "all").peripheralData(withMeasuredPower: -70)
    #expect((other["kCBAdvDataAppleBeaconKey"] as? Data).map { Array($0.suffix(5)) } == [0, 0, 0, 0, 0xBA])
  }

  @Test("a signal strength beyond the range of RSSI is not known", arguments: [.min, -128, 21, 127, .max])
  func strength(rssi: Int) {
    let constraint = CLBeaconIdentityConstraint(uuid: uuid)
    let beacon = IBeacon(uuid: constraint.region.uuid, major: 1, minor: 2, measuredPower: -59)
    var ranging = BeaconRanging(region: constraint.region)
    _ = ranging.received(beacon, rssi: rssi, at: .zero)
    let unknown = ranging.beacons.map { CLBeacon($0, of: uuid, at: .zero) }
    #expect(unknown.map(\.rssi) == [0] && unknown.map(\.accuracy) == [-1] && unknown.map(\.proximity) == [.unknown])
    for known in [-127, 20] {
      ranging = BeaconRanging(region: constraint.region)
      _ = ranging.received(beacon, rssi: known, at: .zero)
      #expect(ranging.beacons.map { CLBeacon($0, of: uuid, at: .zero).rssi } == [known])
    }
  }

  @Test("constraints are values, regions have names")
  func equality() throws {
    let one = CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 2)
    #expect(one == CLBeaconIdentityConstraint(uuid: uuid, major: 1, minor: 2))
    #expect(Set([one, CLBeaconIdentityConstraint(uuid: uuid, major: 1)]).count == 2)
    let region = CLBeaconRegion(beaconIdentityConstraint: one, identifier: "house")
    #expect(region == CLBeaconRegion(uuid: uuid, identifier: "house"))
    #expect(region.major == 1 && region.minor == 2 && region.uuid == uuid)
    #expect(region.notifyOnEntry && region.notifyOnExit && !region.notifyEntryStateOnDisplay)
  }

  @Test("regions survive an archive")
  func archive() throws {
    let region = CLBeaconRegion(uuid: uuid, major: 7, identifier: "house")
    region.notifyOnExit = false
    let data = try NSKeyedArchiver.archivedData(withRootObject: region, requiringSecureCoding: true)
    let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CLBeaconRegion.self, from: data))
    #expect(read.identifier == "house" && read.uuid == uuid && read.major == 7 && read.minor == nil)
    #expect(read.notifyOnEntry && !read.notifyOnExit)
  }

  @Test("beacons survive an archive")
  func beaconArchive() throws {
    let constraint = CLBeaconIdentityConstraint(uuid: uuid)
    let heard = IBeacon(uuid: constraint.region.uuid, major: 1, minor: 0xFFFF, measuredPower: -59)
    var ranging = BeaconRanging(region: constraint.region)
    _ = ranging.received(heard, rssi: -60, at: .zero)
    let beacon = CLBeacon(try #require(ranging.beacons.first), of: uuid, at: .zero)
    let data = try NSKeyedArchiver.archivedData(withRootObject: beacon, requiringSecureCoding: true)
    let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CLBeacon.self, from: data))
    #expect(read == beacon && read.proximity == beacon.proximity && read.accuracy == beacon.accuracy)
    #expect(read.rssi == -60 && read.timestamp == beacon.timestamp)
  }

  @Test("an NSError of the domain is a CLError")
  func errors() {
    let error: any Error = NSError(domain: kCLErrorDomain, code: 16)
    #expect((error as? CLError)?.code == .rangingUnavailable)
    if case CLError.rangingUnavailable = error {} else { Issue.record("the pattern does not match") }
    #expect((NSError(domain: "other", code: 1) as any Error) as? CLError == nil)
    #expect(CLError.Code.historicalLocationError.rawValue == 19)
    #expect(Set([CLError(.denied), CLError(.denied), CLError(.network)]).count == 2)
  }

  @Test("the distance of two places")
  func distance() {
    let berlin = CLLocation(latitude: 52.52, longitude: 13.405)
    let munich = CLLocation(latitude: 48.137, longitude: 11.575)
    #expect(abs(berlin.distance(from: munich) - 504_000) < 2000)
    #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
  }
}
