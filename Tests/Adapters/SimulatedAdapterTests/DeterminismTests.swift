import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// Chance from a seed: the same seed gives the same events at the same times.
struct DeterminismTests {
  /// A minute of everything at once, as text.
  private func trace(seed: UInt64) throws -> [String] {
    let world = try AdapterStage.on(Self.scenario, seed: seed)
    world.adapter.setScan(ScanParameters())
    let packed = try AdvertisingContent(name: "Us").packed()
    world.adapter.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: packed.data))
    world.adapter.connect(to: AdapterStage.address(2), ConnectionParameters())
    var values: [String] = []
    if let link = world.connect(1) {
      let client = Client(link, world)
      if let characteristic = try client.find(0x2A37) { try client.subscribe(characteristic, .notification) }
      world.scheduler.advance(by: .seconds(60))
      values = client.values.map { "\($0.time.nanoseconds) \($0.value)" }
    }
    let reports = world.reports.map { report in
      "\(report.time.nanoseconds) \(String(describing: report.address)) \(report.rssi ?? 0)"
    }
    return world.trace + reports + values
  }

  private static let scenario = """
    { devices: [
        { name: "a", address: "C0:DE:00:00:00:01", addressType: "random", losses: { connect: 0.4, report: 0.2 },
          rssi: { base: -60, noise: 5, walk: 1 }, connectDelay: [0, 1], responseDelay: [0, 0.1],
          services: [{ uuid: "180D", characteristics: [{ uuid: "2A37", properties: ["notify"], notifyEvery: 1,
            rule: { kind: "randomWalk", minimum: 0, maximum: 255, step: 20 } }] }] },
        { name: "b", address: "C0:DE:00:00:00:02", addressType: "random", interval: 0.3, disconnectAfter: [1, 10] } ],
      phones: [{ name: "p", address: "C0:DE:00:00:01:01", stay: [1, 5], returnAfter: [1, 5] }] }
    """

  @Test func theSameSeedGivesTheSameTrace() throws {
    let first = try trace(seed: 42)
    #expect(first.count > 200)
    #expect(try trace(seed: 42) == first)
  }

  @Test func anotherSeedGivesAnother() throws {
    #expect(try trace(seed: 42) != trace(seed: 43))
  }

  @Test func streamsDifferAndNumbersAreEvenlySpread() {
    var generator = SeededGenerator(seed: 0, stream: 0)
    let numbers = (0..<3).map { _ in generator.next() }
    var same = SeededGenerator(seed: 0, stream: 0)
    #expect((0..<3).map { _ in same.next() } == numbers)
    var other = SeededGenerator(seed: 0, stream: 1)
    #expect(other.next() != numbers[0])
    let spread = (0..<10_000).map { _ in generator.number(in: 0...1) }
    #expect(spread.allSatisfy { (0...1).contains($0) })
    #expect(abs(spread.reduce(0, +) / 10_000 - 0.5) < 0.02)
  }
}
