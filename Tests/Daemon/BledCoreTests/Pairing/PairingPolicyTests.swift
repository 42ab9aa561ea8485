import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Pairings that the configuration permits, protection against weaker keys, and reports of lost ones: P20, P22.
@Suite struct PairingPolicyTests {
  private let world = World()

  private func bond(
    _ peer: DeviceAddress, isAuthenticated: Bool = false, size: Int = 16, key: UInt8 = 5
  ) -> Bond {
    var bond = Bond(local: world.adapter.information.address, peer: peer)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: key, count: 16), size: size, diversifier: 0, random: 0,
        isAuthenticated: isAuthenticated, isSecureConnections: true, role: .central))
    return bond
  }

  private func tell(_ peer: ScriptedPeer, _ event: PairingEvent) {
    world.adapter.onEvent?(.pairing(peer.address, event))
  }

  private func connect(_ client: TestClient, _ peer: ScriptedPeer) throws -> (id: String, link: ScriptedLink) {
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    let link = world.adapter.bringUp(peer)
    world.settle()
    return (try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral, link)
  }

  @Test("the rule of the device goes before that of the adapter, and that before the general one")
  func rules() throws {
    let peer = world.peer()
    world.adapter.bringUp(peer, role: .peripheral)
    var policy = PairingPolicy(standard: .justWorks)
    world.daemon.setPairing(policy)
    tell(peer, .question(.consent))
    policy.adapters["hci0"] = .refuse
    world.daemon.setPairing(policy)
    #expect(!world.adapter.pairing.acceptsDevices)
    tell(peer, .question(.consent))
    policy.peripherals[peer.address.value] = .justWorks
    world.daemon.setPairing(policy)
    #expect(world.adapter.pairing.acceptsDevices, "the kernel must keep the keys of that one")
    tell(peer, .question(.consent))
    policy.peripherals[peer.address.value] = .refuse
    world.daemon.setPairing(policy)
    tell(peer, .question(.consent))
    #expect(world.adapter.answers == [.accept, .refuse, .accept, .refuse])
  }

  @Test("a fixed passkey needs no question; pauses grow after failures, and ten are the limit")
  func fixedPasskey() throws {
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    world.daemon.setPairing(PairingPolicy(standard: .passkey(12_345)))
    #expect(world.adapter.pairing == PairingSettings(capability: .keyboard, acceptsDevices: true))
    tell(peer, .question(.consent))
    #expect(world.adapter.answers == [.refuse], "a passkey is a check; without one nothing pairs")
    func attempt() -> PairingAnswer? {
      tell(peer, .question(.passkey))
      defer { tell(peer, .failed(GAPError.pairingFailed.error("wrong"))) }
      return world.adapter.answers.last
    }
    #expect(attempt() == .passkey(12_345))
    #expect(attempt() == .refuse, "at once after a failure")
    for failure in 1..<PasskeyBrake.maximumFailures {
      world.scheduler.advance(by: .seconds(1 << failure))
      #expect(attempt() == .passkey(12_345), "after \(failure) failures")
      #expect(attempt() == .refuse)
    }
    world.scheduler.advance(by: .seconds(86400))
    #expect(attempt() == .refuse, "after ten failures it is not used any more")
    world.daemon.setPairing(PairingPolicy(standard: .passkey(12_345)))
    #expect(attempt() == .passkey(12_345), "somebody has looked at the configuration")
    world.scheduler.advance(by: .seconds(2))
    tell(peer, .question(.passkey))
    tell(peer, .bonded(bond(peer.address, isAuthenticated: true)))
    #expect(world.adapter.unpaired.isEmpty)
    link.end(reason: 0x13)
  }

  @Test("a pairing that a session causes has the capability of that session, or types the passkey of the policy")
  func capabilities() throws {
    let first = world.client()
    let second = world.client()
    _ = try first.result(PairingRegister.self, .init(capability: "display"))
    _ = try second.result(PairingRegister.self, .init(capability: "keyboardDisplay"))
    let peer = world.peer()
    try peer.furnish()
    let (id, link) = try connect(second, peer)
    _ = try second.call(PeripheralPair.self, .init(peripheral: id))
    #expect(link.raises.map(\.capability) == [.keyboardDisplay])
    link.endRaise(nil, GAPError.pairingFailed.error("no"))
    _ = try second.result(PairingUnregister.self, Empty())
    _ = try second.call(PeripheralPair.self, .init(peripheral: id))
    #expect(link.raises.map(\.capability) == [.display])
    link.endRaise(nil, GAPError.pairingFailed.error("no"))
    var policy = PairingPolicy()
    policy.peripherals[peer.address.value] = .passkey(1)
    world.daemon.setPairing(policy)
    _ = try second.call(PeripheralPair.self, .init(peripheral: id))
    #expect(link.raises.map(\.capability) == [.keyboard])
    tell(peer, .question(.passkey))
    #expect(world.adapter.answers == [.passkey(1)])
    #expect(
      try second.error(PeripheralPair.self, .init(peripheral: id, minimumKeySize: 17))?.data?.name
        == "invalidParameter")
  }

  @Test("P22: weaker keys do not replace earlier ones without a question")
  func weakerKeys() throws {
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    let peer = world.peer()
    world.adapter.bringUp(peer, role: .peripheral)
    let strong = bond(peer.address, isAuthenticated: true)
    tell(peer, .bonded(strong))
    #expect(world.adapter.bonds == [strong])
    for weak in [bond(peer.address, key: 6), bond(peer.address, isAuthenticated: true, size: 7, key: 6)] {
      tell(peer, .bonded(weak))
      #expect(world.adapter.unpaired.last == peer.address)
      #expect(world.adapter.bonds == [strong], "the earlier keys stay")
    }
    #expect(world.adapter.unpaired.count == 2)
    #expect(world.adapter.addedBonds == 2, "the adapter uses the earlier keys again")
    // An equally good key replaces it.
    let next = bond(peer.address, isAuthenticated: true, key: 7)
    tell(peer, .bonded(next))
    #expect(world.adapter.bonds == [next])
    // A person sees what would be replaced, and decides.
    let agent = world.client()
    _ = try agent.result(PairingRegister.self, .init(capability: "none"))
    tell(peer, .question(.consent))
    let asked = try #require(try agent.calls(PairingConfirm.self).first)
    #expect(asked.params.device.bondLevel == "secureConnections")
    try agent.answer(asked.id, PairingConfirm.Result(accept: true))
    let weak = bond(peer.address, key: 8)
    tell(peer, .bonded(weak))
    #expect(world.adapter.bonds == [weak] && world.adapter.unpaired.count == 2)
  }

  @Test("P22: keys that were not allowed leave the bond of that address as it was")
  func usurpedAddress() throws {
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    let peer = world.peer()
    world.adapter.bringUp(peer, role: .peripheral)
    let own = bond(peer.address)
    tell(peer, .bonded(own))
    world.daemon.setPairing(PairingPolicy())
    tell(peer, .bonded(bond(peer.address, key: 6)))
    #expect(world.adapter.unpaired == [peer.address] && world.adapter.bonds == [own] && world.adapter.addedBonds == 1)
  }

  @Test("keys that are not secret give way to the bond that there was, or to none")
  func refusedKeys() throws {
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    let peer = world.peer()
    world.adapter.bringUp(peer, role: .peripheral)
    let own = bond(peer.address)
    tell(peer, .bonded(own))
    tell(peer, .bonded(bond(peer.address, key: 6)))
    #expect(world.adapter.addedBonds == 0, "the adapter made both")
    tell(peer, .keysRefused(earlier: own))
    #expect(world.adapter.bonds == [own] && world.adapter.addedBonds == 1)
    tell(peer, .keysRefused(earlier: nil))
    #expect(world.adapter.bonds == [] && world.adapter.addedBonds == 1)
  }

  @Test("P22: consent to a stranger's pairing does not let it replace a bonded device, on any adapter")
  func claimedIdentities() throws {
    let victim = world.peer()
    let thief = world.peer("01:02:03:04:05:06")
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    world.adapter.bringUp(victim, role: .peripheral)
    let own = bond(victim.address)
    tell(victim, .bonded(own))
    // An agent accepts a stranger, and does not see a bond.
    let agent = world.client()
    _ = try agent.result(PairingRegister.self, .init(capability: "none"))
    world.adapter.bringUp(thief, role: .peripheral)
    tell(thief, .question(.consent))
    let asked = try #require(try agent.calls(PairingConfirm.self).first)
    #expect(asked.params.device.bondLevel == nil)
    try agent.answer(asked.id, PairingConfirm.Result(accept: true))
    tell(thief, .bonded(bond(victim.address, key: 6)))
    #expect(world.adapter.bonds == [own])
    // Nor with another adapter, which shares no keys with the bonded one.
    var elsewhere = Bond(local: DeviceAddress(value: 0x00AA_0200_0000, kind: .public), peer: victim.address)
    elsewhere.add(try #require(own.longTermKeys.first))
    tell(thief, .bonded(elsewhere))
    #expect(world.adapter.bonds == [own])
    #expect(try agent.notifications(PairingEnded.self).count == 2)
  }

  @Test("a passkey that no agent can display ends the link, and leaves the bond of that address")
  func passkeyForNobody() throws {
    let peer = world.peer()
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    world.adapter.bringUp(peer, role: .peripheral).end(reason: 0x13)
    let link = world.adapter.bringUp(peer, role: .peripheral)
    let own = bond(peer.address)
    tell(peer, .bonded(own))
    world.daemon.setPairing(PairingPolicy())
    tell(peer, .showPasskey(1, entered: 0))
    #expect(link.wasDisconnected && world.adapter.unpaired.isEmpty && world.adapter.bonds == [own])
  }

  @Test("a fixed passkey: a link that ends counts as a failure, bonded devices are refused, each has its own tries")
  func passkeyTries() throws {
    let peer = world.peer()
    let other = world.peer("C0:00:00:00:00:02")
    var policy = PairingPolicy()
    policy.peripherals[peer.address.value] = .passkey(1)
    policy.peripherals[other.address.value] = .passkey(2)
    world.daemon.setPairing(policy)
    #expect(world.adapter.pairing.capability == .keyboard)
    let link = world.adapter.bringUp(peer, role: .peripheral)
    tell(peer, .question(.passkey))
    link.end(reason: 0x13)
    world.adapter.bringUp(peer, role: .peripheral)
    tell(peer, .question(.passkey))
    #expect(world.adapter.answers == [.passkey(1), .refuse])
    world.adapter.bringUp(other, role: .peripheral)
    tell(other, .question(.passkey))
    #expect(world.adapter.answers.last == .passkey(2))
    tell(other, .bonded(bond(other.address, isAuthenticated: true)))
    tell(peer, .question(.passkey))
    #expect(world.adapter.answers.last == .refuse, "the success of the other does not help this one")
    tell(other, .question(.passkey))
    #expect(world.adapter.answers.last == .refuse, "it is bonded: it may be another device")
  }

  @Test("P22: keys that are not kept do not pass for those of the bond")
  func otherKeys() throws {
    let server = world.client()
    let handle = try server.publishProtectedValue([9])
    let peer = world.peer()
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    let first = world.adapter.bringUp(peer, role: .peripheral)
    tell(peer, .bonded(bond(peer.address)))
    first.end(reason: 0x13)
    world.settle()
    world.daemon.setPairing(PairingPolicy())
    let link = world.adapter.bringUp(peer, role: .peripheral)
    link.protect(LinkSecurity(level: 2, keySize: 16))
    tell(peer, .pairedWithoutBond)
    let refused = peer.start(.read(handle))
    world.settle()
    #expect(throws: GATTError.self) { try peer.results[refused]?.get() }
    #expect(world.adapter.bonds.count == 1, "the bond stays")
  }

  @Test("lost keys are told once for a link, to the device's users and the agents, with a remedy")
  func lostKeys() throws {
    let agent = world.client()
    let user = world.client()
    let other = world.client()
    _ = try agent.result(PairingRegister.self, .init(capability: "none"))
    let peer = world.peer()
    try peer.furnish()
    let id = try world.connect(user, peer).peripheral
    for _ in 0..<2 { tell(peer, .keysLost(theirs: true)) }
    for client in [agent, user] {
      let told = try client.notifications(PairingKeysLost.self)
      #expect(told.map(\.device.peripheral) == [id] && told.map(\.side) == ["device"])
      #expect(told.first?.remedy.isEmpty == false)
    }
    #expect(try other.notifications(PairingKeysLost.self).isEmpty)
  }

  @Test("a device that has connected to us is asked to encrypt the link, by any session that may pair")
  func securityRequest() throws {
    let client = world.client()
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    world.settle()
    let id = try #require(try client.result(PeripheralList.self, Empty()).peripherals.first?.peripheral)
    let call = try client.call(PeripheralPair.self, .init(peripheral: id))
    #expect(link.raises.map(\.level) == [2])
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(try client.answer(to: call, PeripheralPair.self)?.get().level == "encrypted")
  }

  @Test("pairing.import takes over keys, tells the adapter at once, and refuses what is none")
  func importing() throws {
    let client = world.client()
    func params(_ change: (inout PairingImport.Params) -> Void = { _ in }) -> PairingImport.Params {
      var params = PairingImport.Params(
        adapterAddress: "\(world.adapter.information.address)", address: "F0:F1:F2:F3:F4:F5", addressType: "random",
        longTermKeys: [
          .init(
            value: HexBytes([UInt8](repeating: 5, count: 16)), size: 16, diversifier: 0,
            random: HexBytes([0, 0, 0, 0, 0, 0, 1, 2]), authenticated: true, secureConnections: false, central: true)
        ], identityResolvingKey: HexBytes([UInt8](repeating: 9, count: 16)))
      change(&params)
      return params
    }
    _ = try client.result(PairingImport.self, params())
    let bond = try #require(world.adapter.bonds.first)
    #expect(bond.longTermKeys.map(\.random) == [0x0102] && bond.longTermKeys.map(\.level) == [3])
    #expect(try client.result(PairingList.self, Empty()).bonds.map(\.level) == ["authenticated"])
    for wrong in [
      params { $0.address = "F0:F1" }, params { $0.address = "40:F1:F2:F3:F4:F5" },
      params { $0.address = "00:F1:F2:F3:F4:F5" },
      params { $0.longTermKeys = [] },
      params { $0.longTermKeys[0].value = HexBytes([UInt8](repeating: 0, count: 16)) },
      params { $0.longTermKeys[0].size = 6 }, params { $0.longTermKeys[0].random = HexBytes([]) },
      params { $0.identityResolvingKey = HexBytes([1]) },
    ] { #expect(try client.error(PairingImport.self, wrong)?.data?.name == "invalidParameter") }
    let stranger = world.client(user: 1001)
    #expect(try stranger.error(PairingImport.self, params())?.data?.name == "notPermitted")
  }

  @Test("permissions: the levels of reading, writing and subscribing, of descriptors, and the size of the key")
  func permissions() throws {
    let client = world.client()
    let published = try client.result(
      ServiceAdd.self,
      .init(
        service: .init(
          uuid: 0x1815,
          characteristics: [
            .init(
              uuid: 0x2A56, properties: ["read"], permissions: ["readAuthenticationRequired"], minimumKeySize: 16,
              value: HexBytes([9]),
              descriptors: [.init(uuid: 0x2904, value: HexBytes([1]), permissions: ["readSecureConnectionsRequired"])])
          ]))
    ).service
    let characteristic = try #require(published.characteristics?.first)
    let descriptor = try #require(characteristic.descriptors?.first?.handle)
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    func read(_ handle: UInt16) throws -> [UInt8]? {
      let procedure = peer.start(.read(handle))
      world.settle()
      guard case .value(let value)? = try? peer.results[procedure]?.get() else { return nil }
      return value
    }
    for (security, value, description) in [
      (LinkSecurity(level: 2, keySize: 16), false, false), (LinkSecurity(level: 3, keySize: 7), false, false),
      (LinkSecurity(level: 3, keySize: 16), true, false), (LinkSecurity(level: 4, keySize: 16), true, true),
    ] {
      link.protect(security)
      #expect(try read(characteristic.handle) == (value ? [9] : nil), "level \(security.level), \(security.keySize)")
      #expect(try read(descriptor) == (description ? [1] : nil), "level \(security.level), \(security.keySize)")
    }
    for wrong: ServiceToPublish.Characteristic in [
      .init(uuid: 0x2A56, properties: ["read"], permissions: ["readEncryptionRequired"], minimumKeySize: 6),
      .init(uuid: 0x2A56, properties: ["read"], minimumKeySize: 16),
    ] {
      #expect(
        try client.error(ServiceAdd.self, .init(service: .init(uuid: 0x1816, characteristics: [wrong])))?.data?.name
          == "invalidParameter")
    }
  }
}
