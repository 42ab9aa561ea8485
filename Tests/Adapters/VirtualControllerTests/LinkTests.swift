import Adapter
import Bluetooth
import HCI
import TestSupport
import Testing

@testable import VirtualController

/// Links between hosts of our own, in virtual time.
@Suite struct LinkTests {
  private static let packets = (0..<40).map { number in [UInt8(number)] + [UInt8](repeating: 7, count: 22) }

  /// Sends as long as there is room.
  private func send(_ packets: [[UInt8]], on link: any Link, _ scheduler: VirtualScheduler) {
    var rest = packets[...]
    while let packet = rest.first {
      scheduler.run(for: .seconds(60)) { link.isWritable }
      guard link.isWritable else { return }
      link.send(packet)
      rest.removeFirst()
    }
  }

  @Test("Every packet arrives once and in order, however many are lost on the air", arguments: [0, 0.1, 0.3])
  func loss(_ loss: Double) throws {
    let nodes = TwoNodes()
    nodes.connect()
    nodes.setLoss(loss)
    send(Self.packets, on: try #require(nodes.central.link), nodes.scheduler)
    send(Self.packets, on: try #require(nodes.peripheral.link), nodes.scheduler)
    nodes.scheduler.advance(by: .seconds(60))
    #expect(nodes.peripheral.packets == Self.packets && nodes.central.packets == Self.packets)
    #expect(nodes.central.ends.isEmpty && nodes.peripheral.ends.isEmpty)
  }

  @Test("A link without packets costs nothing, and is lost at its supervision timeout")
  func supervision() throws {
    let nodes = TwoNodes()
    nodes.connect(ConnectionParameters(supervisionTimeout: .seconds(2)))
    nodes.scheduler.advance(by: .seconds(60))
    nodes.setLoss(1)
    nodes.scheduler.advance(by: .milliseconds(1900))
    #expect(nodes.central.ends.isEmpty && nodes.peripheral.ends.isEmpty)
    nodes.scheduler.advance(by: .milliseconds(200))
    #expect(nodes.central.ends.map(\.code) == [0x08] && nodes.peripheral.ends.map(\.code) == [0x08])
    #expect(nodes.air.links.isEmpty)
  }

  @Test("A loss shorter than the timeout ends nothing")
  func shortLoss() throws {
    let nodes = TwoNodes()
    nodes.connect(ConnectionParameters(supervisionTimeout: .seconds(2)))
    nodes.setLoss(1)
    nodes.scheduler.advance(by: .milliseconds(1800))
    nodes.setLoss(0)
    try #require(nodes.central.link).send([1])
    nodes.scheduler.advance(by: .seconds(10))
    #expect(nodes.peripheral.packets == [[1]] && nodes.central.ends.isEmpty)
  }

  @Test func disconnectionReachesBothSides() throws {
    let nodes = TwoNodes()
    nodes.connect()
    try #require(nodes.peripheral.link).disconnect()
    nodes.scheduler.advance(by: .seconds(1))
    #expect(nodes.central.ends.map(\.code) == [0x13] && nodes.peripheral.ends.map(\.code) == [0x16])
  }

  @Test("Packets that a controller has before it ends a link still arrive")
  func lastPackets() throws {
    let nodes = TwoNodes()
    nodes.connect()
    let packets = Array(Self.packets.prefix(4))
    for packet in packets { try #require(nodes.peripheral.link).send(packet) }
    nodes.peripheral.controller.disconnect(HCIStatus(.connectionTimeout))
    nodes.scheduler.advance(by: .seconds(1))
    #expect(nodes.central.packets == packets)
    #expect(nodes.central.ends.map(\.code) == [0x08] && nodes.peripheral.ends.map(\.code) == [0x16])
  }

  @Test("A removed controller takes its links along; the other side notices at its timeout")
  func unplugged() throws {
    let nodes = TwoNodes()
    nodes.connect()
    nodes.peripheral.controller.isPlugged = false
    nodes.scheduler.advance(by: .seconds(1))
    #expect(nodes.peripheral.ends.map(\.name) == ["adapterAbsent"] && nodes.peripheral.adapter.state == .absent)
    #expect(nodes.central.ends.isEmpty)
    nodes.scheduler.advance(by: .seconds(4))
    #expect(nodes.central.ends.map(\.code) == [0x08])
    nodes.peripheral.controller.isPlugged = true
    nodes.scheduler.advance(by: .seconds(30))
    #expect(nodes.peripheral.adapter.state == .on)
  }

  @Test func hostsPairAndUseTheirKeysAgain() throws {
    let nodes = TwoNodes()
    nodes.connect()
    var outcomes: [BluetoothError?] = []
    try #require(nodes.central.link).raiseSecurity(to: 2, as: .none, usesOwnData: false) { outcomes.append($0) }
    nodes.scheduler.advance(by: .seconds(10))
    #expect(outcomes == [nil])
    #expect(nodes.central.bonds.count == 1 && nodes.peripheral.bonds.count == 1)
    #expect(nodes.central.link?.security.level == 2 && nodes.peripheral.link?.security.level == 2)
    nodes.central.link?.disconnect()
    nodes.scheduler.advance(by: .seconds(1))
    nodes.connect()
    try #require(nodes.central.link).encrypt(to: 2) { outcomes.append($0) }
    nodes.scheduler.advance(by: .seconds(10))
    #expect(outcomes == [nil, nil] && nodes.central.bonds.count == 1)
    #expect(nodes.peripheral.link?.security.level == 2)
  }

  @Test("Parameters of both sides at once: both settle on the same ones")
  func parameters() throws {
    let nodes = TwoNodes()
    nodes.connect()
    var outcomes = 0
    for (node, milliseconds) in [(nodes.central, 100), (nodes.peripheral, 30)] {
      let interval = Duration.milliseconds(milliseconds)
      try #require(node.link).request(ConnectionParameters(interval: interval...interval)) { _ in outcomes += 1 }
    }
    nodes.scheduler.advance(by: .seconds(30))
    #expect(outcomes == 2)
    #expect(nodes.central.link?.parameters == nodes.peripheral.link?.parameters)
  }

  @Test("A peripheral's request for a range of intervals arrives with its bounds")
  func requestedRange() throws {
    let nodes = TwoNodes()
    nodes.connect()
    var outcomes: [BluetoothError?] = []
    try #require(nodes.peripheral.link).request(
      ConnectionParameters(interval: .milliseconds(60)...(.milliseconds(500)), supervisionTimeout: .seconds(4))
    ) { outcomes.append($0) }
    nodes.scheduler.advance(by: .seconds(30))
    #expect(outcomes == [nil] && nodes.central.link?.parameters?.interval == .milliseconds(60))
  }

  @Test("A faster PHY and longer packets are in use on both sides")
  func layer() throws {
    let nodes = TwoNodes()
    nodes.connect()
    var outcomes: [BluetoothError?] = []
    try #require(nodes.central.link).request(LinkPHY(.le2M)) { outcomes.append($0) }
    try #require(nodes.central.link).request(longestPacket: 251) { outcomes.append($0) }
    nodes.scheduler.advance(by: .seconds(10))
    #expect(outcomes == [nil, nil])
    let (one, other) = (try #require(nodes.central.link).layer, try #require(nodes.peripheral.link).layer)
    #expect(one.txOctets == 251 && one.txPHY == .le2M && one == other)
  }

  // MARK: - Connecting

  @Test("A request without an answer fails after six events")
  func unanswered() throws {
    let nodes = TwoNodes({ $0.features = .bluetooth40 }, { $0.features = .bluetooth40 })
    nodes.peripheral.advertise()
    nodes.air.setLoss(1, from: nodes.central.controller, to: nodes.peripheral.controller)
    nodes.central.adapter.connect(to: nodes.peripheral.address, ConnectionParameters())
    let (scheduler, central) = (nodes.scheduler, nodes.central)
    scheduler.run(for: .seconds(10)) { !central.ends.isEmpty }
    #expect(central.ends.map(\.code) == [0x3E])
    #expect(nodes.peripheral.links.isEmpty && nodes.peripheral.ends.isEmpty)
  }

  /// Two hosts that advertise and connect to each other at the same time, as programs of nearby sessions do.
  @Test("Requests that cross leave one link, which both sides can use")
  func crossing() throws {
    var crossed = 0
    for seed in UInt64(1)...40 {
      let nodes = TwoNodes(seed: seed, { $0.features = .bluetooth40 }, { $0.features = .bluetooth40 })
      let both = [nodes.central, nodes.peripheral]
      for node in both { node.advertise() }
      nodes.central.adapter.connect(to: nodes.peripheral.address, ConnectionParameters())
      nodes.peripheral.adapter.connect(to: nodes.central.address, ConnectionParameters())
      nodes.scheduler.run(for: .seconds(30)) { both.allSatisfy { $0.link != nil } }
      nodes.scheduler.advance(by: .seconds(5))
      crossed += both.filter { $0.ends.map(\.code) == [0x3E] }.count
      for node in both { try #require(node.link, "seed \(seed)").send([1]) }
      nodes.scheduler.advance(by: .seconds(1))
      #expect(both.allSatisfy { $0.packets == [[1]] }, "seed \(seed)")
      #expect(nodes.air.links.count == 1, "seed \(seed)")
    }
    #expect(crossed > 0)
  }
}
