import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import GATT
import TestSupport
import Testing

@testable import BledCore

/// Sessions that outlast the daemon: G21.
@Suite struct StoredSessionTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage
  private let world: World

  init() {
    storage = MemoryStorage(scheduler: scheduler)
    world = World(scheduler: scheduler, storage: storage)
  }

  /// A daemon that finds the first one's files as written by now, as after `kill -9`.
  private func nextDaemon(adapter state: AdapterState = .on, policy: Policy = World.policy()) -> World {
    let copy = MemoryStorage(scheduler: scheduler)
    copy.files = storage.files
    let next = World(policy: policy, scheduler: scheduler, storage: copy)
    for slot in next.daemon.adapters.slots { slot.hasWorked = false }
    next.adapter.change(to: state)
    return next
  }

  private func program(in world: World, user: UInt32 = 5) throws -> (TestClient, RestoredState?) {
    let client = world.client(user: user)
    return (client, try client.result(SessionOpen.self, .init(name: "app", restore: "app", keep: 600)).restored)
  }

  /// A program with a scan, a subscription on a belt, a service and an advertisement.
  private func furnish(_ client: TestClient, _ belt: ScriptedPeer) throws -> (rate: UInt16, service: ServiceDescription)
  {
    let peripheral = try world.connect(client, belt).peripheral
    let discover = try client.call(GATTDiscover.self, .init(peripheral: peripheral))
    world.settle()
    let services = try #require(try client.answer(to: discover, GATTDiscover.self)).get().services
    let rate = try #require(
      services.flatMap { $0.characteristics ?? [] }.first { $0.uuid == 0x2A37 }?.handle)
    _ = try client.call(GATTSubscribe.self, .init(peripheral: peripheral, handle: rate))
    world.settle()
    _ = try client.result(ScanStart.self, .init(services: [0x180D]))
    // Another service before it, so that the handles are not those of an empty database.
    _ = try world.client(user: 9).result(ServiceAdd.self, .init(service: .init(uuid: 0x1815)))
    let battery = ServiceToPublish(
      uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read", "notify"])])
    let service = try client.result(ServiceAdd.self, .init(service: battery)).service
    _ = try client.call(AdvertisingStart.self, .init(name: "App", services: [0x180F]))
    world.settle()
    return (rate, service)
  }

  @Test("G21: a daemon that was killed comes back with what programs held, whether they were there or not")
  func killed() throws {
    let belt = world.peer()
    try belt.furnish()
    let (first, _) = try program(in: world)
    let (rate, service) = try furnish(first, belt)
    world.scheduler.advance(by: .seconds(3))

    let next = nextDaemon()
    #expect(next.daemon.sessions.count == 1)
    #expect(next.adapter.pendingConnections == [belt.address])
    #expect(next.adapter.scan != nil && next.adapter.advertisements.count == 1)
    let published = next.daemon.links.database.attributes.services.first { $0.uuid == 0x180F }
    #expect(published?.range == service.handle...service.end)

    let again = ScriptedPeer("\(belt.address)", scheduler: scheduler)
    try again.furnish()
    next.adapter.bringUp(again)
    next.settle()
    #expect(again.subscriptions[rate] == .notification)
    again.notify(rate, [0, 70])
    next.settle()

    let (second, restored) = try program(in: next)
    let state = try #require(restored)
    #expect(state.scan?.services == [0x180D])
    let device = try #require(state.peripherals.first)
    #expect(device.state == "connecting" && device.subscriptions == [rate])
    #expect(device.services.contains { $0.uuid == 0x180D })
    #expect(state.services.map(\.service) == [service])
    #expect(state.advertisements.first?.parameters.name == "App")
    #expect(try second.notifications(PeripheralConnected.self).map(\.peripheral) == [device.peripheral])
    #expect(try second.notifications(GATTValue.self).map(\.value.octets) == [[0, 70]])
    // The link is the session's own: it can be used at once.
    let read = try second.call(GATTRead.self, .init(peripheral: device.peripheral, handle: rate + 3))
    next.settle()
    #expect(try second.answer(to: read, GATTRead.self) != nil)
  }

  @Test("G21: what is not there any more on the device is told; the new services are to be discovered")
  func changedDevice() throws {
    let belt = world.peer()
    try belt.furnish()
    let (first, _) = try program(in: world)
    let (rate, _) = try furnish(first, belt)
    world.scheduler.advance(by: .seconds(3))
    let next = nextDaemon()
    let other = ScriptedPeer("\(belt.address)", scheduler: scheduler)
    _ = try other.database.add(.genericAccess(name: "Other"))
    next.adapter.bringUp(other)
    next.settle()
    let (second, _) = try program(in: next)
    #expect(try second.notifications(GATTSubscriptionLost.self).map(\.handle) == [rate])
    #expect(try second.notifications(GATTServicesChanged.self).map(\.end) == [0xFFFF])
  }

  @Test("G21: after an orderly stop the same; what was given back before is not there; the time goes on")
  func stopped() throws {
    let belt = world.peer()
    let (first, _) = try program(in: world)
    try world.connect(first, belt)
    let (stranger, _) = try program(in: world, user: 6)
    _ = try stranger.result(ScanStart.self, .init(services: [0x1815]))
    _ = try stranger.result(SessionEnd.self, .init())
    first.die()
    world.scheduler.advance(by: .seconds(400))
    var isStopped = false
    world.daemon.stop { isStopped = true }
    world.settle()
    #expect(isStopped)
    let next = nextDaemon()
    #expect(next.daemon.sessions.map(\.name) == ["app"])
    next.scheduler.advance(by: .seconds(190))
    #expect(next.adapter.pendingConnections == [belt.address])
    next.scheduler.advance(by: .seconds(20))
    #expect(next.adapter.pendingConnections.isEmpty && next.daemon.sessions.isEmpty)
    let (_, restored) = try program(in: next)
    #expect(restored == nil)
  }

  @Test("What is left of an advertisement's time and count goes on after a restart; what is over does not come back")
  func advertisementsThatEnd() throws {
    let (client, _) = try program(in: world)
    func start(_ change: (inout AdvertisingStart.Params) -> Void) throws {
      var params = AdvertisingStart.Params()
      change(&params)
      try client.call(AdvertisingStart.self, params)
      let id = try #require(world.adapter.advertisements.keys.max { $0.value < $1.value })
      world.adapter.onEvent?(.advertising(id, .on(interval: .milliseconds(100))))
    }
    try start { $0.duration = 10 }
    try start { $0.count = 100 }
    try start { $0.duration = 3 }
    try start { $0.count = 20 }
    world.scheduler.advance(by: .seconds(4))
    world.adapter.onEvent = nil
    let next = nextDaemon()
    let restored = next.adapter.advertisements.sorted { $0.key.value < $1.key.value }
    #expect(restored.map(\.value.maximumEvents) == [nil, 60])
    let first = try #require(restored.first?.key)
    next.adapter.onEvent?(.advertising(first, .on(interval: .milliseconds(100))))
    next.scheduler.advance(by: .seconds(7))
    #expect(next.adapter.advertisements[first] == nil, "six seconds were left")
  }

  @Test func whatIsTooLargeToBeStoredIsLeftOut() throws {
    func session(_ user: UInt32, _ name: String, octets: Int) -> StoredSession {
      let scan = ScanStart.Params(name: String(repeating: "n", count: octets))
      return StoredSession(
        user: user, identifier: name, name: "", keep: nil, background: false, since: nil,
        state: RestoredState(since: 0, scan: scan, peripherals: [], services: [], advertisements: []))
    }
    let many = (0..<6).map { session(1, "\($0)", octets: 200 << 10) }
    let all = StoredSessions(
      sessions: [session(1, "large", octets: 256 << 10)] + many + [session(2, "other", octets: 9)])
    let read = try JSONDecoder().decode(StoredSessions.self, from: JSONEncoder().encode(all.fitting().0))
    #expect(read.sessions.map(\.identifier) == ["0", "1", "2", "3", "4", "other"])
  }

  @Test(
    "Times in the store that make no sense are none that a daemon trips over", arguments: [1e300, -1e300, 1e19, -1e19])
  func senselessTimes(_ time: Double) throws {
    func session(_ name: String, keep: Double?, since: Double?) -> StoredSession {
      StoredSession(
        user: 5, identifier: name, name: "", keep: keep, background: false, since: since,
        state: RestoredState(
          since: time, scan: ScanStart.Params(services: [0x180D]), peripherals: [], services: [], advertisements: []))
    }
    let all = StoredSessions(sessions: [
      session("since", keep: nil, since: time), session("keep", keep: time, since: nil),
      session("app", keep: nil, since: nil),
    ])
    storage.files["sessions"] = DocumentFormat.encode(
      [UInt8](try JSONEncoder().encode(all)), name: "sessions", version: 1)
    let next = nextDaemon()
    // None is kept for longer than any.
    next.scheduler.advance(by: .seconds(3601))
    #expect(next.daemon.sessions.isEmpty && next.adapter.scan == nil)
    let (_, restored) = try program(in: next)
    #expect(restored == nil)
  }

  @Test("G21: a program that is back before an adapter is on gets its state all the same")
  func earlyProgram() throws {
    let belt = world.peer()
    let (first, _) = try program(in: world)
    try world.connect(first, belt)
    world.scheduler.advance(by: .seconds(3))
    let copy = MemoryStorage(scheduler: scheduler)
    copy.files = storage.files
    let next = World(scheduler: scheduler, storage: copy)
    let (_, restored) = try program(in: next)
    #expect(restored?.peripherals.map(\.address) == ["\(belt.address)"])
  }

  @Test(
    "G21: while no adapter works all waits for it, whoever opens a session meanwhile",
    arguments: [
      AdapterState.absent, .off, .starting,
    ])
  func noAdapter(_ early: AdapterState) throws {
    let belt = world.peer()
    try belt.furnish()
    let (first, _) = try program(in: world)
    let (rate, _) = try furnish(first, belt)
    world.scheduler.advance(by: .seconds(3))

    let next = nextDaemon(adapter: early)
    _ = try next.client(user: 6).result(SessionOpen.self, .init(restore: "x"))
    next.adapter.change(to: .absent)
    next.scheduler.advance(by: .seconds(3))
    next.adapter.change(to: .on)
    #expect(next.adapter.pendingConnections == [belt.address])
    #expect(next.adapter.scan != nil && next.adapter.advertisements.values.count == 1)
    let again = ScriptedPeer("\(belt.address)", scheduler: scheduler)
    try again.furnish()
    next.adapter.bringUp(again)
    next.settle()
    #expect(again.subscriptions[rate] == .notification)
    let (second, restored) = try program(in: next)
    #expect(restored?.scan != nil && restored?.advertisements.count == 1)
    #expect(restored?.peripherals.map(\.subscriptions) == [[rate]])
    #expect(try second.notifications(PeripheralConnected.self).count == 1)
  }

  @Test("G21: a link that is to come back by itself still is")
  func reconnect() throws {
    let belt = world.peer()
    let (first, _) = try program(in: world)
    _ = try first.call(
      PeripheralConnect.self, .init(address: "\(belt.address)", addressType: "random", reconnect: true))
    world.adapter.bringUp(belt)
    world.settle()
    world.scheduler.advance(by: .seconds(3))
    let next = nextDaemon()
    let (second, restored) = try program(in: next)
    #expect(restored?.peripherals.map(\.reconnect) == [true])
    let link = next.adapter.bringUp(ScriptedPeer("\(belt.address)", scheduler: scheduler))
    next.settle()
    link.end(reason: 0x08)
    next.settle()
    #expect(next.adapter.pendingConnections == [belt.address])
    #expect(try second.notifications(PeripheralDisconnected.self).map(\.reconnecting) == [true])
  }

  @Test("A session that is too large to be stored is named in the log once, and again if it has become so again")
  func tooLarge() throws {
    let lines = LogLines()
    let world = World(scheduler: scheduler, storage: storage, log: lines)
    let (client, _) = try program(in: world)
    let large = ServiceToPublish(
      uuid: 0x180F,
      characteristics: (0..<300).map { _ in
        .init(uuid: 0x2A19, properties: ["read"], value: HexBytes([UInt8](repeating: 1, count: 512)))
      })
    var told: Int { lines.all.count { $0.contains("\"app\" of user 5 will not survive a restart of bled") } }
    for round in 1...2 {
      let handle = try client.result(ServiceAdd.self, .init(service: large)).service.handle
      for _ in 0..<3 {
        _ = try client.result(ScanStart.self, .init(services: [0x180D]))
        world.scheduler.advance(by: .seconds(3))
      }
      #expect(told == round)
      #expect(nextDaemon().daemon.sessions.isEmpty)
      _ = try client.result(ServiceRemove.self, .init(handle: handle))
      world.scheduler.advance(by: .seconds(3))
      #expect(nextDaemon().daemon.sessions.count == 1)
    }
  }

  @Test("G21: what the policy does not permit any more is not taken over; what a group was given ends with that")
  func policy() throws {
    let belt = world.peer()
    try belt.furnish()
    let (first, _) = try program(in: world)
    _ = try furnish(first, belt)
    world.scheduler.advance(by: .seconds(3))
    var configuration = Configuration.Policy()
    configuration.grants = [.scan: [.group("bluetooth")], .connect: [.group("0")]]
    let next = nextDaemon(policy: World.policy(configuration))
    #expect(next.adapter.scan != nil && next.daemon.sessions.count == 1)
    #expect(next.adapter.pendingConnections.isEmpty && next.adapter.advertisements.isEmpty)
    configuration.grants[.scan] = []
    next.daemon.apply(
      identity: .init(name: "x"), policy: World.policy(configuration), limits: Limits(), retention: .seconds(3600))
    #expect(next.adapter.scan == nil && next.daemon.sessions.isEmpty)
  }
}
