import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Devices that pair, questions to agents, and stored bonds: P19 to P22.
@Suite struct PairingBrokerTests {
  private let world = World()
  private let own = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)

  private func bond(_ peer: DeviceAddress, isAuthenticated: Bool = false) -> Bond {
    var bond = Bond(local: own, peer: peer)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 0,
        isAuthenticated: isAuthenticated, isSecureConnections: true, role: .central))
    return bond
  }

  /// A client connected with a peer that refuses reads on a link that is not encrypted.
  private func protected(
    _ client: TestClient, in world: World? = nil, refusal: UInt8 = 0x0F
  ) throws -> (peer: ScriptedPeer, link: ScriptedLink, id: String) {
    let world = world ?? self.world
    let peer = world.peer()
    try peer.furnish()
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    let link = world.adapter.bringUp(peer)
    world.settle()
    let id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    peer.refusing = { [unowned link] packet in packet[0] == 0x0A && link.security.level < 2 ? refusal : nil }
    return (peer, link, id)
  }

  @Test("P19: a read that the device refuses for lack of security pairs and is repeated; the program notices nothing")
  func protectedRead() throws {
    let client = world.client()
    let (peer, link, id) = try protected(client)
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    let next = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A56)))
    world.settle()
    #expect(link.raises.map(\.level) == [2])
    #expect(try client.answer(to: read, GATTRead.self) == nil)
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    #expect(world.adapter.answers == [.accept], "who reads a protected value wants to pair")
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(try client.answer(to: read, GATTRead.self)?.get().value.octets == [1])
    #expect(try client.answer(to: next, GATTRead.self)?.get().value.octets.count == 512)
  }

  @Test("a pairing that fails gives the device's own error, once")
  func failedPairing() throws {
    let client = world.client()
    let (peer, link, id) = try protected(client)
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    world.settle()
    link.endRaise(nil, GAPError.pairingFailed.error("refused"))
    world.settle()
    #expect(try client.error(of: read, GATTRead.self)?.data?.name == "insufficientEncryption")
    #expect(link.raises.isEmpty)
  }

  @Test("P20: a program without the permission to pair pairs with nothing, but uses what is paired")
  func permission() throws {
    var configuration = Configuration.Policy()
    configuration.grants[.pair] = []
    let world = World(policy: World.policy(configuration))
    let client = world.client(user: 1001)
    let (peer, link, id) = try protected(client, in: world, refusal: 0x05)
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    world.settle()
    #expect(try client.error(of: read, GATTRead.self)?.data?.name == "insufficientAuthentication")
    #expect(link.raises.isEmpty)
    #expect(try client.error(PeripheralPair.self, .init(peripheral: id))?.data?.name == "notPermitted")
    // Keys that were not allowed are not stored.
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    #expect(world.adapter.unpaired == [peer.address])
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    world.daemon.setPairing(PairingPolicy())
    _ = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    world.settle()
    #expect(link.raises.count == 1)
  }

  @Test("P22: a bonded device that pairs anew without a question is refused: it may be another one")
  func impersonation() throws {
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    link.end(reason: 0x13)
    world.settle()
    world.adapter.bringUp(peer, role: .peripheral)
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    #expect(world.adapter.answers == [.accept, .refuse])
  }

  @Test("P22: a passkey is shown only to the session that pairs; without one nothing pairs")
  func shownPasskeys() throws {
    let first = world.client()
    let second = world.client()
    _ = try first.result(PairingRegister.self, .init(capability: "display"))
    _ = try second.result(PairingRegister.self, .init(capability: "display"))
    let (peer, _, id) = try protected(second)
    _ = try second.call(PeripheralPair.self, .init(peripheral: id))
    world.adapter.onEvent?(.pairing(peer.address, .showPasskey(42, entered: 0)))
    #expect(try second.notifications(PairingShowPasskey.self).map(\.passkey) == ["000042"])
    #expect(try first.notifications(PairingShowPasskey.self).isEmpty)
    world.adapter.onEvent?(.pairing(peer.address, .failed(GAPError.pairingFailed.error("wrong"))))
    #expect(try second.notifications(PairingEnded.self).count == 1)
    #expect(try first.notifications(PairingEnded.self).isEmpty)
  }

  @Test("P22: peripheral.pair answers with what was reached, when the keys are stored")
  func pair() throws {
    let scheduler = VirtualScheduler()
    let kept = MemoryStorage(scheduler: scheduler)
    let world = World(scheduler: scheduler, storage: kept)
    let client = world.client()
    let (peer, link, id) = try protected(client, in: world)
    let pairing = try client.call(PeripheralPair.self, .init(peripheral: id, level: "authenticated"))
    #expect(link.raises.map(\.level) == [3])
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address, isAuthenticated: true))))
    link.endRaise(LinkSecurity(level: 4, keySize: 16))
    #expect(try client.answer(to: pairing, PeripheralPair.self) == nil, "the keys are not on disk yet")
    world.settle()
    let result = try #require(try client.answer(to: pairing, PeripheralPair.self)).get()
    #expect(result == .init(level: "secureConnections", keySize: 16, bonded: true))
    #expect(kept.files["bonds"] != nil)
    // The next daemon configures its adapter before it starts.
    let next = World(scheduler: scheduler, storage: kept)
    #expect(next.adapter.bonds == [bond(peer.address, isAuthenticated: true)])
    let list = try next.client().result(PairingList.self, Empty()).bonds
    #expect(list.map(\.address) == ["\(peer.address)"] && list.map(\.level) == ["secureConnections"])
    _ = try next.client().result(PairingForget.self, .init(address: "\(peer.address)"))
    #expect(next.adapter.unpaired == [peer.address])
    #expect(try next.client().result(PairingList.self, Empty()).bonds.isEmpty)
  }

  @Test("P22: a pairing that does not reach the requested level leaves no bond, unless another session wants it")
  func unreachedLevel() throws {
    let world = World()
    let (first, second) = (world.client(), world.client())
    let (peer, link, id) = try protected(first, in: world)
    func bonds() throws -> [BondDescription] { try first.result(PairingList.self, Empty()).bonds }
    func weak() {
      world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
      link.endRaise(LinkSecurity(level: 2, keySize: 16), GAPError.pairingFailed.error("level 2"))
      world.settle()
    }
    let alone = try first.call(PeripheralPair.self, .init(peripheral: id, level: "authenticated"))
    weak()
    #expect(try first.error(of: alone, PeripheralPair.self)?.data?.name == "pairingFailed")
    #expect(try bonds().isEmpty && world.adapter.unpaired == [peer.address])
    // The other session requests less, and gets it.
    _ = try second.call(PeripheralConnect.self, .init(peripheral: id))
    world.settle()
    link.protect(LinkSecurity(level: 1, keySize: 0))
    let more = try first.call(PeripheralPair.self, .init(peripheral: id, level: "authenticated"))
    let less = try second.call(PeripheralPair.self, .init(peripheral: id, level: "encrypted"))
    weak()
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(try first.error(of: more, PeripheralPair.self)?.data?.name == "pairingFailed")
    #expect(try second.answer(to: less, PeripheralPair.self)?.get().bonded == true)
    #expect(try bonds().count == 1 && world.adapter.unpaired.count == 1)
  }

  @Test("P22: peripheral.pair may replace a weaker bond, which stays if that fails; no other operation does")
  func replacedBond() throws {
    let world = World()
    let client = world.client()
    let (peer, link, id) = try protected(client, in: world)
    func bonds() throws -> [String] {
      try client.result(PairingList.self, Empty()).bonds.map { "\($0.level)" }
    }
    let first = try client.call(PeripheralPair.self, .init(peripheral: id, level: "encrypted"))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(try client.answer(to: first, PeripheralPair.self)?.get().bonded == true)
    // The device pairs anew, and no better.
    let weak = try client.call(PeripheralPair.self, .init(peripheral: id, level: "authenticated"))
    #expect(link.raises.map(\.replacesBond) == [true])
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    link.endRaise(LinkSecurity(level: 2, keySize: 16), GAPError.pairingFailed.error("level 2"))
    world.settle()
    #expect(try client.error(of: weak, PeripheralPair.self)?.data?.name == "pairingFailed")
    #expect(try bonds() == ["encrypted"] && world.adapter.unpaired.isEmpty)
    let strong = try client.call(PeripheralPair.self, .init(peripheral: id, level: "authenticated"))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address, isAuthenticated: true))))
    link.endRaise(LinkSecurity(level: 4, keySize: 16))
    world.settle()
    #expect(try client.answer(to: strong, PeripheralPair.self)?.get().level == "secureConnections")
    #expect(try bonds() == ["secureConnections"])
  }

  @Test(
    "a pairing that replaces a bond and operations that use the bond wait for each other", arguments: [true, false])
  func replacingTurns(pairsFirst: Bool) throws {
    let world = World()
    let client = world.client()
    let (peer, link, id) = try protected(client, in: world)
    _ = try client.call(PeripheralPair.self, .init(peripheral: id, level: "encrypted"))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    peer.refusing = { $0[0] == 0x0A ? 0x05 : nil }
    let calls = [
      { _ = try client.call(PeripheralPair.self, .init(peripheral: id, level: "secureConnections")) },
      { _ = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38))) },
    ]
    for call in pairsFirst ? calls : calls.reversed() {
      try call()
      world.settle()
    }
    #expect(link.raises.map(\.replacesBond) == [pairsFirst])
    link.endRaise(nil, GAPError.pairingFailed.error("no"))
    world.settle()
    #expect(link.raises.map(\.replacesBond) == [!pairsFirst], "the other one was not part of it")
  }

  @Test("a request that waits behind a pairing is answered when the link ends, whatever the adapter does")
  func waitingAtTheEnd() throws {
    let world = World()
    let client = world.client()
    let (peer, link, id) = try protected(client, in: world)
    _ = try client.call(PeripheralPair.self, .init(peripheral: id, level: "encrypted"))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    _ = try client.call(PeripheralPair.self, .init(peripheral: id, level: "secureConnections"))
    let waiting = try client.call(PeripheralPair.self, .init(peripheral: id, level: "encrypted"))
    world.settle()
    #expect(try client.answer(to: waiting, PeripheralPair.self) == nil && link.raises.count == 1)
    link.end(reason: 0x13)
    world.settle()
    #expect(try client.error(of: waiting, PeripheralPair.self) != nil)
  }

  @Test("P20: a stranger that asks to pair is refused, unless the configuration, a window or an agent allows it")
  func strangers() throws {
    let peer = world.peer()
    world.adapter.bringUp(peer, role: .peripheral)
    let ask = { world.adapter.onEvent?(.pairing(peer.address, .question(.consent))) }
    ask()
    #expect(!world.adapter.pairing.acceptsDevices)
    let client = world.client()
    _ = try client.result(PairingOpen.self, .init(seconds: 10))
    #expect(world.adapter.pairing.acceptsDevices)
    ask()
    world.scheduler.advance(by: .seconds(11))
    #expect(!world.adapter.pairing.acceptsDevices)
    ask()
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    ask()
    #expect(world.adapter.answers == [.refuse, .accept, .refuse, .accept])
    world.adapter.onEvent?(.pairing(peer.address, .question(.comparison(123_456))))
    #expect(world.adapter.answers.last == .refuse, "nobody is there who could compare")
    #expect(try client.error(PairingOpen.self, .init(seconds: -1))?.data?.name == "invalidParameter")
  }

  @Test("P21: agents are asked in order, the session that pairs first; each question has one answer and a deadline")
  func agents() throws {
    let first = world.client()
    let second = world.client()
    _ = try first.result(PairingRegister.self, .init(capability: "displayYesNo"))
    _ = try second.result(PairingRegister.self, .init(capability: "keyboardDisplay"))
    #expect(world.adapter.pairing == PairingSettings(capability: .displayYesNo, acceptsDevices: true))
    let (peer, link, id) = try protected(second)
    _ = try second.call(PeripheralPair.self, .init(peripheral: id))
    #expect(link.raises.count == 1)
    world.adapter.onEvent?(.pairing(peer.address, .question(.comparison(1234))))
    #expect(try first.calls(PairingConfirm.self).isEmpty)
    let asked = try #require(try second.calls(PairingConfirm.self).first)
    #expect(asked.params.number == "001234" && asked.params.device.isOurs && asked.params.device.peripheral == id)
    try second.answer(asked.id, PairingConfirm.Result(accept: true))
    #expect(world.adapter.answers == [.accept])
    // Only one of them has a keyboard.
    world.adapter.onEvent?(.pairing(peer.address, .question(.passkey)))
    let typed = try #require(try second.calls(PairingEnterPasskey.self).first)
    try second.answer(typed.id, PairingEnterPasskey.Result(passkey: "004711"))
    #expect(world.adapter.answers.last == .passkey(4711))
    // An agent that cannot answer passes the question on; an agent that does not answer in time refuses.
    second.forget()
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    let passed = try #require(try second.calls(PairingConfirm.self).first)
    try second.refuse(passed.id, BledError.invalidParameter.error("no"))
    #expect(try first.calls(PairingConfirm.self).count == 1)
    #expect(world.adapter.answers.count == 2)
    world.scheduler.advance(by: .seconds(25))
    #expect(world.adapter.answers.count == 3 && world.adapter.answers.last == .refuse)
    // An agent that ends refuses, too: no other session has seen the passkey.
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    second.die()
    #expect(world.adapter.answers.count == 4 && world.adapter.answers.last == .refuse)
    _ = try first.result(PairingUnregister.self, Empty())
    #expect(!world.adapter.pairing.acceptsDevices)
  }

  @Test("a link that the kernel encrypted without anybody's consent counts as not encrypted")
  func silentPairing() throws {
    let server = world.client()
    let handle = try server.publishProtectedValue([9])
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    link.protect(LinkSecurity(level: 2, keySize: 16))
    let refused = peer.start(.read(handle))
    world.settle()
    #expect(throws: GATTError.self) { try peer.results[refused]?.get() }
    _ = try server.result(PairingOpen.self, .init(seconds: 1))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address))))
    world.settle()
    world.settle()
    let read = peer.start(.read(handle))
    world.settle()
    #expect(try peer.results[read]?.get() == .value([9]))
  }
}
