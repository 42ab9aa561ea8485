import Bluetooth
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// Values of a recording.
@Suite(.onBothAirs) struct RecordedReplayTests {
  private static let scenario = """
    { devices: [{ name: "Belt", address: "C0:DE:00:00:00:01", addressType: "random", services: [{ uuid: "180D",
      characteristics: [
        { uuid: "2A37", properties: ["notify"], rule: { kind: "recording", sent: [
          { after: 0.5, value: "01" }, { after: 2, value: "02" }] } },
        { uuid: "2A38", value: "0A", rule: { kind: "recording", read: [
          { at: 20, value: "0B" }, { at: 40, value: "0C" }] } },
      ] }] }] }
    """

  @Test("values are sent in the time of the recording, from the subscription on, and then again")
  func sent() throws {
    let world = try AdapterStage.on(Self.scenario)
    let client = Client(try #require(world.connect(1)), world)
    let rate = try #require(try client.find(0x2A37))
    world.scheduler.advance(by: .seconds(5))
    try client.subscribe(rate, .notification)
    let begun = world.scheduler.now
    world.scheduler.advance(by: .milliseconds(5_300))
    #expect(client.values.map(\.value) == [[1], [2], [1], [2]])
    let times = client.values.map { begun.duration(to: $0.time).inSeconds }
    #expect(zip(times, [0.5, 2.5, 3, 5]).allSatisfy { abs($0 - $1) < 0.1 }, "\(times)")
  }

  @Test("the value that is read depends on the time since the connection")
  func read() throws {
    let world = try AdapterStage.on(Self.scenario)
    let link = try #require(world.connect(1))
    let client = Client(link, world)
    let location = try #require(try client.find(0x2A38))
    var values: [[UInt8]] = []
    for _ in 0..<3 {
      if case .value(let value) = try client.run(.read(location.valueHandle)) { values.append(value) }
      world.scheduler.advance(by: .seconds(20))
    }
    #expect(values == [[0x0A], [0x0B], [0x0C]])
  }

  @Test(
    "a rule that cannot be followed is refused",
    arguments: [
      (
        """
        { uuid: "2A37", properties: ["write"], rule: { kind: "recording", read: [{ at: 1, value: "01" }] } }
        """, "read"
      ),
      (#"{ uuid: "2A37", rule: { kind: "recording", sent: [{ after: 1, value: "01" }] } }"#, "sent"),
      (
        """
        { uuid: "2A37", properties: ["notify"], notifyEvery: 1, rule: { kind: "recording",
          sent: [{ after: 1, value: "01" }] } }
        """, "notifyEvery"
      ),
    ])
  func refused(characteristic: String, word: String) throws {
    let text = """
      { devices: [{ name: "A", address: "C0:DE:00:00:00:01", services: [{ uuid: "180D",
        characteristics: [\(characteristic)] }] }] }
      """
    let error = #expect(throws: (any Error).self) { try Scenario(json: text) }
    #expect("\(try #require(error))".contains(word))
  }
}
