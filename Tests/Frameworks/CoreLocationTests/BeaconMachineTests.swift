import Beacons
import Bluetooth
import Testing

@testable import CoreLocation

@Suite struct BeaconMachineTests {
  private static let uuid = BluetoothUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private let house = BeaconRanging.Region(uuid: uuid)
  private let beacon = IBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: -59)

  /// A moment this number of seconds after the first.
  private func after(_ seconds: Double) -> Instant { Instant.zero.advanced(by: .seconds(seconds)) }

  /// A machine that monitors the house, with Bluetooth.
  private func monitoring(tellsEntry: Bool = true, tellsExit: Bool = true) -> BeaconMachine {
    var machine = BeaconMachine()
    let waiting = machine.monitor("house", house, tellsEntry: tellsEntry, tellsExit: tellsExit, at: after(0))
    #expect(waiting.isEmpty)
    #expect(machine.deadline == nil)
    let started = machine.changed(.usable, at: after(0))
    #expect(started == [.monitoringStarted("house")])
    return machine
  }

  @Test func aRegionIsEnteredAndLeft() {
    var machine = monitoring()
    #expect(machine.regions == [house])
    #expect(
      machine.received(beacon, rssi: -60, at: after(1)) == [.determined("house", .inside), .entered("house")])
    #expect(machine.received(beacon, rssi: -60, at: after(3)) == [])
    #expect(machine.ask("house", at: after(3)) == [.determined("house", .inside)])
    #expect(machine.deadline == after(13))
    #expect(machine.tick(at: after(12)) == [])
    #expect(machine.tick(at: after(13)) == [.determined("house", .outside), .exited("house")])
    #expect(machine.deadline == nil)
    #expect(machine.received(beacon, rssi: -60, at: after(20)).contains(.entered("house")))
  }

  @Test func outsideIsKnownAfterFiveSecondsAndNothingIsLeft() {
    var machine = monitoring()
    #expect(machine.ask("house", at: after(0)) == [])
    #expect(machine.deadline == after(5))
    #expect(machine.tick(at: after(4.9)) == [])
    #expect(machine.tick(at: after(5)) == [.determined("house", .outside)])
    #expect(machine.deadline == nil)
    #expect(machine.ask("house", at: after(5)) == [.determined("house", .outside)])
    #expect(machine.ask("elsewhere", at: after(5)) == [.determined("elsewhere", .unknown)])
  }

  @Test func aQuestionIsAnsweredAlsoWhileBluetoothStarts() {
    var machine = BeaconMachine()
    _ = machine.monitor("house", house, tellsEntry: true, tellsExit: true, at: after(0))
    #expect(machine.ask("house", at: after(1)) == [])
    #expect(machine.ask("house", at: after(2)) == [])
    #expect(machine.deadline == after(6))
    #expect(machine.tick(at: after(6)) == [.determined("house", .unknown)])
    #expect(machine.deadline == nil)
    #expect(machine.ask("house", at: after(7)) == [])
    #expect(machine.changed(.usable, at: after(8)) == [.monitoringStarted("house")])
    #expect(machine.tick(at: after(12)) == [.determined("house", .unknown)])
    #expect(machine.tick(at: after(13)) == [.determined("house", .outside)])
  }

  @Test func listsAreInTheOrderOfTheirNumbers() {
    var machine = BeaconMachine()
    _ = machine.changed(.usable, at: after(0))
    let regions = [nil, 2, 10].map { BeaconRanging.Region(uuid: Self.uuid, major: $0) }
    for region in regions.reversed() { _ = machine.range(region, at: after(0)) }
    #expect(machine.tick(at: after(1)) == regions.map { .ranged($0, []) })
    let failure = BeaconMachine.Failure.unavailable("off")
    #expect(machine.changed(.unusable(failure), at: after(2)) == regions.map { .rangingFailed($0, failure) })
  }

  @Test func onlyWantedChangesAreTold() {
    var silent = monitoring(tellsEntry: false)
    #expect(silent.received(beacon, rssi: -60, at: after(1)) == [])
    #expect(silent.tick(at: after(11)) == [.determined("house", .outside), .exited("house")])
    var asked = monitoring(tellsEntry: false)
    _ = asked.ask("house", at: after(0))
    #expect(asked.received(beacon, rssi: -60, at: after(1)) == [.determined("house", .inside)])
    var entries = monitoring(tellsExit: false)
    #expect(entries.received(beacon, rssi: -60, at: after(1)).contains(.entered("house")))
    #expect(entries.tick(at: after(11)) == [])
  }

  @Test func aPauseIsNoAbsence() {
    var machine = monitoring()
    _ = machine.received(beacon, rssi: -60, at: after(1))
    #expect(machine.changed(.paused, at: after(2)) == [])
    #expect(machine.deadline == nil && machine.tick(at: after(60)) == [])
    #expect(machine.changed(.usable, at: after(60)) == [])
    #expect(machine.deadline == after(70))
    // Still inside: there is nothing to report, or after ten seconds the end.
    var there = machine
    #expect(there.received(beacon, rssi: -60, at: after(61)) == [])
    #expect(machine.tick(at: after(70)) == [.determined("house", .outside), .exited("house")])
  }

  @Test func withoutBluetoothItFailsOnceAndGoesOnLater() {
    var machine = monitoring()
    _ = machine.range(house, at: after(0))
    _ = machine.ask("house", at: after(0))
    let failure = BeaconMachine.Failure.unavailable("off")
    #expect(
      machine.changed(.unusable(failure), at: after(1)) == [
        .monitoringFailed("house", failure), .determined("house", .unknown), .rangingFailed(house, failure),
      ])
    #expect(machine.changed(.unusable(failure), at: after(2)) == [])
    #expect(machine.ask("house", at: after(2)) == [.determined("house", .unknown)])
    #expect(machine.received(beacon, rssi: -60, at: after(2)) == [])
    #expect(machine.changed(.usable, at: after(3)) == [])
    #expect(machine.received(beacon, rssi: -60, at: after(3)).contains(.entered("house")))
    #expect(machine.tick(at: after(4)).count == 1)
  }

  @Test func aUserWhoMayNotScanIsDenied() {
    var machine = BeaconMachine()
    #expect(machine.changed(.unusable(.denied), at: after(0)) == [])
    #expect(machine.range(house, at: after(0)) == [.rangingFailed(house, .denied)])
    let events = machine.monitor("house", house, tellsEntry: true, tellsExit: true, at: after(0))
    #expect(events == [.monitoringFailed("house", .denied)])
    // With another policy both continue.
    #expect(machine.changed(.usable, at: after(5)) == [.monitoringStarted("house")])
    #expect(machine.tick(at: after(6)) == [.ranged(house, [])])
  }

  @Test func beaconsAreRangedEachSecond() {
    var machine = BeaconMachine()
    _ = machine.changed(.usable, at: after(0))
    #expect(machine.deadline == nil)
    #expect(machine.range(house, at: after(0)) == [])
    #expect(machine.range(house, at: after(0.5)) == [])
    #expect(machine.deadline == after(1))
    #expect(machine.tick(at: after(1)) == [.ranged(house, [])])
    _ = machine.received(beacon, rssi: -60, at: after(1.5))
    guard case .ranged(house, let list) = machine.tick(at: after(2)).first else { return #expect(Bool(false)) }
    #expect(list.map(\.beacon) == [beacon])
    // A late clock reports one list, not several.
    #expect(machine.tick(at: after(9.5)).count == 1)
    #expect(machine.tick(at: after(9.5)).count <= 1)
    machine.stopRanging(house)
    #expect(machine.deadline == nil && machine.regions.isEmpty)
  }

  @Test func twentyOfEachKindAreWatched() {
    var machine = BeaconMachine()
    for number in 0..<20 {
      let region = BeaconRanging.Region(uuid: Self.uuid, major: UInt16(number))
      #expect(machine.range(region, at: after(0)) == [])
      #expect(machine.monitor("\(number)", region, tellsEntry: true, tellsExit: true, at: after(0)) == [])
    }
    #expect(machine.range(house, at: after(0)) == [.rangingFailed(house, .limit)])
    #expect(
      machine.monitor("house", house, tellsEntry: true, tellsExit: true, at: after(0)) == [
        .monitoringFailed("house", .limit)
      ])
    #expect(machine.monitor("3", house, tellsEntry: true, tellsExit: true, at: after(0)) == [])
    #expect(machine.regions.count == 21)
  }
}
