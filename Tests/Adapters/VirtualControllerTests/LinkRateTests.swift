import Adapter
import Bluetooth
import HCI
import Testing

@testable import VirtualController

/// Subrating and intervals below 7.5 ms.
@Suite struct LinkRateTests {
  private static let all = ControllerFeatures(
    first: ControllerFeatures.subrating, more: ControllerFeatures.shortIntervals)
  private static let limits = AcceptableRates(
    subrate: ConnectionRate(1, 10, latency: 1, timeout: 0x0C80),
    rate: ConnectionRate { ($0.subrateMax, $0.intervalMin, $0.intervalMax) = (10, 8, 240) })

  /// Two ends that know each other's features.
  private static func pair(_ acceptable: AcceptableRates = limits) -> ProcedurePair {
    var pair = ProcedurePair(features: all, acceptable: acceptable)
    for procedure in [Procedure.features, .moreFeatures] {
      pair.begin(.central, procedure)
      pair.settle()
    }
    return pair
  }

  private static func subrate(
    _ factors: ClosedRange<UInt16>, latency: UInt16 = 0, continuation: UInt16 = 0
  ) -> Procedure {
    .subrate(
      ConnectionRate(
        factors.lowerBound, factors.upperBound, latency: latency, continuation: continuation, timeout: 600))
  }

  private static func rate(_ interval: UInt16, _ factor: UInt16 = 1) -> Procedure {
    .rate(
      ConnectionRate {
        ($0.intervalMin, $0.intervalMax, $0.subrateMin, $0.subrateMax) = (interval, interval, factor, factor)
        $0.supervisionTimeout = 600
      })
  }

  // MARK: - Procedures

  @Test("The lowest factor is used by both sides, and events after one with data")
  func subrating() {
    var pair = Self.pair()
    pair.begin(.central, Self.subrate(3...4, continuation: 1), at: 10)
    pair.settle(at: 10)
    for role in [LinkRole.central, .peripheral] {
      #expect(pair.statuses(role) == [.success])
      #expect(pair.used(role, 10...20) == [10, 13, 16, 19])
      pair.ends[role]?.hadData(at: 13)
      #expect(pair.used(role, 10...20) == [10, 13, 14, 16, 19])
      #expect(pair.ends[role]?.times.timeout == 600)
    }
  }

  @Test("Until the acknowledgement the central uses the events of both")
  func transition() throws {
    var pair = Self.pair()
    pair.begin(.central, Self.subrate(4...4), at: 0)
    pair.settle(at: 0)
    pair.begin(.central, Self.subrate(3...3), at: 4)
    pair.arrive(at: 4, isAcknowledged: false)
    #expect(pair.used(.central, 4...13) == [4, 7, 8, 10, 12, 13] && pair.used(.peripheral, 4...13) == [4, 7, 10, 13])
    #expect(pair.statuses(.central) == [.success] && pair.statuses(.peripheral) == [.success, .success])
    pair.acknowledge(.subrate(Subrating(factor: 3, base: 4), latency: 0, timeout: 600), from: .central, at: 7)
    #expect(pair.used(.central, 4...13) == [4, 7, 10, 13] && pair.statuses(.central) == [.success, .success])
  }

  @Test("A peripheral has what the central's host allows")
  func peripheral() {
    for (factors, latency, status) in [
      (2...20, 1, HCIErrorCode.success), (11...20, 0, .unsupportedLMPParameterValue),
      (2...20, 2, .unsupportedLMPParameterValue),
    ] as [(ClosedRange<UInt16>, UInt16, HCIErrorCode)] {
      var pair = Self.pair()
      pair.begin(.peripheral, Self.subrate(factors, latency: latency))
      pair.settle()
      #expect(pair.statuses(.peripheral) == [status])
      #expect(pair.statuses(.central) == (status == .success ? [.success] : []))
      #expect(pair.used(.central, 0...4) == (status == .success ? [0, 2, 4] : [0, 1, 2, 3, 4]))
    }
    var plain = Self.pair(AcceptableRates())
    plain.begin(.peripheral, Self.subrate(2...2))
    plain.settle()
    #expect(plain.statuses(.peripheral) == [.unsupportedLMPParameterValue])
  }

