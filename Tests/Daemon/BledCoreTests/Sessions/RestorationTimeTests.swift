import BledRPC
import Testing

@testable import BledCore

/// The lifetime of sessions without their programs: G20.
@Suite struct RestorationTimeTests {
  private let world = World()
  private let belt: ScriptedPeer

  init() { belt = world.peer() }

  private func program() -> TestClient { world.client(user: 1000) }

  @discardableResult
  private func open(
    _ client: TestClient, restore: String = "app", keep: Double? = nil
  ) throws -> SessionOpen.Result {
    try client.result(SessionOpen.self, .init(name: "app", restore: restore, keep: keep))
  }

  @Test(
    "G20: after the time everything is given back; a session may ask for less, and one that holds nothing is not kept")
  func time() throws {
    for (keep, left) in [(nil, 3600.0), (60.0, 60.0), (1e6, 3600.0)] as [(Double?, Double)] {
      let client = program()
      #expect(try open(client, keep: keep).restored == nil)
      try world.connect(client, belt)
      client.die()
      world.scheduler.advance(by: .seconds(left - 2))
      #expect(world.daemon.sessions.count == 1 && world.daemon.links.links.count == 1)
      world.scheduler.advance(by: .seconds(3))
      #expect(world.daemon.sessions.isEmpty && world.daemon.links.links.isEmpty)
    }
    let idle = program()
    try open(idle)
    idle.die()
    #expect(world.daemon.sessions.isEmpty)
    let plain = program()
    try world.connect(plain, belt)
    plain.die()
    world.settle()
    #expect(world.daemon.links.links.isEmpty)
  }

  @Test("G20: another time to be kept holds for those that are kept already; what was over by then is given back")
  func otherTime() throws {
    func apply(_ keep: Duration) {
      world.daemon.apply(identity: .init(name: "x"), policy: World.policy(), limits: Limits(), retention: keep)
    }
    for (identifier, keep) in [("app", nil), ("short", 100.0)] as [(String, Double?)] {
      let client = program()
      try open(client, restore: identifier, keep: keep)
      _ = try client.result(ScanStart.self, .init(services: [0x1815]))
      client.die()
    }
    world.scheduler.advance(by: .seconds(50))
    apply(.seconds(7200))
    world.scheduler.advance(by: .seconds(51))
    #expect(world.daemon.sessions.map { $0.restoration?.identifier } == ["app"], "it asked for less itself")
    world.scheduler.advance(by: .seconds(7000))
    #expect(world.daemon.sessions.count == 1)
    apply(.seconds(7102))
    world.scheduler.advance(by: .seconds(2))
    #expect(world.daemon.sessions.isEmpty)
    let client = program()
    try open(client)
    _ = try client.result(ScanStart.self, .init(services: [0x1815]))
    apply(.zero)
    client.die()
    #expect(world.daemon.sessions.isEmpty && world.adapter.scan == nil)
  }
}
