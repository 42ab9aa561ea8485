import BledRPC
import Bluetooth
import FoundationEssentials
import TestSupport
import Testing

@testable import BledCore

/// Limits of a session and of a user; others do not notice when they are reached.
@Suite struct LimitTests {
  private func limits(perSession: [Limits.Resource: Int] = [:], perUser: [Limits.Resource: Int] = [:]) -> Limits {
    var limits = Limits()
    limits.perSession.merge(perSession) { $1 }
    limits.perUser.merge(perUser) { $1 }
    return limits
  }

  private func address(_ number: Int) -> PeripheralConnect.Params {
    .init(address: "C0:00:00:00:00:\(number < 10 ? "0" : "")\(number)", addressType: "random")
  }

  private func expect(_ error: RPCError?, _ words: String...) {
    #expect(error?.data?.name == "limitReached")
    for word in words { #expect(error?.message.contains(word) == true, "\(error?.message ?? "no error")") }
  }

  @Test func sessionsInAllAndOfAUser() throws {
    var limits = limits(perUser: [.sessions: 2])
    limits.total[.sessions] = 3
    let world = World(limits: limits)
    let first = world.client(user: 1000)
    _ = world.client(user: 1000)
    let refused = world.client(user: 1000)
    #expect(refused.isClosed)
    expect(refused.errors.first, "user 1000", "2 sessions", "limits.perUser.sessions")
    let other = world.client(user: 1001)
    #expect(!other.isClosed)
    _ = try other.result(ScanStart.self, .init())
    expect(world.client(user: 1002).errors.first, "3 sessions", "limits.sessions")
    let root = world.client()
    #expect(!root.isClosed, "root always gets in")
    root.die()
    first.die()
    #expect(!world.client(user: 1000).isClosed)
  }

  @Test("Two users cannot take all sessions: the last tenth is for users with few, and root is always admitted")
  func sessionsLeftForOthers() throws {
    var limits = limits(perUser: [.sessions: 100])
    limits.total[.sessions] = 200
    let world = World(limits: limits)
    let many = (0..<2).map { user in (0..<100).map { _ in world.client(user: 1000 + UInt32(user)) } }
    #expect(many[0].allSatisfy { !$0.isClosed })
    #expect(many[1].count { !$0.isClosed } == 80)
    expect(many[1].last?.errors.first, "bled has 180 sessions", "limits.sessions")
    let others = (0..<15).map { world.client(user: 2000 + UInt32($0)) }
    #expect(others.allSatisfy { !$0.isClosed })
    let third = (0..<5).map { _ in world.client(user: 3000) }
    #expect(third.count { !$0.isClosed } == 2, "less than a hundredth: 0 and 1 of 200")
    #expect(!world.client().isClosed)
  }

  @Test("Slow readers of many users cannot use up the memory: there is a bound for all, with a share for others")
  func waitingOctetsOfAll() throws {
    var limits = limits(perUser: [.queueOctets: 8 << 20])
    limits.total[.queueOctets] = 10 << 20
    let world = World(limits: limits)
    let rules = world.daemon.rules
    let accounts = (0..<3).map { rules.account(of: 1000 + $0) }
    accounts[0].octets = 8 << 20
    #expect(rules.room(for: accounts[0]) == 0)
    #expect(rules.room(for: accounts[1]) == 2 << 20)
    accounts[1].octets = 1 << 20
    #expect(rules.room(for: accounts[1]) == 0)
    #expect(rules.room(for: accounts[2]) == 1 << 20)
    accounts[0].octets = 0
    #expect(rules.room(for: accounts[1]) == 7 << 20)
  }

  @Test("The calls in progress of all sessions of a user are bounded, too")
  func callsOfAUser() throws {
    let world = World()
    let peer = world.peer()
    let clients = (0..<17).map { _ in world.client(user: 1000) }
    for client in clients { try world.connect(client, peer) }
    peer.isMute = true
    let id = try #require(try clients[0].result(PeripheralList.self, Empty()).peripherals.first).peripheral
    for client in clients[..<16] {
      for _ in 0..<1024 { try client.call(GATTRead.self, .init(peripheral: id, handle: 3)) }
    }
    #expect(world.daemon.rules.account(of: 1000).calls == 16384)
    expect(
      try clients[16].error(GATTRead.self, .init(peripheral: id, handle: 3)),
      "the sessions of this user have 16384 calls in progress")
    for client in clients { client.die() }
    #expect(world.daemon.rules.account(of: 1000).calls == 0)
  }

  @Test("A session may wait for the same device with a few calls, not with thousands")
  func connectsToOneDevice() throws {
    let world = World()
    let client = world.client(user: 1000)
    for _ in 0..<16 { try client.call(PeripheralConnect.self, address(1)) }
    expect(try client.error(PeripheralConnect.self, address(1)), "this session has 16 peripheral.connect calls")
    try client.call(PeripheralConnect.self, address(2))
  }

  @Test func scansOfAUser() throws {
    let world = World(limits: limits(perUser: [.scans: 1]))
    let first = world.client(user: 1000)
    _ = try first.result(ScanStart.self, .init())
    _ = try first.result(ScanStart.self, .init(rssi: -50))
    let second = world.client(user: 1000)
    expect(try second.error(ScanStart.self, .init()), "1 scan", "scan.stop", "limits.perUser.scans")
    _ = try world.client(user: 1001).result(ScanStart.self, .init())
    _ = try first.result(ScanStop.self, .init())
    _ = try second.result(ScanStart.self, .init())
  }

  @Test func devicesThatASessionWaitsForOrUses() throws {
    let world = World(limits: limits(perSession: [.connects: 1, .connections: 2], perUser: [.connections: 4]))
    let client = world.client(user: 1000)
    let peer = world.peer("C0:00:00:00:00:01")
    try world.connect(client, peer)
    try client.call(PeripheralConnect.self, address(2))
    try client.call(PeripheralConnect.self, address(2))
    expect(try client.error(PeripheralConnect.self, address(3)), "this session has 2", "limits.perSession.connections")
    let second = world.client(user: 1000)
    try second.call(PeripheralConnect.self, address(4))
    expect(
      try second.error(PeripheralConnect.self, address(5)), "has 1 pending connections", "peripheral.disconnect")
    try world.client(user: 1000).call(PeripheralConnect.self, address(6))
    let fourth = world.client(user: 1000)
    expect(try fourth.error(PeripheralConnect.self, address(7)), "user 1000 has 4", "limits.perUser.connections")
    #expect(try world.connect(world.client(user: 1001), peer).mtu > 23)
    _ = try client.result(PeripheralDisconnect.self, .init(address: "C0:00:00:00:00:02"))
    try fourth.call(PeripheralConnect.self, address(7))
    #expect(world.adapter.pendingConnections.count == 3)
  }

  @Test func servicesAndAdvertisementsOfAUser() throws {
    let world = World(limits: limits(perUser: [.services: 2, .advertisements: 2]))
    let clients = [world.client(user: 1000), world.client(user: 1000)]
    for client in clients {
      _ = try client.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
      try client.call(AdvertisingStart.self, .init(name: "x"))
    }
    expect(
      try clients[0].error(ServiceAdd.self, .init(service: .init(uuid: 0x180F))), "2 services",
      "limits.perUser.services")
    expect(try clients[1].error(AdvertisingStart.self, .init(name: "x")), "limits.perUser.advertisements")
    let other = world.client(user: 1001)
    _ = try other.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
    #expect(try other.error(of: other.call(AdvertisingStart.self, .init(name: "y")), AdvertisingStart.self) == nil)
    clients[0].die()
    _ = try clients[1].result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
  }

  /// A service of this many attributes, at least one, and the declaration and value of each characteristic two more.
  private func service(attributes count: Int) -> ServiceAdd.Params {
    let characteristic = ServiceToPublish.Characteristic(uuid: 0x2A19, properties: ["read"])
    return .init(service: .init(uuid: 0x180F, characteristics: Array(repeating: characteristic, count: count / 2)))
  }

  @Test("One session cannot take the database from the others")
  func attributesOfASession() throws {
    let world = World()
    let client = world.client(user: 1000)
    let huge = service(attributes: 6_001)
    expect(
      try client.error(ServiceAdd.self, huge), "this session has 0 attributes", "6001", "2000",
      "limits.perSession.attributes")
    _ = try client.result(ServiceAdd.self, service(attributes: 1999))
    expect(try client.error(ServiceAdd.self, service(attributes: 3)), "has 1999 attributes", "service.remove")
    _ = try client.result(ServiceAdd.self, service(attributes: 1))
    expect(try client.error(ServiceAdd.self, service(attributes: 1)), "has 2000 attributes")
    _ = try world.client(user: 1000).result(ServiceAdd.self, service(attributes: 1999))
  }

  @Test func attributesOfAUser() throws {
    let world = World()
    for _ in 0..<8 { _ = try world.client(user: 1000).result(ServiceAdd.self, service(attributes: 1999)) }
    let last = world.client(user: 1000)
    expect(
      try last.error(ServiceAdd.self, service(attributes: 1999)), "user 1000 has 15992 attributes", "16000",
      "limits.perUser.attributes")
    _ = try last.result(ServiceAdd.self, service(attributes: 7))
    _ = try world.client(user: 1001).result(ServiceAdd.self, service(attributes: 1999))
  }

  @Test("What waits for the sessions of one user is bounded together, and others are sent everything")
  func queueOfAUser() throws {
    let world = World(limits: limits(perUser: [.queueOctets: 1 << 20]))
    let deaf = (0..<8).map { _ in world.client(user: 1000) }
    let reader = world.client(user: 1001)
    for client in deaf + [reader] {
      client.reads = false
      try client.call(ScanStart.self, .init(duplicates: true))
    }
    reader.reads = true
    for number in 0..<4000 {
      let address = DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .random)
      world.adapter.hear(address, [2, 1, 6] + [30, 0xFF] + [UInt8](repeating: UInt8(number & 0xFF), count: 29))
      reader.drain()
    }
    let waiting = deaf.compactMap(\.session).reduce(0) { $0 + $1.outbox.waiting }
    #expect(waiting <= 1 << 20 && waiting > 900_000, "\(waiting)")
    #expect(deaf.allSatisfy { !$0.isClosed })
    #expect(try reader.notifications(ScanReport.self).count == 4000)
    deaf[0].reads = true
    deaf[0].drain()
    let left = deaf.dropFirst().compactMap(\.session).reduce(0) { $0 + $1.outbox.waiting }
    #expect(world.daemon.rules.account(of: 1000).octets == left)
    for client in deaf { client.die() }
    #expect(world.daemon.rules.account(of: 1000).octets == 0)
  }