  @Test("Requests of both sides collide")
  func collisions() {
    for (procedure, statuses) in [
      // The other side's change ends its own request, as an answer would.
      (Self.subrate(2...2), [.success]),
      (.phy(tx: 2, rx: 2), [.success, .differentTransactionCollision]),
      (Self.rate(24), [.success, .differentTransactionCollision]),
    ] as [(Procedure, [HCIErrorCode])] {
      var pair = Self.pair()
      pair.begin(.central, Self.subrate(3...3))
      pair.begin(.peripheral, procedure)
      // The request arrives before the acknowledgement.
      pair.arrive(at: 0, isAcknowledged: false)
      pair.settle()
      #expect(pair.statuses(.peripheral) == statuses)
      pair.acknowledge(.subrate(Subrating(factor: 3), latency: 0, timeout: 600), from: .central, at: 1)
      #expect(pair.statuses(.central) == [.success])
      #expect(pair.used(.central, 0...4) == [0, 3] && pair.used(.peripheral, 0...4) == [0, 3])
    }
  }

  @Test("Another interval ends subrating, an equal one does not")
  func update() {
    for (interval, used) in [(24, [100, 103]), (48, [100, 101, 102, 103])] as [(UInt16, [UInt16])] {
      var pair = Self.pair()
      pair.begin(.central, Self.subrate(3...3), at: 1)
      pair.settle(at: 1)
      pair.begin(.central, .parameters(LinkTimes(interval: interval, latency: 0, timeout: 400), minimum: 6), at: 4)
      pair.settle(at: 4)
      // The peripheral listens to six of them before the instant.
      #expect((5..<22).allSatisfy { pair.begins($0).isEmpty } && pair.begins(22).count == 2)
      for role in [LinkRole.central, .peripheral] { #expect(pair.used(role, 100...103) == used) }
    }
  }

  @Test("A short interval and a factor begin at the instant, which is a used event")
  func shortInterval() {
    var pair = Self.pair()
    pair.begin(.peripheral, Self.rate(8, 2), at: 7)
    pair.settle(at: 7)
    #expect(pair.statuses(.central).isEmpty && pair.begins(13).count == 2)
    for role in [LinkRole.central, .peripheral] {
      guard case .leConnectionRateChange(let event)? = pair.reports[role]?.last else {
        Issue.record("\(role) reports nothing")
        continue
      }
      #expect(event.interval == 8 && event.factor == 2 && event.supervisionTimeout == 600)
      #expect(pair.ends[role]?.times.duration == .milliseconds(1) && pair.used(role, 13...17) == [13, 15, 17])
    }
    pair.begin(.peripheral, Self.rate(6), at: 20)
    pair.settle(at: 20)
    #expect(pair.statuses(.peripheral) == [.success, .unsupportedLMPParameterValue])
  }

  // MARK: - Commands

  @Test("Wrong values, unknown links and missing features are refused")
  func refusals() throws {
    let scheduler = VirtualScheduler()
    let air = Air(scheduler: scheduler, seed: 1)
    let host = try RawHost(1, on: air, scheduler)
    #expect(host.ask(LESetHostFeature { ($0.bit, $0.value) = (38, 1) }) == .success)
    #expect(host.ask(LESetHostFeature { ($0.bit, $0.value) = (37, 1) }) == .unsupportedFeatureOrParameterValue)
    #expect(host.ask(LESetHostFeatureV2 { ($0.bit, $0.value) = (73, 1) }) == .success)
    for (maximum, latency, continuation) in [(501, 0, 0), (0, 0, 0), (100, 5, 0), (3, 0, 3)]
      as [(UInt16, UInt16, UInt16)]
    {
      #expect(
        host.ask(
          LESetDefaultSubrate {
            ($0.subrateMax, $0.maximumLatency, $0.continuationNumber) = (maximum, latency, continuation)
          }) == .invalidHCICommandParameters)
    }
    #expect(
      host.ask(LESetDefaultRateParameters { $0.rate.intervalMin = 2 }) == .invalidHCICommandParameters)
    #expect(host.ask(LESubrateRequest { $0.handle = 1 }) == .unknownConnectionIdentifier)
    #expect(host.ask(LEConnectionRateRequest { $0.handle = 1 }) == .unknownConnectionIdentifier)
    let old = try RawHost(2, on: air, scheduler) { $0.features = .bluetooth40 }
    #expect(old.ask(LESubrateRequest()) == .unknownHCICommand)
    #expect(old.ask(LEReadMinimumSupportedConnectionInterval()) == .unknownHCICommand)
    #expect(old.ask(LESetHostFeature()) == .unknownHCICommand)
  }

  // MARK: - Links

  private static let sparing = ConnectionParameters(
    interval: .milliseconds(30)...(.milliseconds(30)), supervisionTimeout: .seconds(6), subrate: 3...4, continuation: 1)

  @Test("Both hosts have a subrate, and packets wait for a used event", arguments: [LinkRole.central, .peripheral])
  func hosts(_ role: LinkRole) throws {
    let nodes = TwoNodes()
    nodes.connect()
    let node = role == .central ? nodes.central : nodes.peripheral
    var outcomes: [BluetoothError?] = []
    try #require(node.link).request(Self.sparing) { outcomes.append($0) }
    nodes.scheduler.advance(by: .seconds(5))
    #expect(outcomes == [nil])
    let parameters = LinkParameters(
      interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(6), subrate: 3, continuation: 1)
    #expect(nodes.central.link?.parameters == parameters && nodes.peripheral.link?.parameters == parameters)
    // An idle link costs nothing.
    #expect(nodes.scheduler.advance(to: nodes.scheduler.now.advanced(by: .seconds(600)), ringing: 20))
    var waits: Set<Duration> = []
    for number in UInt8(0)..<9 {
      nodes.scheduler.advance(by: .milliseconds(990))
      let start = nodes.scheduler.now
      try #require(nodes.central.link).send([number])
      nodes.scheduler.run(for: .seconds(1)) { nodes.peripheral.packets.last == [number] }
      waits.insert(start.duration(to: nodes.scheduler.now))
    }
    #expect(waits.allSatisfy { $0 <= .milliseconds(90) } && waits.contains { $0 > .milliseconds(31) })
  }

  @Test("A subrated link loses no packets, and is lost at its timeout")
  func losses() throws {
    let nodes = TwoNodes()
    nodes.connect()
    try #require(nodes.central.link).request(Self.sparing) { _ in }
    nodes.scheduler.advance(by: .seconds(5))
    nodes.setLoss(0.3)
    for number in UInt8(0)..<40 {
      try #require(nodes.central.link).send([number])
      try #require(nodes.peripheral.link).send([number])
      nodes.scheduler.advance(by: .milliseconds(500))
    }
    nodes.scheduler.advance(by: .seconds(20))
    let all = (UInt8(0)..<40).map { [$0] }
    #expect(nodes.central.packets == all && nodes.peripheral.packets == all)
    nodes.setLoss(1)
    nodes.scheduler.advance(by: .seconds(7))
    #expect(nodes.central.ends.map(\.code) == [0x08] && nodes.peripheral.ends.map(\.code) == [0x08])
  }

  @Test("Hosts have intervals below 7.5 ms, where both controllers have them")
  func shortHosts() throws {
    let quick = ConnectionParameters(interval: .microseconds(375)...(.microseconds(375)))
    for lacks in [false, true] {
      let nodes = TwoNodes(seed: 1, { _ in }, { if lacks { $0.moreFeatures = [] } })
      nodes.connect()
      var outcomes: [BluetoothError?] = []
      try #require(nodes.central.link).request(quick) { outcomes.append($0) }
      nodes.scheduler.advance(by: .seconds(5))
      #expect(outcomes.map { $0?.name } == [lacks ? "notSupported" : nil])
      #expect(nodes.central.link?.parameters?.interval == .microseconds(lacks ? 7500 : 375))
      #expect(nodes.central.link?.parameters == nodes.peripheral.link?.parameters)
      try #require(nodes.central.link).send([1])
      nodes.scheduler.advance(by: .milliseconds(lacks ? 8 : 1))
      #expect(nodes.peripheral.packets == [[1]])
    }
  }
}
