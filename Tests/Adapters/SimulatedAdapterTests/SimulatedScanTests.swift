import Adapter
import Bluetooth
import Testing

@testable import SimulatedAdapter

/// Scanning for simulated devices.
@Suite(.onBothAirs) struct SimulatedScanTests {
  private let always = ScanParameters(isActive: false, interval: .milliseconds(60), window: .milliseconds(60))
  private static let two = """
    { devices: [
      { name: "One", address: "C0:DE:00:00:00:01", addressType: "random", interval: 0.1,
        advertising: { name: "One" }, rssi: -50 },
      { name: "Two", address: "C0:DE:00:00:00:02", addressType: "random", interval: 1, connectable: false,
        advertising: { services: ["180F"] }, rssi: { base: -70, noise: 5, walk: 1 } } ] }
    """

  @Test func advertisementsComeAtTheirIntervalAndARandomDelay() throws {
    let world = try AdapterStage.on(Self.two)
    world.adapter.setScan(always)
    world.scheduler.advance(by: .seconds(100))
    let times = world.reports.filter { $0.address == AdapterStage.address(1) }.map(\.time)
    let gaps = zip(times, times.dropFirst()).map { $0.duration(to: $1) }
    #expect(gaps.allSatisfy { $0 >= .milliseconds(100) && $0 <= .milliseconds(110) })
    let mean = (gaps.reduce(.zero, +) / gaps.count).inSeconds
    #expect(abs(mean - 0.105) < 0.001)
    #expect(Set(gaps.map(\.wholeNanoseconds)).count > 100)
    #expect(world.reports.filter { $0.address == AdapterStage.address(2) }.count >= 98)
  }

  @Test func scanResponsesComeOnlyInAnActiveScanAndFromThoseThatAnswer() throws {
    let world = try AdapterStage.on(Self.two)
    world.adapter.setScan(always)
    world.scheduler.advance(by: .seconds(3))
    #expect(!world.reports.isEmpty)
    #expect(!world.reports.contains { $0.isScanResponse })
    world.forget()
    world.adapter.setScan(ScanParameters(isActive: true, interval: .milliseconds(60), window: .milliseconds(60)))
    world.scheduler.advance(by: .seconds(3))
    let one = world.reports.filter { $0.address == AdapterStage.address(1) }
    #expect(one.count { $0.isScanResponse } == one.count / 2)
    #expect(one.allSatisfy { $0.isConnectable && $0.isScannable })
    let two = world.reports.filter { $0.address == AdapterStage.address(2) }
    #expect(two.count >= 2)
    #expect(two.allSatisfy { !$0.isScanResponse && !$0.isConnectable && !$0.isScannable })
    #expect(AdvertisingData(parsing: two[0].data).serviceUUIDs == [0x180F])
  }

  @Test func onlyWhatFallsIntoAWindowIsHeard() throws {
    let world = try AdapterStage.on(Self.two)
    world.adapter.setScan(always)
    world.scheduler.advance(by: .seconds(60))
    let all = world.reports.count
    world.forget()
    world.adapter.setScan(ScanParameters(isActive: false, interval: .milliseconds(100), window: .milliseconds(25)))
    world.scheduler.advance(by: .seconds(60))
    #expect((all / 6..<all / 3).contains(world.reports.count))
  }

  @Test func theSignalMovesAroundItsBase() throws {
    let world = try AdapterStage.on(Self.two)
    world.adapter.setScan(always)
    world.scheduler.advance(by: .seconds(300))
    let fixed = world.reports.filter { $0.address == AdapterStage.address(1) }.compactMap(\.rssi)
    #expect(Set(fixed) == [-50])
    let moving = world.reports.filter { $0.address == AdapterStage.address(2) }.compactMap(\.rssi)
    #expect(Set(moving).count > 5)
    #expect(moving.allSatisfy { (-90 ... -50).contains($0) })
  }

  @Test func someAdvertisementsAreMissed() throws {
    let world = try AdapterStage.on(
      """
      { devices: [{ name: "a", address: "C0:DE:00:00:00:01", addressType: "random", losses: { report: 0.75 } }] }
      """)
    world.adapter.setScan(always)
    world.scheduler.advance(by: .seconds(105))
    #expect((180...320).contains(world.reports.count))
  }

  @Test func nothingIsHeardWithoutAScanAndNothingIsToldFromInsideACall() throws {
    let world = try AdapterStage.on(Self.two)
    world.scheduler.advance(by: .seconds(5))
    #expect(world.reports.isEmpty)
    world.forget()
    world.adapter.setScan(always)
    #expect(world.trace.isEmpty)
    world.scheduler.advance(by: .zero)
    #expect(world.trace == ["scanning true"])
    world.adapter.setScan(nil)
    #expect(world.trace == ["scanning true"])
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace == ["scanning true", "scanning false"])
    let count = world.reports.count
    world.scheduler.advance(by: .seconds(5))
    #expect(world.reports.count == count)
  }

  @Test(.onSimulatedAir("a host checks a controller that reports nothing")) func aQuietAirWakesNobody() throws {
    let world = try AdapterStage.on()
    world.adapter.setScan(always)
    world.scheduler.advance(by: .seconds(5))
    world.adapter.setScan(nil)
    world.scheduler.advance(by: .seconds(1))
    // Without alarms the clock advances to its limit in one step.
    var steps = 0
    world.scheduler.run(for: .seconds(3600)) {
      steps += 1
      return false
    }
    #expect(steps < 10)
  }

  @Test func devicesLeaveTheAirAndComeBack() throws {
    let world = try AdapterStage.on(
      """
      { devices: [{ name: "a", address: "C0:DE:00:00:00:01", addressType: "random" }],
        events: [{ at: 10, action: "vanish", device: "a" }, { at: 20, action: "comeBack", device: "a" }] }
      """)
    world.adapter.setScan(always)
    world.scheduler.advance(by: .seconds(30))
    let times = world.reports.map { Instant.zero.duration(to: $0.time).inSeconds }
    #expect(times.contains { $0 < 10 })
    #expect(!times.contains { $0 > 10.1 && $0 < 20 })
    #expect(times.contains { $0 > 20 })
  }
}
