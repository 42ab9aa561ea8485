import Adapter
import Bluetooth
import GATT
import Testing

@testable import Scenarios
@testable import SimulatedAdapter

/// Phones that visit on command.
@Suite(.onBothAirs) struct PhoneVisitTests {
  private let world: AdapterStage
  private let server: Server
  private let set = AdvertisingSetID(1)

  init() throws {
    world = try AdapterStage.on("{}")
    server = Server(
      world,
      [
        ServiceDefinition(
          uuid: 0x180F,
          characteristics: [
            CharacteristicDefinition(
              uuid: 0x2A19, properties: [.read, .write, .notify], permissions: .init(read: .open, write: .open),
              value: .stored([0x64]))
          ])
      ])
  }

  private func advertise() {
    world.adapter.setAdvertising(set, AdvertisingParameters(isConnectable: true, data: [2, 1, 6]))
  }

  private func phone(_ script: String) -> String {
    #"{ name: "Phone", address: "C0:DE:00:00:01:01", addressType: "random", stay: 0, script: [\#(script)] }"#
  }

  @Test("a phone connects, does its script, and reports each step; the next visit has another script")
  func steps() throws {
    var reports: [VisitReport] = []
    let script = """
      { do: "read" }, { do: "write", value: "07", characteristic: "2A19" }, { do: "subscribe" },
      { do: "read", characteristic: "2A00" }, { do: "read", characteristic: "2A38" }, { do: "wait", seconds: 2 }
      """
    try world.air.visit(phone(script)) { reports.append($0) }
    world.scheduler.advance(by: .seconds(20))
    #expect(reports.isEmpty, "nothing is advertised")
    #expect(throws: BluetoothError.self) { try world.air.visit(phone("")) { reports.append($0) } }
    advertise()
    world.scheduler.advance(by: .seconds(20))
    let report = try #require(reports.first)
    #expect(report.isComplete && reports.count == 1)
    #expect(report.steps.map(\.action) == ["discover", "read", "write", "subscribe", "read", "read"])
    #expect(report.steps[1].value == [0x64] && report.steps[4].value == Array("Server".utf8))
    #expect(report.steps[5].error?.name == "notSupported")
    try world.air.visit(phone(#"{ do: "read", characteristic: "2A19" }"#)) { reports.append($0) }
    world.scheduler.advance(by: .seconds(20))
    #expect(reports.count == 2 && reports.last?.steps.last?.value == [7])
  }

  @Test("a visit that nobody waits for does not begin, and another one of the phone takes its place")
  func unwanted() throws {
    var reports: [VisitReport] = []
    var isWanted = true
    let air = world.air
    try air.visit(phone(""), isWanted: { isWanted }) { _ in Issue.record("nobody waits for this visit") }
    isWanted = false
    advertise()
    world.scheduler.advance(by: .seconds(20))
    #expect(server.trace.isEmpty)
    try air.visit(phone(#"{ do: "read" }"#)) { reports.append($0) }
    world.scheduler.advance(by: .seconds(20))
    #expect(reports.map(\.isComplete) == [true])
    #expect(server.trace.count { $0.hasPrefix("connected") } == 1, "\(server.trace)")
  }

  @Test("a visit that is cut short is reported, too; descriptions that are wrong are refused")
  func cut() throws {
    var reports: [VisitReport] = []
    advertise()
    try world.air.visit(phone(#"{ do: "wait", seconds: 100 }"#)) { reports.append($0) }
    world.scheduler.advance(by: .seconds(20))
    world.staged.vanish()
    world.scheduler.advance(by: .seconds(20))
    #expect(reports.map(\.isComplete) == [false])
    #expect(throws: BluetoothError.self) { try world.air.visit("{ name: 3 }") { _ in } }
  }
}
