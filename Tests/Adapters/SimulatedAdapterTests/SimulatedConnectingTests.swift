import Adapter
import Bluetooth
import GATT
import JSONFiles
import Testing

@testable import SimulatedAdapter

/// Connecting to simulated devices, with all that can go wrong.
@Suite(.onBothAirs) struct SimulatedConnectingTests {
  private static func device(_ members: String, adapter: String = "") -> String {
    """
    { adapter: { \(adapter) },
      devices: [{ name: "a", address: "C0:DE:00:00:00:01", addressType: "random", \(members) }] }
    """
  }

  @Test func aLinkTellsWhoAndHow() throws {
    let world = try AdapterStage.on(Self.device("rssi: -42, connectDelay: 0.2", adapter: "mtu: 185"))
    let parameters = ConnectionParameters(
      interval: .milliseconds(30)...(.milliseconds(50)), latency: 2, supervisionTimeout: .seconds(5))
    let link = try #require(world.connect(1, parameters))
    #expect(link.peer == AdapterStage.address(1))
    #expect(link.role == .central)
    #expect(link.attempts == 1)
    #expect(link.security == .none)
    #expect(link.maximumMTU == 185)
    #expect(
      link.parameters
        == LinkParameters(interval: .milliseconds(30), latency: 2, supervisionTimeout: .seconds(5)))
    var rssi: [Int] = []
    link.readRSSI { result in
      if case .success(let value) = result { rssi.append(value) }
    }
    #expect(rssi.isEmpty)
    world.scheduler.advance(by: .seconds(1))
    #expect(rssi == [-42])
  }

  @Test(.onSimulatedAir("the end of a link has the name of the specification")) func nothingIsToldFromInsideTheCall()
    throws
  {
    let world = try AdapterStage.on(Self.device("connectDelay: 0"))
    world.forget()
    world.adapter.connect(to: AdapterStage.address(1), ConnectionParameters())
    #expect(world.trace.isEmpty)
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace == ["connected C0:DE:00:00:00:01 central 1"])
    let link = try #require(world.links.first)
    link.disconnect()
    #expect(world.trace.count == 1)
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.last == "ended C0:DE:00:00:00:01 connectionTerminatedByLocalHost")
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func failedAttemptsAreToldCountedAndRepeatedWithABackOff(seed: UInt64) throws {
    let world = try AdapterStage.on(
      Self.device("losses: { connect: 0.7 }, interval: 0.02, connectDelay: 0"), seed: seed)
    var times: [Instant] = []
    let forward = world.adapter.onEvent
    world.adapter.onEvent = { event in
      if case .connectAttemptFailed = event { times.append(world.scheduler.now) }
      forward?(event)
    }
    let link = try #require(world.connect(1))
    #expect(world.failures.allSatisfy { $0.domain == .hci && $0.code == 0x3E })
    #expect(link.attempts == world.failures.count + 1)
    times.append(world.scheduler.now)
    for (index, gap) in zip(times, times.dropFirst()).map({ $0.duration(to: $1) }).enumerated() {
      let backOff = Duration.milliseconds(100 << min(index, 6))
      #expect(gap >= backOff && gap < backOff + .milliseconds(60))
    }
  }

  @Test(.onSimulatedAir("a link is announced before its device answers")) func aDeviceThatNeverAnswersIsTriedOnAndOn()
    throws
  {
    let world = try AdapterStage.on(Self.device("losses: { connect: 1 }"))
    #expect(world.connect(1) == nil)
    // 0.1 + 0.2 + … + 6.4 s, and then each 6.4 s.
    #expect((14...15).contains(world.failures.count))
  }

  @Test(
    "G18: other parameters are agreed on, and packets go by the new interval",
    .onSimulatedAir("the times are those of connection events"))
  func otherParameters() throws {
    let world = try AdapterStage.on(Self.device("connectDelay: 0"))
    let link = try #require(world.connect(1))
    var changes: [Instant] = []
    var answers: [Instant] = []
    link.onEvent = { event in
      switch event {
      case .parametersChanged: changes.append(world.scheduler.now)
      case .received: answers.append(world.scheduler.now)
      default: break
      }
    }
    let asked = world.scheduler.now
    link.request(
      ConnectionParameters(
        interval: .milliseconds(480)...(.milliseconds(510)), latency: 2, supervisionTimeout: .seconds(5))
    ) { #expect($0 == nil) }
    world.scheduler.advance(by: .seconds(1))
    #expect(changes.map { asked.duration(to: $0) } == [.milliseconds(90)])
    #expect(
      link.parameters
        == LinkParameters(interval: .milliseconds(480), latency: 2, supervisionTimeout: .seconds(5)))
    let sent = world.scheduler.now
    link.send([0x02, 0x17, 0x00])
    world.scheduler.advance(by: .seconds(2))
    let answer = try #require(answers.first)
    #expect(sent.duration(to: answer) > .milliseconds(480) && sent.duration(to: answer) <= .milliseconds(960))
  }

  @Test(
    "G18, rule 6: of many requests for parameters the newest counts, and one change comes",
    .onSimulatedAir("the first request is on its way"))
  func manyRequests() throws {
    let world = try AdapterStage.on(Self.device("connectDelay: 0"))
    let link = try #require(world.connect(1))
    var intervals: [Duration] = []
    link.onEvent = { event in
      if case .parametersChanged = event { intervals.append(link.parameters?.interval ?? .zero) }
    }
    for milliseconds in 20...100 {
      let interval = Duration.milliseconds(milliseconds)
      link.request(ConnectionParameters(interval: interval...interval, latency: 0, supervisionTimeout: .seconds(5))) {
        #expect($0 == nil)
      }
    }
    world.scheduler.advance(by: .seconds(2))
    #expect(intervals == [.milliseconds(100)])
  }

  @Test(
    "A link gets another PHY and longer packets where both radios have them",
    .onSimulatedAir("the words and the times are those of a host"))
  func phyAndPackets() throws {
    let world = try AdapterStage.on(Self.device("connectDelay: 0, radio: { phys: ['1M', '2M'], longestPacket: 100 }"))
    let link = try #require(world.connect(1))
    #expect(link.layer == .initial)
    var layers: [LinkLayer] = []
    link.onEvent = { event in if case .parametersChanged = event { layers.append(link.layer) } }
    var outcomes: [String?] = []
    link.request(longestPacket: 251) { outcomes.append($0?.name) }
    link.request(LinkPHY(.le2M)) { outcomes.append($0?.name) }
    link.request(LinkPHY(.leCoded)) { outcomes.append($0?.message) }
    world.scheduler.advance(by: .seconds(1))
    #expect(outcomes == [nil, "C0:DE:00:00:00:01 does not have the coded PHY", nil])
    #expect(
      layers == [
        LinkLayer(txPHY: .le1M, rxPHY: .le1M, txOctets: 100, rxOctets: 100),
        LinkLayer(txPHY: .le2M, rxPHY: .le2M, txOctets: 100, rxOctets: 100),
      ])
    // A repetition has no effect.
    link.request(LinkPHY(.le2M)) { outcomes.append($0?.name) }
    world.scheduler.advance(by: .seconds(1))
    #expect(outcomes.count == 4 && outcomes.last == .some(nil) && layers.count == 2)
    let poor = try AdapterStage.on(Self.device("connectDelay: 0", adapter: "radio: { phys: ['1M'] }"))
    try #require(poor.connect(1)).request(LinkPHY(.le2M)) { outcomes.append($0?.message) }
    poor.scheduler.advance(by: .seconds(1))
    #expect(outcomes.last == "the adapter does not have the 2M PHY")
  }

  @Test(
    "A device that advertises on the coded PHY is heard and connected there alone, and its link is on it",
    .onSimulatedAir("the controller reports the PHY later"))
  func longRange() throws {
    let world = try AdapterStage.on(Self.device("connectDelay: 0, longRange: true"))
    world.adapter.setScan(ScanParameters())
    #expect(world.connect(1) == nil)
    #expect(world.reports.isEmpty)
    world.adapter.setScan(ScanParameters(phys: [.leCoded]))
    world.scheduler.advance(by: .seconds(1))
    #expect(world.reports.first?.primaryPHY == .leCoded)
    let link = try #require(world.connect(1, ConnectionParameters(phys: [.le1M, .leCoded])))
    #expect(link.layer.txPHY == .leCoded && link.layer.rxPHY == .leCoded)
    #expect(throws: FileError.self) { try AdapterStage.on(Self.device("longRange: true, radio: { phys: ['1M'] }")) }
  }

  @Test("A radio without the PHY that every radio has is refused", arguments: ["['2M']", "['3M']"])
  func impossibleRadio(phys: String) {
    #expect(throws: FileError.self) { try AdapterStage.on(Self.device("radio: { phys: \(phys) }")) }
  }

  @Test func aConnectWaitsForeverAndAnyNumberAtOnce() throws {
    let world = try AdapterStage.on(
      """
      { devices: [
          { name: "a", address: "C0:DE:00:00:00:01", addressType: "random" },
          { name: "b", address: "C0:DE:00:00:00:02", addressType: "random" },
          { name: "c", address: "C0:DE:00:00:00:03", addressType: "random" } ],
        events: [
          { at: 0, action: "vanish", device: "a" }, { at: 0, action: "vanish", device: "b" },
          { at: 0, action: "vanish", device: "c" }, { at: 3000, action: "comeBack", device: "b" },
          { at: 4000, action: "comeBack", device: "c" }, { at: 5000, action: "comeBack", device: "a" } ] }
      """)
    world.forget()
    for number in 1...3 as ClosedRange<UInt64> {
      world.adapter.connect(to: AdapterStage.address(number), ConnectionParameters())
    }
    world.scheduler.advance(by: .seconds(2999))
    #expect(world.trace.isEmpty)
    world.scheduler.advance(by: .seconds(3000))
    #expect(world.links.map(\.peer) == [AdapterStage.address(2), AdapterStage.address(3), AdapterStage.address(1)])
  }

  @Test(.onSimulatedAir("a link is announced before its device answers")) func afterCancellingNothingIsAnnounced()
    throws
  {
    // Cancelled at each point of the attempt: while it waits, while it is under way, and in its back-off.
    for tenths in 0...20 {
      let world = try AdapterStage.on(Self.device("connectDelay: 0.5, losses: { connect: 0.5 }"), seed: UInt64(tenths))
      world.adapter.connect(to: AdapterStage.address(1), ConnectionParameters())
      world.scheduler.advance(by: .milliseconds(100 * tenths))
      world.adapter.cancelConnect(to: AdapterStage.address(1))
      let count = world.links.count
      world.forget()
      world.scheduler.advance(by: .seconds(30))
      #expect(world.links.count == count)
      #expect(world.trace.isEmpty)
    }
  }

  @Test func aDeviceHangsUp() throws {
    let world = try AdapterStage.on(Self.device("disconnectAfter: 3"))
    let client = Client(try #require(world.connect(1)), world)
    world.scheduler.advance(by: .milliseconds(2900))
    #expect(client.reason == nil)
    world.scheduler.advance(by: .milliseconds(200))
    #expect(client.reason?.code == 0x13)
    #expect(client.reason?.domain == .hci)
  }

  @Test func aLinkThatIsLostEndsWithTheSupervisionTimeout() throws {
    let world = try AdapterStage.on(Self.device("losses: { link: 2 }"))
    let client = Client(try #require(world.connect(1)), world)
    world.scheduler.advance(by: .milliseconds(2100))
    // A request at this moment is never answered, and fails once with the link.
    #expect(throws: GATTError.self) { try client.run(.read(3)) }
    #expect(client.reason?.code == 0x08)
    #expect(Instant.zero.duration(to: world.scheduler.now) > .seconds(6))
    // The device is on the air again.
    #expect(world.connect(1) != nil)
  }

  @Test func aConnectedDeviceDoesNotAdvertise() throws {
    let world = try AdapterStage.on(Self.device("interval: 0.02"))
    let link = try #require(world.connect(1))
    world.adapter.setScan(ScanParameters(isActive: false, interval: .milliseconds(10), window: .milliseconds(10)))
    world.scheduler.advance(by: .seconds(5))
    #expect(world.reports.isEmpty)
    link.disconnect()
    world.scheduler.advance(by: .seconds(5))
    #expect(!world.reports.isEmpty)
  }

  @Test("What was accepted before our disconnect leaves before the link ends, as from a controller")
  func nothingAcceptedIsLostByADisconnect() throws {
    let world = try AdapterStage.on(
      """
      { adapter: { packetsPerEvent: 6 }, devices: [
        { name: "a", address: "C0:DE:00:00:00:01", addressType: "random", services: [{ uuid: "FFF0", characteristics: [
          { uuid: "FFF1", properties: ["read", "writeWithoutResponse"], value: "00" }] }] }] }
      """)
    let first = Client(try #require(world.connect(1)), world)
    let handle = try #require(try first.find(0xFFF1)).valueHandle
    for number in 1...32 as ClosedRange<UInt8> {
      first.link.send([0x52, UInt8(handle & 0xFF), UInt8(handle >> 8), number])
    }
    first.link.disconnect()
    // Too late: the side that disconnects accepts nothing more.
    first.link.send([0x52, UInt8(handle & 0xFF), UInt8(handle >> 8), 99])
    world.scheduler.advance(by: .seconds(1))
    #expect(first.reason?.code == 0x16)
    let second = Client(try #require(world.connect(1)), world)
    #expect(try second.run(.read(handle)) == .value([32]))
  }

  @Test(.onSimulatedAir("the error is that of a host")) func aFullAdapterSaysSo() throws {
    let world = try AdapterStage.on(
      """
      { adapter: { links: 1 }, devices: [
        { name: "a", address: "C0:DE:00:00:00:01", addressType: "random" },
        { name: "b", address: "C0:DE:00:00:00:02", addressType: "random" } ] }
      """)
    let first = try #require(world.connect(1))
    world.adapter.connect(to: AdapterStage.address(2), ConnectionParameters())
    world.scheduler.advance(by: .seconds(2))
    #expect(world.failures.first?.code == 0x09)
    first.disconnect()
    world.scheduler.advance(by: .seconds(10))
    #expect(world.links.map(\.peer) == [AdapterStage.address(1), AdapterStage.address(2)])
  }

  @Test(.onSimulatedAir("a controller connects to one device at a time"))
  func twoThousandDevicesAreHeardAndFiftyConnected() throws {
    let devices = (1...2000 as ClosedRange<UInt64>).map {
      "{ name: '\($0)', address: '\(AdapterStage.address($0))', addressType: 'random', interval: 1 }"
    }
    let world = try AdapterStage.on("{ devices: [\(devices.joined(separator: ","))] }")
    world.adapter.setScan(ScanParameters(isActive: false, interval: .milliseconds(10), window: .milliseconds(10)))
    world.scheduler.advance(by: .seconds(3))
    #expect(Set(world.reports.map(\.address)).count == 2000)
    for number in 1...50 as ClosedRange<UInt64> {
      world.adapter.connect(to: AdapterStage.address(number * 40), ConnectionParameters())
    }
    world.scheduler.advance(by: .seconds(3))
    #expect(Set(world.links.map(\.peer)).count == 50)
    #expect(Set(world.links.map(\.id)).count == 50)
  }

  @Test(.onSimulatedAir("one packet more waits in the host")) func aLinkThatIsFullSaysSoAndWhenThereIsRoomAgain() throws
  {
    let world = try AdapterStage.on(Self.device("", adapter: "packetsPerEvent: 3"))
    let link = try #require(world.connect(1))
    var writable = 0
    link.onEvent = { if case .writable = $0 { writable += 1 } }
    var sent = 0
    while link.isWritable, sent < 100 {
      link.send([0x52, 0x03, 0x00, 0x01])
      sent += 1
    }
    #expect(sent == 6)
    #expect(writable == 0)
    world.scheduler.advance(by: .milliseconds(20))
    #expect(writable == 1)
    #expect(link.isWritable)
    world.scheduler.advance(by: .seconds(1))
    #expect(writable == 1)
  }

  @Test(.onSimulatedAir("the error is that of a host")) func whoIgnoresThatALinkIsFullLosesIt() throws {
    let world = try AdapterStage.on(Self.device(""))
    let client = Client(try #require(world.connect(1)), world)
    for _ in 0..<5000 { client.link.send([0x52, 0x03, 0x00, 0x01]) }
    world.scheduler.advance(by: .seconds(1))
    #expect(client.reason?.code == 0x07)
    client.link.send([0x0A, 0x03, 0x00])
    client.link.disconnect()
    var answers = 0
    client.link.readRSSI { if case .failure = $0 { answers += 1 } }
    world.scheduler.advance(by: .seconds(1))
    #expect(answers == 1)
  }
}
