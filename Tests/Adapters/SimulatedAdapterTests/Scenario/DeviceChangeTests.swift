import Adapter
import Bluetooth
import GATT
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// Devices that change on command while they are on the air.
@Suite(.onBothAirs) struct DeviceChangeTests {
  private static let body = """
    { uuid: "180D", characteristics: [
        { uuid: "2A38", properties: ["read", "write", "writeWithoutResponse", "notify"], value: "01" }] }
    """

  private let world: AdapterStage

  init() throws {
    world = try AdapterStage.on(
      """
      { devices: [{ name: "belt", address: "C0:DE:00:00:00:01", addressType: "random", rssi: -50,
          services: [\(Self.body)] }] }
      """)
  }

  private func change(_ members: String) throws { try world.air.command("belt", change: members) }

  /// The duration of a read in seconds, and its result.
  private func read(_ client: Client) throws -> (seconds: Double, outcome: Result<GATTResult, any Error>) {
    let found = try #require(try client.find(0x2A38))
    let before = world.scheduler.now
    let outcome = Result { try client.run(.read(found.valueHandle)) }
    return (before.duration(to: world.scheduler.now).inSeconds, outcome)
  }

  @Test("a device falls silent on its link, and speaks again")
  func silence() throws {
    let client = Client(try #require(world.connect(1)), world)
    try change("{ faults: { mute: 0 } }")
    try change("{ faults: {} }")
    #expect(try read(client).outcome.get() == .value([1]))
    try change("{ faults: { mute: 0 } }")
    #expect(throws: GATTError.self) { try client.run(.discoverServices(.primary)) }
  }

  @Test("a number of requests is answered with an error, and reads are answered late until that is taken back")
  func answers() throws {
    let client = Client(try #require(world.connect(1)), world)
    try change(#"{ faults: { answers: [{ characteristic: "2A38", request: "read", error: 14, count: 2 }] } }"#)
    for _ in 0..<2 {
      #expect(throws: GATTError.self) { try read(client).outcome.get() }
    }
    #expect(try read(client).outcome.get() == .value([1]))
    try change(#"{ faults: { answers: [{ delay: 4 }] } }"#)
    #expect((4..<5).contains(try read(client).seconds))
    try change("{ faults: {}, responseDelay: 2 }")
    #expect((2..<3).contains(try read(client).seconds))
    #expect(throws: BluetoothError.self) { try change("{ faults: { answers: [{ error: 256 }] } }") }
    #expect(throws: BluetoothError.self) { try change(#"{ address: "C0:DE:00:00:00:02" }"#) }
  }

  @Test("a late answer holds up the answers of its link alone")
  func lateLink() throws {
    let first = Client(try #require(world.connect(1)), world)
    let handle = try #require(try first.find(0x2A38)).valueHandle
    try change("{ faults: { answers: [{ delay: 20 }] } }")
    first.start(.read(handle))
    world.scheduler.advance(by: .seconds(1))
    first.link.disconnect()
    world.scheduler.advance(by: .seconds(1))
    #expect(first.reason != nil)
    try change("{ faults: {} }")
    let second = Client(try #require(world.connect(1)), world)
    let before = world.scheduler.now
    #expect(try second.run(.read(handle)) == .value([1]))
    #expect(before.duration(to: world.scheduler.now) < .seconds(5))
  }

  @Test("services come and go; one that stays the same keeps its handles")
  func services() throws {
    let client = Client(try #require(world.connect(1)), world)
    let before = try #require(try client.find(0x2A38)).valueHandle
    let battery = #"{ uuid: "180F", characteristics: [{ uuid: "2A19", value: "64" }] }"#
    try change("{ services: [\(Self.body), \(battery)] }")
    #expect(try client.find(0x2A38)?.valueHandle == before)
    let level = try #require(try client.find(0x2A19))
    #expect(try client.run(.read(level.valueHandle)) == .value([0x64]))
    try change("{ services: [\(battery)] }")
    #expect(try client.find(0x2A38) == nil)
    #expect(try client.find(0x2A19) != nil)
    try change("{ services: [] }")
    #expect(try client.find(0x2A19) == nil)
  }

  @Test("values of a service that stays go on, while others go away and come back")
  func valuesGoOn() throws {
    func service(_ uuid: String, _ value: String) -> String {
      #"{ uuid: "\#(uuid)", characteristics: ["#
        + #"{ uuid: "2A1C", properties: ["indicate"], notifyEvery: 1, value: "\#(value)" }] }"#
    }
    let last = """
      { uuid: "180F", characteristics: [{ uuid: "2A19", properties: ["notify"], notifyEvery: 1, value: "64" }] }
      """
    try change("{ services: [\(service("1809", "01")), \(last)] }")
    let client = Client(try #require(world.connect(1)), world)
    try client.subscribe(try #require(try client.find(0x2A1C)), .indication)
    try client.subscribe(try #require(try client.find(0x2A19)), .notification)
    world.scheduler.advance(by: .seconds(3))
    try change("{ services: [\(last)] }")
    for _ in 0..<3 {
      try change("{ services: [\(service("1809", "02")), \(last)] }")
      try change("{ services: [\(last)] }")
    }
    let before = client.values.count
    world.scheduler.advance(by: .seconds(5))
    let later = client.values.dropFirst(before).map(\.value)
    #expect(later.count >= 4 && later.allSatisfy { $0 == [0x64] }, "\(later)")
  }

  @Test("the signal, the advertising data and the losses are others")
  func air() throws {
    try change(#"{ rssi: -90, advertising: { name: "other" } }"#)
    world.adapter.setScan(ScanParameters())
    world.scheduler.advance(by: .seconds(2))
    #expect(world.reports.contains { $0.rssi == -90 && AdvertisingData(parsing: $0.data).localName == "other" })
    try change("{ losses: { report: 1 } }")
    world.forget()
    world.scheduler.advance(by: .seconds(2))
    #expect(world.reports.isEmpty)
    try change("{ losses: {} }")
    _ = try #require(world.connect(1))
    world.forget()
    try change("{ losses: { link: 1 } }")
    world.scheduler.advance(by: .seconds(30))
    #expect(world.trace.contains { $0.hasPrefix("ended") && $0.hasSuffix("connectionTimeout") }, "\(world.trace)")
  }

  @Test("what was written is listed, with and without response, and subscriptions; the newest are kept")
  func written() throws {
    let client = Client(try #require(world.connect(1)), world)
    let found = try #require(try client.find(0x2A38))
    _ = try client.run(.write(found.valueHandle, [7]))
    _ = try client.run(.writeWithoutResponse(found.valueHandle, [8]))
    try client.subscribe(found, .notification)
    let air = world.air
    let entries = air.writes.entries(after: 0, device: "belt", limit: 10)
    #expect(entries.map(\.operation) == [.write, .writeWithoutResponse, .subscribe])
    #expect(entries.map(\.value) == [[7], [8], [1, 0]] && entries.map(\.number) == [1, 2, 3])
    #expect(air.writes.entries(after: 1, device: nil, limit: 1).map(\.value) == [[8]])
    #expect(air.writes.entries(after: 0, device: "lamp", limit: 10) == [])
    for index in 0..<1000 { world.context.writes.add(.write, "belt", 0x2A38, [UInt8(index % 256)], 0) }
    let kept = air.writes.entries(after: 0, device: nil, limit: 2000)
    #expect(kept.count == 1000 && kept.first?.number == 4 && kept.last?.number == 1003)
  }
}
