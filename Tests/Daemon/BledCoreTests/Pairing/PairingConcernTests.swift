import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Users do not answer, weaken or replace pairings that concern others.
@Suite struct PairingConcernTests {
  private let world = World()

  private func bond(_ peer: DeviceAddress, isAuthenticated: Bool = false, key: UInt8 = 5) -> Bond {
    var bond = Bond(local: world.adapter.information.address, peer: peer)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: key, count: 16), size: 16, diversifier: 0, random: 0,
        isAuthenticated: isAuthenticated, isSecureConnections: true, role: .central))
    return bond
  }

  private func tell(_ peer: ScriptedPeer, _ event: PairingEvent) {
    world.adapter.onEvent?(.pairing(peer.address, event))
  }

  private func agent(_ user: UInt32, _ capability: PairingCapability) throws -> TestClient {
    let client = world.client(user: user)
    _ = try client.result(PairingRegister.self, .init(capability: capability))
    return client
  }

  private func connect(_ client: TestClient, _ peer: ScriptedPeer) throws -> (id: String, link: ScriptedLink) {
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    let link = world.adapter.bringUp(peer)
    world.settle()
    return (try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral, link)
  }

  @Test("the agent of another user is not asked, and its capability does not count")
  func foreignAgent() throws {
    let foreign = try agent(1001, "none")
    let own = try agent(1002, "displayYesNo")
    let peer = world.peer()
    let client = world.client(user: 1002)
    let (id, link) = try connect(client, peer)
    _ = try client.call(PeripheralPair.self, .init(peripheral: id))
    #expect(link.raises.map(\.capability) == [.displayYesNo])
    tell(peer, .question(.comparison(7)))
    #expect(try own.calls(PairingConfirm.self).count == 1)
    tell(peer, .showPasskey(42, entered: 0))
    #expect(try own.notifications(PairingShowPasskey.self).count == 1)
    _ = try own.result(PairingUnregister.self, Empty())
    tell(peer, .question(.comparison(7)))
    #expect(world.adapter.answers == [.refuse], "nobody of this user can compare")
    tell(peer, .failed(GAPError.pairingFailed.error("no")))
    #expect(try foreign.calls(PairingConfirm.self).isEmpty)
    #expect(try foreign.notifications(PairingShowPasskey.self).isEmpty)
    #expect(try foreign.notifications(PairingEnded.self).isEmpty)
  }

  @Test("a phone concerns the user whose attribute was refused to it, not others that publish, too")
  func refusedAttribute() throws {
    let foreign = try agent(1001, "keyboardDisplay")
    _ = try foreign.publishProtectedValue([1])
    let own = try agent(1002, "displayYesNo")
    let handle = try own.publishProtectedValue([9])
    let phone = world.peer()
    world.adapter.bringUp(phone, role: .peripheral)
    _ = phone.start(.read(handle))
    world.settle()
    tell(phone, .question(.comparison(1)))
    #expect(try foreign.calls(PairingConfirm.self).isEmpty)
    #expect(try own.calls(PairingConfirm.self).count == 1)
  }

  @Test("a user without services is asked about no phone, and does not change the answers to phones")
  func bystander() throws {
    let foreign = try agent(1001, "none")
    #expect(world.adapter.pairing == PairingSettings(capability: .none, acceptsDevices: false))
    let server = try agent(1002, "displayYesNo")
    #expect(!world.adapter.pairing.acceptsDevices)
    let service = try server.result(
      ServiceAdd.self, .init(service: .init(uuid: 0x1815, characteristics: [])))
    #expect(world.adapter.pairing == PairingSettings(capability: .displayYesNo, acceptsDevices: true))
    let phone = world.peer()
    world.adapter.bringUp(phone, role: .peripheral)
    tell(phone, .question(.consent))
    #expect(try server.calls(PairingConfirm.self).count == 1)
    #expect(try foreign.calls(PairingConfirm.self).isEmpty)
    _ = try server.result(ServiceRemove.self, .init(handle: service.service.handle))
    #expect(!world.adapter.pairing.acceptsDevices)
  }

  @Test("an agent that the policy trusts answers for everybody")
  func trustedAgent() throws {
    var configuration = Configuration.Policy()
    configuration.grants[.agent] = [.user("kiosk")]
    let world = World(policy: World.policy(configuration))
    let desktop = world.client(user: 1001)
    _ = try desktop.result(PairingRegister.self, .init(capability: "keyboardDisplay"))
    #expect(world.adapter.pairing.capability == .keyboardDisplay)
    let peer = world.peer()
    world.adapter.bringUp(peer, role: .peripheral)
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    #expect(try desktop.calls(PairingConfirm.self).count == 1)
  }

  @Test("a foreign yes does not replace another user's keys by weaker or unauthenticated ones; root's does")
  func foreignConsent() throws {
    let owner = try agent(1002, "displayYesNo")
    let peer = world.peer()
    let (id, first) = try connect(owner, peer)
    _ = try owner.call(PeripheralPair.self, .init(peripheral: id))
    let strong = bond(peer.address, isAuthenticated: true)
    tell(peer, .question(.comparison(1)))
    try owner.answer(try #require(try owner.calls(PairingConfirm.self).first).id, PairingConfirm.Result(accept: true))
    tell(peer, .bonded(strong))
    first.endRaise(LinkSecurity(level: 4, keySize: 16))
    #expect(world.adapter.bonds == [strong])
    peer.keys = LinkSecurity(level: 4, keySize: 16)
    first.end(reason: 0x13)
    _ = try owner.call(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    for (user, isKept) in [(UInt32(1001), true), (0, false)] {
      let other = try agent(user, "displayYesNo")
      let (_, link) = try connect(other, peer)
      _ = try other.call(PeripheralPair.self, .init(peripheral: id))
      tell(peer, .question(.consent))
      let asked = try #require(try other.calls(PairingConfirm.self).first)
      try other.answer(asked.id, PairingConfirm.Result(accept: true))
      let weak = bond(peer.address, key: 6)
      tell(peer, .bonded(weak))
      #expect(world.adapter.bonds == [isKept ? strong : weak], "user \(user)")
      link.end(reason: 0x13)
      _ = try other.result(PairingUnregister.self, Empty())
      world.settle()
      other.die()
      world.settle()
    }
  }

  @Test("a program that wants better keys gets none that are as weak, and the earlier ones stay")
  func equalKeys() throws {
    let owner = world.client(user: 1002)
    let peer = world.peer()
    let (id, link) = try connect(owner, peer)
    _ = try owner.call(PeripheralPair.self, .init(peripheral: id))
    let first = bond(peer.address)
    tell(peer, .bonded(first))
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    link.end(reason: 0x13)
    _ = try owner.call(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    peer.keys = LinkSecurity(level: 2, keySize: 16)
    let (_, next) = try connect(owner, peer)
    peer.keys = nil
    _ = try owner.call(PeripheralPair.self, .init(peripheral: id, level: "authenticated"))
    #expect(next.raises.last?.replacesBond == true)
    tell(peer, .bonded(bond(peer.address, key: 6)))
    #expect(world.adapter.bonds == [first] && world.adapter.unpaired == [peer.address])
    let strong = bond(peer.address, isAuthenticated: true, key: 7)
    tell(peer, .bonded(strong))
    #expect(world.adapter.bonds == [strong])
  }

  @Test("a bond that another user relies on is not given up for a better one, but for root and agents")
  func foreignBond() throws {
    let owner = world.client(user: 1002)
    let peer = world.peer()
    let (id, link) = try connect(owner, peer)
    _ = try owner.call(PeripheralPair.self, .init(peripheral: id))
    tell(peer, .bonded(bond(peer.address)))
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    for (user, mayReplace) in [(1002, true), (1003, false), (0, true)] as [(UInt32, Bool)] {
      let client = world.client(user: user)
      _ = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
      world.settle()
      let call = try client.call(PeripheralPair.self, .init(peripheral: id, level: "authenticated"))
      #expect(link.raises.map(\.replacesBond) == (mayReplace ? [true] : []), "user \(user)")
      if mayReplace {
        link.endRaise(nil, GAPError.pairingFailed.error("no"))
      } else {
        #expect(try client.error(of: call, PeripheralPair.self)?.message.contains("another user relies") == true)
      }
    }
  }

  @Test("pairing.open lets devices pair that concern the caller's user, or all for root")
  func windows() throws {
    let server = world.client(user: 1002)
    let handle = try server.publishProtectedValue([9])
    let phone = world.peer()
    world.adapter.bringUp(phone, role: .peripheral)
    _ = phone.start(.read(handle))
    world.settle()
    for (client, answer) in [
      (world.client(user: 1001), PairingAnswer.refuse), (server, .accept), (world.client(), .accept),
    ] {
      _ = try client.result(PairingOpen.self, .init(seconds: 10))
      tell(phone, .question(.consent))
      #expect(world.adapter.answers.last == answer)
      tell(phone, .failed(GAPError.pairingFailed.error("no")))
      _ = try client.result(PairingOpen.self, .init(seconds: 0))
    }
  }

  @Test("data that another user gave for a device are not used when this one pairs with it")
  func foreignOutOfBandData() throws {
    let foreign = world.client(user: 1001)
    let peer = world.peer()
    let octets = HexBytes([UInt8](repeating: 1, count: 16))
    _ = try foreign.result(
      PairingSetOutOfBand.self,
      .init(address: "\(peer.address)", addressType: "random", confirmation: octets, random: octets))
    #expect(world.adapter.outOfBand[peer.address] != nil)
    let client = world.client(user: 1002)
    let (id, _) = try connect(client, peer)
    _ = try client.call(PeripheralPair.self, .init(peripheral: id))
    #expect(world.adapter.outOfBand[peer.address] == nil)
  }

  @Test("data that another user has read are not used when this one pairs", arguments: [1001, 1002, 0] as [UInt32])
  func ownOutOfBandData(_ reader: UInt32) throws {
    let foreign = world.client(user: reader)
    let octets = [UInt8](repeating: 1, count: 16)
    _ = try foreign.call(PairingReadOutOfBand.self, .init())
    world.adapter.outOfBandReads[0](
      .success(
        try #require(OutOfBandData(secure: SecureOutOfBandData(confirmation: octets, random: octets)))))
    world.settle()
    let client = world.client(user: 1002)
    let (id, link) = try connect(client, world.peer())
    _ = try client.call(PeripheralPair.self, .init(peripheral: id))
    // Root's count for all.
    #expect(link.raises.map(\.usesOwnData) == [reader != 1001])
  }

  @Test("after 8 s the next agent is asked, too; the first to answer decides, with the time that is left")
  func silentAgent() throws {
    let first = try agent(1001, "none")
    let second = try agent(1001, "none")
    let peer = world.peer()
    _ = try first.publishProtectedValue([9])
    world.adapter.bringUp(peer, role: .peripheral)
    tell(peer, .question(.consent))
    #expect(try second.calls(PairingConfirm.self).isEmpty)
    world.scheduler.advance(by: .seconds(8))
    let asked = try #require(try second.calls(PairingConfirm.self).first)
    #expect(asked.params.seconds == 17)
    second.die()
    #expect(world.adapter.answers.isEmpty, "the first one may still answer")
    try first.answer(try #require(try first.calls(PairingConfirm.self).first).id, PairingConfirm.Result(accept: true))
    #expect(world.adapter.answers == [.accept])
    world.scheduler.advance(by: .seconds(60))
    #expect(world.adapter.answers == [.accept])
  }

  @Test("an agent whose program is gone is none until it is back")
  func preservedAgent() throws {
    let client = world.client(user: 1001)
    _ = try client.result(SessionOpen.self, .init(restore: "agent", keep: 600))
    _ = try client.result(PairingRegister.self, .init(capability: "none"))
    _ = try client.publishProtectedValue([9])
    #expect(world.adapter.pairing.acceptsDevices)
    client.die()
    #expect(!world.adapter.pairing.acceptsDevices)
    let again = world.client(user: 1001)
    _ = try again.result(SessionOpen.self, .init(restore: "agent", keep: 600))
    #expect(world.adapter.pairing.acceptsDevices)
  }

  @Test("a pairing without a bond that succeeds is no failed try at the fixed passkey")
  func passkeyWithoutBond() throws {
    world.daemon.setPairing(PairingPolicy(standard: .passkey(1)))
    let peer = world.peer()
    for _ in 0..<3 {
      let link = world.adapter.bringUp(peer, role: .peripheral)
      tell(peer, .question(.passkey))
      #expect(world.adapter.answers.last == .passkey(1))
      tell(peer, .pairedWithoutBond)
      link.end(reason: 0x13)
      world.settle()
    }
  }

  @Test("an agent is told, once, that the link of a pairing ended")
  func lostLink() throws {
    let client = try agent(1001, "none")
    _ = try client.publishProtectedValue([9])
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    tell(peer, .question(.consent))
    link.end(reason: 0x08)
    tell(peer, .failed(GAPError.pairingFailed.error("the link is gone")))
    world.settle()
    #expect(try client.notifications(PairingEnded.self).map { $0.reason?.data?.name } == ["disconnected"])
  }

  @Test("only a user whose services a phone uses may forget its keys")
  func foreignForget() throws {
    let server = try agent(1002, "none")
    let handle = try server.publishProtectedValue([9])
    let phone = world.peer()
    let link = world.adapter.bringUp(phone, role: .peripheral)
    _ = phone.start(.read(handle))
    world.settle()
    tell(phone, .question(.consent))
    try server.answer(try #require(try server.calls(PairingConfirm.self).first).id, PairingConfirm.Result(accept: true))
    tell(phone, .bonded(bond(phone.address)))
    link.end(reason: 0x13)
    world.settle()
    let foreign = world.client(user: 1001)
    #expect(
      try foreign.error(PairingForget.self, .init(address: "\(phone.address)"))?.data?.name == "notPermitted")
    #expect(try foreign.notifications(PairingForgotten.self).isEmpty)
    _ = try server.result(PairingForget.self, .init(address: "\(phone.address)"))
    #expect(world.adapter.bonds.isEmpty)
    for client in [server, foreign] {
      #expect(try client.notifications(PairingForgotten.self).map(\.address) == ["\(phone.address)"])
    }
  }

  @Test("a device that pairs through two adapters is asked about on both")
  func twoAdapters() throws {
    let second = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(second)
    let agent = try agent(0, "none")
    let peer = world.peer()
    tell(peer, .question(.consent))
    second.onEvent?(.pairing(peer.address, .question(.consent)))
    for call in try agent.calls(PairingConfirm.self) { try agent.answer(call.id, PairingConfirm.Result(accept: true)) }
    #expect(world.adapter.answers == [.accept] && second.answers == [.accept])
  }
}
