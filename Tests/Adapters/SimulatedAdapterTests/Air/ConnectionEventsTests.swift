import Adapter
import Bluetooth
import Testing

@testable import SimulatedAdapter

/// Links that use one of several connection events (Core 5.4, Vol 6, Part B, 4.5.1).
@Suite(.onBothAirs) struct ConnectionEventsTests {
  private let sparing = ConnectionParameters(
    interval: .milliseconds(30)...(.milliseconds(30)), supervisionTimeout: .seconds(6), subrate: 3...4, continuation: 1)

  /// The adapter's name in errors.
  private static var adapter: String { Airs.isVirtual ? "the controller of simulated" : "the adapter" }

  private static func world(_ device: String = "", adapter: String = "") throws -> AdapterStage {
    try AdapterStage.on(
      """
      { adapter: { \(adapter) },
        devices: [{ name: "a", address: "C0:DE:00:00:00:01", addressType: "random", connectDelay: 0, \(device) }] }
      """)
  }

  @Test("A new link uses each event, then the lowest factor that is wanted, and each again for who wants that")
  func factors() throws {
    let world = try Self.world()
    let link = try #require(world.connect(1, sparing))
    #expect(link.parameters?.subrate == 1)
    var told: [LinkParameters?] = [link.parameters]
    link.onEvent = { event in
      guard case .parametersChanged = event, told.last != link.parameters else { return }
      told.append(link.parameters)
    }
    link.request(sparing) { #expect($0 == nil) }
    world.scheduler.advance(by: .seconds(1))
    var plain = sparing
    (plain.subrate, plain.continuation) = (1...1, 0)
    link.request(plain) { #expect($0 == nil) }
    world.scheduler.advance(by: .seconds(1))
    let usual = LinkParameters(interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(6))
    var subrated = usual
    (subrated.subrate, subrated.continuation) = (3, 1)
    #expect(told == [usual, subrated, usual])
  }

  @Test("Where one side lacks it the error names that side, and the rest is in force")
  func lacking() throws {
    for (world, side) in [
      (try Self.world("radio: { subrating: false }"), "C0:DE:00:00:00:01"),
      (try Self.world(adapter: "radio: { subrating: false }"), Self.adapter),
    ] {
      let link = try #require(world.connect(1))
      var outcome: BluetoothError?
      link.request(sparing) { outcome = $0 }
      world.scheduler.advance(by: .seconds(1))
      #expect(outcome?.message == "\(side) does not have connection subrating" && outcome?.name == "notSupported")
      #expect(
        link.parameters
          == LinkParameters(interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(6)))
    }
  }

  @Test("Intervals below 7.5 ms: each side can lack them, and gives 7.5 ms then")
  func shortIntervals() throws {
    let quick = ConnectionParameters(interval: .microseconds(1250)...(.microseconds(1500)))
    let cases: [(AdapterStage, String?)] = [
      (try Self.world(), nil),
      (try Self.world("radio: { shortIntervals: false }"), "C0:DE:00:00:00:01"),
      (try Self.world(adapter: "radio: { shortIntervals: false }"), Self.adapter),
    ]
    for (world, side) in cases {
      let link = try #require(world.connect(1))
      var outcome: [BluetoothError?] = []
      link.request(quick) { outcome.append($0) }
      world.scheduler.advance(by: .seconds(1))
      let end = Airs.isVirtual ? ": 7.5 ms is the shortest" : ""
      #expect(outcome.map(\.?.message) == [side.map { "\($0) does not have shorter connection intervals\(end)" }])
      #expect(link.parameters?.interval == .microseconds(side == nil ? 1250 : 7500))
    }
  }

  @Test(
    "Packets wait for an event that is used: each factor-th, and those after one with data",
    .onSimulatedAir("its controller has LinkRateTests"))
  func events() {
    var parameters = LinkParameters(interval: .milliseconds(10), latency: 0, supervisionTimeout: .seconds(4))
    (parameters.subrate, parameters.continuation) = (5, 2)
    var events = ConnectionEvents(parameters, from: .zero)
    func at(_ milliseconds: Int) -> Instant { .zero.advanced(by: .milliseconds(milliseconds)) }
    #expect(events.next(after: at(0)) == at(50))
    #expect(events.next(after: at(50)) == at(100))
    events.carriedData(at: at(50))
    #expect(events.next(after: at(50)) == at(60))
    #expect(events.next(after: at(69)) == at(70))
    #expect(events.next(after: at(70)) == at(100))
    parameters.subrate = 1
    #expect(ConnectionEvents(parameters, from: at(5)).next(after: at(5)) == at(15))
  }
}
