import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// Devices that violate the protocol.
@Suite(.onBothAirs) struct MisbehaviourTests {
  private static func world(_ faults: String) throws -> AdapterStage {
    try AdapterStage.on(
      """
      { devices: [{ name: "odd", address: "C0:DE:00:00:00:01", addressType: "random", faults: \(faults), services: [
          { uuid: "180F", characteristics: [{ uuid: "2A19", properties: ["read"], value: "64" }] },
          { uuid: "180D", characteristics: [{ uuid: "2A38", properties: ["read", "notify"], value: "01" }] }] }] }
      """)
  }

  @Test func aMuteDeviceAnswersUntilItFallsSilent() throws {
    let world = try Self.world("{ mute: 5 }")
    let link = try #require(world.connect(1))
    let client = Client(link, world)
    let level = try #require(try client.find(0x2A19))
    #expect(try client.run(.read(level.valueHandle)) == .value([0x64]))
    world.scheduler.advance(by: .seconds(5))
    let before = world.scheduler.now
    #expect(throws: GATTError.self) { try client.run(.read(level.valueHandle)) }
    #expect(abs(before.duration(to: world.scheduler.now).inSeconds - 30) < 1)
  }

  @Test("Values that the adapter loses are told, and nothing else is lost")
  func lostValues() throws {
    let world = try AdapterStage.on(
      """
      { devices: [{ name: "odd", address: "C0:DE:00:00:00:01", addressType: "random", losses: { value: 0.5 }, services: [
          { uuid: "180D", characteristics: [
            { uuid: "2A37", properties: ["notify"], notifyEvery: 1, rule: { kind: "counter", as: "uint8" } }] }] }] }
      """)
    let link = try #require(world.connect(1))
    let client = Client(link, world)
    var lost = 0
    let forward = link.onEvent
    link.onEvent = { event in
      if case .lost(let count) = event { lost += count }
      forward?(event)
    }
    let rate = try #require(try client.find(0x2A37))
    try client.subscribe(rate, .notification)
    world.scheduler.advance(by: .seconds(100.5))
    #expect(lost + client.values.count == 100)
    #expect((30...70).contains(lost))
  }

  @Test func nonsenseEndsEveryProcedureAllTheSame() throws {
    let world = try Self.world("{ nonsense: 1 }")
    let link = try #require(world.connect(1))
    let client = Client(link, world)
    #expect(throws: GATTError.self) { try client.run(.discoverServices(.primary)) }
  }

  @Test func servicesComeAndGoAndThePeerIsTold() throws {
    let world = try Self.world("{ changeServices: [10, 10] }")
    let link = try #require(world.connect(1))
    let client = Client(link, world)
    let changed = try #require(try client.find(0x2A05))
    try client.subscribe(changed, .indication)
    #expect(try client.find(0x2A38) != nil)
    world.scheduler.advance(by: .seconds(10))
    #expect(try client.find(0x2A38) == nil)
    #expect(client.values.map(\.handle) == [changed.valueHandle])
    world.scheduler.advance(by: .seconds(10))
    let back = try #require(try client.find(0x2A38))
    #expect(client.values.count == 2)
    #expect(try client.run(.read(back.valueHandle)) == .value([1]))
  }
}
