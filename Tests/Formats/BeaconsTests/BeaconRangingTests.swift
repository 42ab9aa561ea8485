import Bluetooth
import Testing

@testable import Beacons

/// Ranging: the beacons in reach, and their distance.
@Suite struct BeaconRangingTests {
  private static let uuid = BluetoothUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  private func beacon(_ major: UInt16 = 1, _ minor: UInt16 = 1, uuid: BluetoothUUID = uuid) -> IBeacon {
    IBeacon(uuid: uuid, major: major, minor: minor, measuredPower: -59)
  }

  private func at(_ seconds: Double) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }

  /// An event in words: its name, the minor number and the proximity.
  private func words(_ events: [BeaconRanging.Event]) -> [String] {
    events.map { event in
      switch event {
      case .entered(let ranged): "entered \(ranged.beacon.minor) \(ranged.proximity)"
      case .moved(let ranged): "moved \(ranged.beacon.minor) \(ranged.proximity)"
      case .exited(let ranged): "exited \(ranged.beacon.minor) \(ranged.proximity)"
      }
    }
  }

  @Test("Only beacons of the region count", arguments: [nil, 7] as [UInt16?], [nil, 9] as [UInt16?])
  func regions(major: UInt16?, minor: UInt16?) {
    var ranging = BeaconRanging(region: .init(uuid: Self.uuid, major: major, minor: minor))
    var heard = 0
    for beacon in [beacon(7, 9), beacon(7, 8), beacon(6, 9), beacon(6, 8), beacon(7, 9, uuid: 0x180D)] {
      heard += ranging.received(beacon, rssi: -60, at: .zero).count
    }
    #expect(heard == (major == nil ? 2 : 1) * (minor == nil ? 2 : 1))
    #expect(ranging.beacons.count == heard)
  }

  @Test("A beacon enters, and exits when it was silent for ten seconds")
  func entersAndExits() {
    var ranging = BeaconRanging(region: .init(uuid: Self.uuid))
    #expect(ranging.deadline == nil)
    #expect(words(ranging.received(beacon(1, 1), rssi: -59, at: at(0))) == ["entered 1 near"])
    #expect(words(ranging.received(beacon(1, 2), rssi: -90, at: at(4))) == ["entered 2 far"])
    #expect(ranging.received(beacon(1, 1), rssi: -59, at: at(5)).isEmpty)
    #expect(ranging.beacons.map(\.beacon.minor) == [1, 2])
    #expect(ranging.deadline == at(14))
    #expect(ranging.tick(at: at(13.9)).isEmpty)
    #expect(words(ranging.tick(at: at(14))) == ["exited 2 far"])
    #expect(ranging.deadline == at(15))
    #expect(words(ranging.tick(at: at(60))) == ["exited 1 near"])
    #expect(ranging.deadline == nil && ranging.beacons.isEmpty)
    #expect(words(ranging.received(beacon(1, 2), rssi: -50, at: at(61))) == ["entered 2 immediate"])
  }

  @Test(
    "The first measurement decides by the borders alone",
    arguments: [(-53, "immediate"), (-52, "immediate"), (-54, "near"), (-71, "near"), (-72, "far"), (-120, "far")])
  func firstMeasurement(rssi: Int, proximity: String) {
    var ranging = BeaconRanging(region: .init(uuid: Self.uuid))
    #expect(words(ranging.received(beacon(), rssi: rssi, at: .zero)) == ["entered 1 \(proximity)"])
  }

  @Test("At a border nothing changes until the average is 2 dB beyond it, in either direction")
  func hysteresis() {
    var ranging = BeaconRanging(region: .init(uuid: Self.uuid))
    #expect(words(ranging.received(beacon(), rssi: -70, at: .zero)) == ["entered 1 near"])
    func hear(_ rssi: Int) -> [String] {
      // Often enough for the average to come within a hundredth of a dB.
      (0..<60).flatMap { _ in words(ranging.received(beacon(), rssi: rssi, at: .zero)) }
    }
    #expect(hear(-72).isEmpty && hear(-70).isEmpty)
    #expect(hear(-74) == ["moved 1 far"])
    #expect(hear(-72).isEmpty && hear(-70).isEmpty)
    #expect(hear(-68) == ["moved 1 near"])
    #expect(hear(-52).isEmpty)
    #expect(hear(-50) == ["moved 1 immediate"])
    #expect(hear(-54).isEmpty)
    #expect(hear(-56) == ["moved 1 near"])
    #expect(hear(-40) == ["moved 1 immediate"])
    #expect(hear(-100) == ["moved 1 near", "moved 1 far"])
  }

  @Test("A single weak packet moves nothing")
  func average() {
    var ranging = BeaconRanging(region: .init(uuid: Self.uuid))
    _ = ranging.received(beacon(), rssi: -60, at: .zero)
    #expect(ranging.received(beacon(), rssi: -100, at: .zero).isEmpty)
    #expect(ranging.beacons.first?.rssi == -68)
    #expect(ranging.beacons.first?.loss == 9)
  }

  @Test("Without a signal strength the proximity is not known, until there is one")
  func unknown() {
    var ranging = BeaconRanging(region: .init(uuid: Self.uuid))
    #expect(words(ranging.received(beacon(), rssi: nil, at: .zero)) == ["entered 1 unknown"])
    #expect(words(ranging.received(beacon(), rssi: -60, at: .zero)) == ["moved 1 near"])
    #expect(ranging.received(beacon(), rssi: nil, at: .zero).isEmpty)
  }

  @Test("The number of beacons is limited: the one unheard for longest is removed")
  func bound() {
    var ranging = BeaconRanging(region: .init(uuid: Self.uuid))
    for minor in 0..<UInt16(BeaconRanging.limit) { _ = ranging.received(beacon(1, minor), rssi: -60, at: .zero) }
    _ = ranging.received(beacon(1, 0), rssi: -60, at: at(1))
    #expect(words(ranging.received(beacon(2, 999), rssi: -60, at: at(2))) == ["exited 1 near", "entered 999 near"])
    #expect(ranging.beacons.count == BeaconRanging.limit)
  }
}
