import BledRPC
import Bluetooth
import TestSupport
import Testing

@testable import BledCore

/// `session.list`: the sessions, their resources and their costs.
@Suite struct SessionListTests {
  private let world = World()

  private func listing(_ client: TestClient) throws -> [SessionDescription] {
    try client.result(SessionList.self, .init()).sessions
  }

  @Test func aNameIsShortAndHasNoControlCharacters() throws {
    let client = world.client()
    let name = "a\u{1B}[2J\u{7F}e" + String(repeating: "\u{301}", count: 30_000)
    _ = try client.result(SessionOpen.self, .init(name: name))
    let shown = try #require(try listing(client).first?.name)
    #expect(shown.utf8.count <= 64 && shown.unicodeScalars.starts(with: "a[2Je\u{301}".unicodeScalars))
  }

  @Test("Many sessions are listed in pages")
  func pages() throws {
    let clients = (0..<120).map { _ in world.client() }
    var listed: [Int] = []
    var pages = 0
    var page: SessionList.Result
    repeat {
      page = try clients[0].result(SessionList.self, .init(after: listed.last))
      listed += page.sessions.map(\.session)
      pages += 1
    } while page.more == true
    #expect(pages == 3 && listed == Array(1...120))
    #expect(try world.client(user: 1000).result(SessionList.self, .init()).sessions.map(\.mine) == [true])
  }

  @Test func aResultThatIsNoJSONIsRefused() throws {
    let client = world.client()
    client.connection?.answer(.number(77), JSONValue.array([.number(.nan)]))
    #expect(try client.error(of: 77, SessionList.self)?.code == RPCError.internalError)
  }

