import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Permissions of users and groups.
@Suite struct PolicyTests {
  private func permissions(_ policy: Policy, user: UInt32, group: UInt32 = 5000, groups: [UInt32] = []) -> Set<
    Permission
  > {
    policy.permissions(of: PeerCredentials(process: 1, user: user, group: group, groups: groups))
  }

  @Test(
    "By default root and the daemon's user may everything, members everything but what concerns others, others nothing")
  func defaults() {
    let policy = World.policy()
    let members: Set<Permission> = [.scan, .connect, .serve, .advertise, .pair, .bonds]
    #expect(permissions(policy, user: 0) == Set(Permission.allCases))
    #expect(permissions(policy, user: 900) == Set(Permission.allCases))
    #expect(permissions(policy, user: 1000, groups: [4, 100]) == members)
    #expect(permissions(policy, user: 1000, group: 100) == members)
    #expect(permissions(policy, user: 1000, groups: [4]) == [])
    #expect(policy.permissions(of: nil) == [])
  }

  @Test func usersGroupsAndEverybodyCanBeNamedByNameAndNumber() {
    var configuration = Configuration.Policy()
    configuration.grants = [
      .scan: [.everyone], .connect: [.user("kiosk")], .serve: [.user("1002")], .advertise: [.group("27")],
      .pair: [.group("bluetooth"), .user("kiosk")],
    ]
    let policy = World.policy(configuration)
    #expect(permissions(policy, user: 1001) == [.scan, .connect, .pair, .bonds])
    #expect(permissions(policy, user: 1002) == [.scan, .serve])
    #expect(permissions(policy, user: 1003, groups: [27]) == [.scan, .advertise])
    #expect(permissions(policy, user: 1004, groups: [100]) == [.scan, .pair, .bonds])
  }

  @Test("A gateway for paired devices knows them, and cannot pair; a refusal names both ways to know them")
  func bonds() throws {
    var configuration = Configuration.Policy()
    configuration.grants[.bonds] = [.user("1005")]
    let world = World(policy: World.policy(configuration))
    let gateway = world.client(user: 1005, groups: [])
    #expect(try gateway.result(SessionOpen.self, .init()).permissions == ["bonds"])
    #expect(try gateway.result(PairingList.self, Empty()).bonds.isEmpty)
    #expect(try gateway.error(PairingOpen.self, .init(seconds: 5))?.data?.name == "notPermitted")
    let stranger = world.client(user: 1006, groups: [])
    let refusal = try #require(try stranger.error(PairingList.self, Empty())).message
    for word in ["group bluetooth", "policy.bonds"] { #expect(refusal.contains(word), "\(refusal)") }
  }

  @Test func namesThatNobodyHasAreToldAndPermitNothing() {
    var configuration = Configuration.Policy()
    configuration.grants = [.scan: [.user("ghost"), .group("ghosts")], .connect: [.user("ghost")]]
    var unknown: [String] = []
    let policy = Policy(configuration, accounts: Accounts(users: [:], groups: [:]), ownUser: 1) { unknown.append($0) }
    #expect(unknown == ["group:ghosts", "user:ghost"])
    #expect(permissions(policy, user: 1000) == [])
  }

  @Test("A refusal names the permission, the user and what to do; nothing happens")
  func refusal() throws {
    let world = World()
    let client = world.client(user: 1000, groups: [])
    #expect(try client.result(SessionOpen.self, .init()).permissions == [])
    #expect(try client.result(AdapterList.self, Empty()).adapters.count == 1)
    let error = try #require(try client.error(ScanStart.self, .init()))
    #expect(error.data?.domain == "bled")
    #expect(error.data?.name == "notPermitted")
    for word in ["user 1000", "\"scan\"", "group bluetooth", "user:1000", "policy.scan"] {
      #expect(error.message.contains(word), "\(error.message)")
    }
    #expect(world.adapter.scan == nil)
  }

  @Test("No method is served to a program that may not call it")
  func everyMethod() throws {
    let world = World()
    let client = world.client(user: 1000, groups: [])
    // The others are open to every session, and refuse a call without its parameter.
    let others = [SessionEnd.name, L2CAPClose.name, CaptureStop.name]
    for (number, method) in ProtocolContents.clientCalls.enumerated() where !others.contains(method.name) {
      client.send("{\"jsonrpc\":\"2.0\",\"id\":\(number),\"method\":\"\(method.name)\",\"params\":{}}")
      client.drain()
      guard case .failure(_, let error)? = client.messages.last?.kind else {
        #expect(method.method.permission == nil, "\(method.name) was served")
        continue
      }
      #expect(method.method.permission != nil && error.data?.name == "notPermitted", "\(method.name): \(error)")
    }
  }

  @Test func eachPermissionOpensItsMethods() throws {
    var configuration = Configuration.Policy()
    configuration.grants = [.scan: [.user("1000")]]
    let world = World(policy: World.policy(configuration))
    let client = world.client(user: 1000)
    #expect(try client.result(SessionOpen.self, .init()).permissions == ["scan"])
    _ = try client.result(ScanStart.self, .init())
    #expect(world.adapter.scan != nil)
    #expect(try client.error(AdvertisingStart.self, .init())?.message.contains("policy.advertise") == true)
  }
}