  @Test("A session with more unread data than its limit is closed once, even with answers pending")
  func overflow() throws {
    let log = LogLines()
    let world = World(limits: limits(perUser: [.queueOctets: 1 << 20]), log: log)
    let client = world.client(user: 1000)
    client.reads = false
    // Ten calls for each of a hundred devices.
    for number in 0..<1000 { try client.call(PeripheralConnect.self, address(number % 100)) }
    #expect(world.daemon.rules.account(of: 1000).calls == 1000)
    let id = String(repeating: "x", count: 100)
    for _ in 0..<8000 { client.send("{\"jsonrpc\":\"2.0\",\"id\":\"\(id)\",\"method\":\"adapter.list\"}") }
    // The session is not closed yet; lines behind the excess are dropped.
    client.send(#"{"jsonrpc":"2.0","method":"scan.start"}"#)
    #expect(client.session?.hasOverflowed == true && !client.isClosed)
    #expect(world.adapter.scans.isEmpty)
    world.settle()
    #expect(client.isClosed && client.session?.isOpen == false)
    #expect(log.all.filter { $0.contains("the session is closed") }.count == 1, "\(log.all.suffix(3))")
    #expect(world.adapter.pendingConnections.isEmpty)
  }

  @Test("Half lines count among what waits for a user; what every line needs is always there")
  func heldLines() throws {
    let world = World(limits: limits(perUser: [.queueOctets: 1 << 20]))
    let clients = (0..<4).map { _ in world.client(user: 1000) }
    let connections = try clients.map { try #require($0.connection) }
    let other = try #require(world.client(user: 1001).connection)
    #expect(connections.allSatisfy { $0.longestLine == 1 << 20 })
    connections[0].charge(700_000)
    #expect(connections[0].longestLine == 1 << 20)
    #expect(connections[1].longestLine == (1 << 20) - 700_000)
    connections[1].charge(300_000)
    #expect(connections[2].longestLine == 64 << 10)
    #expect(other.longestLine == 1 << 20)
    connections[0].charge(0)
    #expect(connections[2].longestLine == (1 << 20) - 300_000)
    connections[1].charge(0)
    #expect(world.daemon.rules.account(of: 1000).octets == 0)
  }

  @Test func knownDevicesAreForgottenAtTheBound() throws {
    var limits = Limits()
    limits.total[.peripherals] = 16
    let world = World(limits: limits)
    let client = world.client()
    try client.call(ScanStart.self, .init())
    for number in 0..<100 { world.adapter.hear(DeviceAddress(value: UInt64(number + 1), kind: .public), [2, 1, 6]) }
    #expect(try client.result(PeripheralList.self, Empty()).peripherals.count <= 16)
  }
}