  @Test("(G23) Holdings and costs of a program are listed")
  func everything() throws {
    let client = world.client(user: 1000)
    _ = try client.result(SessionOpen.self, .init(name: "logger"))
    _ = try client.result(ScanStart.self, .init(services: [0x180D], rssi: -80))
    let peer = world.peer()
    try peer.furnish()
    let connected = try world.connect(client, peer)
    let discovery = try client.call(GATTDiscover.self, .init(peripheral: connected.peripheral))
    world.settle()
    #expect(try client.answer(to: discovery, GATTDiscover.self) != nil)
    let handle = peer.handle(of: 0x2A37)
    try client.call(GATTSubscribe.self, .init(peripheral: connected.peripheral, handle: handle))
    world.settle()
    peer.notify(handle, [0, 61])
    peer.notify(handle, [0, 62])
    try client.call(PeripheralConnect.self, .init(address: "C0:00:00:00:00:07", addressType: "random"))
    let service = try client.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F))).service
    try client.call(AdvertisingStart.self, .init(name: "x"))
    for number in 0..<3 {
      world.adapter.hear(DeviceAddress(value: 0xC1 + UInt64(number), kind: .public), [2, 1, 6, 3, 3, 0x0D, 0x18])
    }
    client.reads = false
    world.scheduler.advance(by: .seconds(60))

    let root = world.client()
    let found = try #require(try listing(root).first { $0.session == client.session?.id })
    #expect(found.name == "logger")
    #expect(found.process == 42)
    #expect(found.user == 1000)
    #expect(found.program == "prog1000")
    #expect(!found.mine)
    #expect(found.permissions == ["scan", "connect", "serve", "advertise", "pair", "bonds"])
    #expect(found.scan?.services == [0x180D])
    #expect(found.scan?.rssi == -80)
    #expect(found.connections.map(\.peripheral) == [connected.peripheral])
    #expect(found.connecting.map(\.address) == ["C0:00:00:00:00:07"])
    #expect(found.subscriptions == [.init(peripheral: connected.peripheral, handle: handle)])
    #expect(found.services == [.init(handle: service.handle, uuid: 0x180F)])
    #expect(found.advertisements.map(\.onAir) == [false])
    #expect(found.costs.requests == 8)
    #expect(found.costs.reports == 3)
    #expect(found.costs.values == 2)
    #expect((60...65).contains(found.costs.scanTime), "\(found.costs)")
    #expect((60...65).contains(found.costs.linkTime), "\(found.costs)")
    #expect(found.costs.queueOctets > 0)

    client.reads = true
    _ = try client.result(ScanStop.self, .init())
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: connected.peripheral))
    world.scheduler.advance(by: .seconds(60))
    let later = try #require(try listing(root).first { $0.session == client.session?.id })
    #expect(later.scan == nil && later.connections.isEmpty && later.subscriptions.isEmpty)
    #expect(later.costs.scanTime == found.costs.scanTime)
    #expect(later.costs.linkTime == found.costs.linkTime)
    #expect(later.costs.queueOctets == 0)
  }

  @Test("A changed policy closes sessions that lose permissions, and leaves the others")
  func changedPolicy() throws {
    let member = world.client(user: 1000)
    let stranger = world.client(user: 1001, groups: [])
    let peer = world.peer()
    try world.connect(member, peer)
    var everyone = Configuration.Policy()
    everyone.grants[.scan] = [.everyone]
    var limits = Limits()
    limits.perSession[.services] = 1
    world.daemon.apply(
      identity: .init(name: "other"), policy: World.policy(everyone), limits: limits, retention: .seconds(3600))
    _ = try stranger.result(ScanStart.self, .init())
    _ = try member.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
    #expect(try member.error(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))?.data?.name == "limitReached")
    let read = peer.start(.readByUUID(0x2A00, in: 1...0xFFFF))
    world.settle()
    guard case .success(.values(let values))? = peer.results[read] else {
      Issue.record("the name was not read")
      return
    }
    #expect(values.map(\.value) == [Array("other".utf8)])

    let pending = try member.call(
      PeripheralConnect.self, .init(address: "C0:00:00:00:00:09", addressType: "random"))
    everyone.grants[.connect] = []
    world.daemon.apply(
      identity: .init(name: "other"), policy: World.policy(everyone), limits: limits, retention: .seconds(3600))
    #expect(member.isClosed && !stranger.isClosed)
    #expect(try member.error(of: pending, PeripheralConnect.self)?.data?.name == "notPermitted")
    #expect(world.adapter.pendingConnections.isEmpty)
  }

  @Test func withoutThePermissionASessionSeesItself() throws {
    let root = world.client()
    let member = world.client(user: 1000)
    let own = try listing(member)
    #expect(own.map(\.session) == [member.session?.id])
    #expect(own.map(\.mine) == [true])
    #expect(try listing(root).map(\.mine) == [true, false])
  }

  @Test("(G24) A value that is read again and again is pointed out once a session")
  func polling() throws {
    let lines = LogLines()
    let world = World(log: lines)
    let peer = world.peer()
    try peer.furnish()
    for round in 1...2 {
      let client = world.client()
      let id = try world.connect(client, peer).peripheral
      try client.call(GATTDiscover.self, .init(peripheral: id))
      world.settle()
      for _ in 0..<40 {
        for uuid in [0x2A38, 0x2A56] as [BluetoothUUID] {
          try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: uuid)))
          world.settle()
        }
      }
      let told = lines.all.filter { $0.contains("gatt.subscribe") }
      #expect(told.count == round)
      #expect(told.allSatisfy { $0.contains("characteristic \(peer.handle(of: 0x2A56).handleText)") })
    }
  }

  @Test func slowReadsAreNoPolling() {
    var watch = PollingWatch()
    let value = PollingWatch.Value(device: 1, handle: 2)
    for minute in 0..<200 {
      let isPolling = watch.read(value, at: Instant.zero.advanced(by: .seconds(minute * 10)))
      #expect(!isPolling)
    }
    for number in 0..<1000 {
      let isPolling = watch.read(.init(device: 2, handle: UInt16(number)), at: .zero)
      #expect(!isPolling)
    }
  }
}
