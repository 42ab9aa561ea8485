import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// `session.open` with `user`: a program that serves the programs of other users.
@Suite struct ImpersonationTests {
  private let world = World(policy: Self.policy())

  private static func policy() -> Policy {
    var configuration = Configuration.Policy()
    configuration.grants[.impersonate] = [.user("700")]
    return World.policy(configuration)
  }

  /// A session of the trusted program.
  private func facade() -> TestClient { world.client(user: 700) }

  private func open(_ client: TestClient, _ user: Principal) throws -> SessionOpen.Result {
    try client.result(SessionOpen.self, .init(name: "facade", user: user))
  }

  @Test("The session has the permissions of the user for whom it is")
  func permissions() throws {
    let member = facade()
    #expect(
      try open(member, Principal(id: 1000, groups: [1000, 100])).permissions
        == ["scan", "connect", "serve", "advertise", "pair", "bonds"])
    #expect(try member.error(ScanStart.self, .init()) == nil)
    let stranger = facade()
    #expect(try open(stranger, Principal(id: 1001, groups: [1001])).permissions == [])
    #expect(try stranger.error(ScanStart.self, .init())?.message.contains("user 1001 lacks") == true)
    let root = facade()
    #expect(try open(root, Principal(id: 0)).permissions.count == Permission.allCases.count)
  }

  @Test("Others may not, and keep the session that they had")
  func refused() throws {
    let client = world.client(user: 1000, groups: [100])
    let refusal = try client.error(SessionOpen.self, .init(user: Principal(id: 0)))
    #expect(refusal?.data?.name == "notPermitted")
    #expect(try client.result(SessionOpen.self, .init()).permissions.count == 6)
  }

  @Test("It is possible in the first call alone")
  func late() throws {
    let client = facade()
    _ = try client.result(AdapterList.self, Empty())
    #expect(try client.error(SessionOpen.self, .init(user: Principal(id: 1000)))?.data?.name == "invalidParameter")
  }

  @Test("session.list names the user and the process for whom it is; the first session is gone")
  func listed() throws {
    let client = facade()
    _ = try open(client, Principal(id: 1000, groups: [100], process: 4711))
    let own = try client.result(SessionList.self, .init()).sessions
    #expect(own.map(\.user) == [1000] && own.map(\.process) == [4711])
    #expect(own.map(\.impersonator) == [700] && own.map(\.program) == ["prog700"])
    #expect(try world.client().result(SessionList.self, .init()).sessions.compactMap(\.user).sorted() == [0, 1000])
  }

  @Test("The limits of the user count, for all facades and direct sessions together")
  func limits() throws {
    var limits = Limits()
    limits.perUser[.sessions] = 2
    let world = World(policy: Self.policy(), limits: limits)
    let direct = world.client(user: 1000, groups: [100])
    #expect(!direct.isClosed)
    let clients = (0..<2).map { _ in world.client(user: 700) }
    _ = try clients[0].result(SessionOpen.self, .init(user: Principal(id: 1000, groups: [100])))
    let refusal = try clients[1].error(SessionOpen.self, .init(user: Principal(id: 1000, groups: [100])))
    #expect(refusal?.data?.name == "limitReached")
  }

  @Test("Calls behind a refused change of the user are not executed in the name of the program")
  func pipelined() throws {
    var limits = Limits()
    limits.perUser[.sessions] = 1
    let world = World(policy: Self.policy(), limits: limits)
    let user = Principal(id: 1000, groups: [100])
    let first = world.client(user: 700)
    _ = try first.result(SessionOpen.self, .init(user: user))
    let second = world.client(user: 700)
    let open = try second.call(SessionOpen.self, .init(user: user))
    let list = try second.call(AdapterList.self, Empty())
    #expect(try second.error(of: open, SessionOpen.self)?.data?.name == "limitReached")
    #expect(try second.answer(to: list, AdapterList.self) == nil)
    #expect(second.isClosed && !first.isClosed)
  }

  @Test("A new policy counts for the user, not for the program that acts")
  func reload() throws {
    let client = facade()
    _ = try open(client, Principal(id: 1000, groups: [100]))
    var configuration = Configuration.Policy()
    configuration.grants = [.impersonate: [.user("700")]]
    world.daemon.apply(
      identity: .init(name: "bled test"), policy: World.policy(configuration), limits: Limits(), retention: .zero)
    #expect(client.isClosed)
  }

  @Test("A program that may no longer act for others loses the sessions that it opened for them")
  func trustEnds() throws {
    let client = facade()
    let direct = world.client(user: 1000, groups: [100])
    _ = try open(client, Principal(id: 1000, groups: [100]))
    world.daemon.apply(
      identity: .init(name: "bled test"), policy: World.policy(), limits: Limits(), retention: .zero)
    #expect(client.isClosed && !direct.isClosed)
  }

  @Test("The call that changes the user is counted for one of them, and ends there")
  func calls() throws {
    let clients = (0..<3).map { _ in facade() }
    let own = facade()
    for client in clients { _ = try open(client, Principal(id: 1000, groups: [100])) }
    let rules = world.daemon.rules
    #expect(rules.account(of: 700).calls == 0 && rules.account(of: 1000).calls == 0)
    withExtendedLifetime(own) {}
  }

  @Test("A device that the program itself looks at can be forgotten by the users")
  func looking() throws {
    let program = world.client(user: 700, groups: [100])
    let id = try world.connect(program, world.peer()).peripheral
    _ = try program.result(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    let client = facade()
    _ = try open(client, Principal(id: 1000, groups: [100]))
    _ = try client.result(PeripheralForget.self, .init(peripheral: id))
  }

  @Test("The number that stands for no user is refused")
  func nobody() throws {
    let refusal = try facade().error(SessionOpen.self, .init(user: Principal(id: .max)))
    #expect(refusal?.data?.name == "invalidParameter")
  }

  @Test("The last session that there may be can be for another user")
  func last() throws {
    var limits = Limits()
    limits.total[.sessions] = 1
    let world = World(policy: Self.policy(), limits: limits)
    let client = world.client(user: 700)
    _ = try client.result(SessionOpen.self, .init(user: Principal(id: 1000, groups: [100])))
  }

  @Test("A preserved session is resumed for its user, not for another one")
  func restored() throws {
    let first = facade()
    _ = try first.result(SessionOpen.self, .init(restore: "r", user: Principal(id: 1000, groups: [100])))
    _ = try first.result(ScanStart.self, .init())
    first.die()
    let other = facade()
    let fresh = try other.result(SessionOpen.self, .init(restore: "r", user: Principal(id: 1002, groups: [100])))
    #expect(fresh.restored == nil)
    let same = facade()
    let resumed = try same.result(SessionOpen.self, .init(restore: "r", user: Principal(id: 1000, groups: [100])))
    #expect(resumed.restored?.scan != nil)
    #expect(try same.result(SessionList.self, .init()).sessions.map(\.user) == [1000])
  }
}
