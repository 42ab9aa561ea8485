import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// Simulated devices and phones that pair, against the adapter's face.
@Suite(.onBothAirs) final class DevicePairingTests {
  private var bonds: [Bond] = []
  private var events: [PairingEvent] = []

  /// An adapter with a lock and its two protected values: FFF1 by encryption, FFF2 against a person in the middle.
  private func lock(
    _ pairing: String = "{}", more: String = "", file: String = "", bonds: [Bond] = [], seed: UInt64 = 1
  ) throws -> AdapterStage {
    let world = try AdapterStage(
      """
      { \(file) devices: [{ name: "Lock", address: "C0:DE:00:00:00:01", addressType: "random", pairing: \(pairing), \(more)
        services: [{ uuid: "FFF0", characteristics: [
          { uuid: "FFF1", value: "01", security: "encrypted" },
          { uuid: "FFF2", value: "02", security: "authenticated" },
          { uuid: "FFF3", properties: ["read", "notify"], value: "03", security: { subscribe: "encrypted" } } ] }] }] }
      """, seed: seed, bonds: bonds)
    let note = world.adapter.onEvent
    world.adapter.onEvent = { [unowned self] event in
      if case .pairing(_, let event) = event {
        events.append(event)
        if case .bonded(let bond) = event { self.bonds.append(bond) }
      }
      note?(event)
    }
    world.adapter.start()
    world.scheduler.run { world.adapter.state == .on }
    return world
  }

  private func raise(
    _ link: any Link, to level: Int = 2, replacesBond: Bool = false, _ world: AdapterStage
  ) -> Result<LinkSecurity, BluetoothError>? {
    var result: Result<LinkSecurity, BluetoothError>?
    link.raiseSecurity(
      to: level, as: world.capability, usesOwnData: false, replacesBond: replacesBond
    ) { error in
      result = error.map { .failure($0) } ?? .success(link.security)
    }
    #expect(result == nil, "not from inside the call")
    world.scheduler.run(for: .seconds(60)) { result != nil }
    return result
  }

  /// Answers all questions from now on.
  private func answer(_ answer: PairingAnswer, _ world: AdapterStage) {
    let note = world.adapter.onEvent
    world.adapter.onEvent = { event in
      note?(event)
      if case .pairing(_, .question(let question, _)) = event { world.adapter.answer(question, answer) }
    }
  }

  private func refusal(_ result: Result<LinkSecurity, BluetoothError>?) -> String {
    guard case .failure(let error) = result else { return "no error" }
    return error.name == "pairingFailed" ? error.message : error.name
  }

  @Test("P22: without a key a protected value is refused with the right error, with one it is read")
  func protected() throws {
    let world = try lock()
    let client = Client(try #require(world.connect(1)), world)
    let first = try #require(try client.find(0xFFF1)).valueHandle
    let second = try #require(try client.find(0xFFF2)).valueHandle
    #expect(throws: GATTError.att(.insufficientAuthentication, handle: first)) { try client.run(.read(first)) }
    let third = try #require(try client.find(0xFFF3))
    #expect(throws: GATTError.self) { try client.subscribe(third, .notification) }
    #expect(raise(client.link, world) == .success(LinkSecurity(level: 2, keySize: 16)))
    #expect(try client.run(.read(first)) == .value([1]))
    try client.subscribe(third, .notification)
    #expect(throws: GATTError.att(.insufficientAuthentication, handle: second)) { try client.run(.read(second)) }
    #expect(refusal(raise(client.link, to: 3, world)).contains("do not reach this level"))
    #expect(bonds.count == 1)
    #expect(bonds.first?.local == world.adapter.information.address && bonds.first?.peer == AdapterStage.address(1))
    #expect(bonds.first?.security == LinkSecurity(level: 2, keySize: 16))
    #expect(events.count == 1, "Just Works asks nothing where we begin: \(events)")
  }

  /// The reasons of failures, and the end of a link by this side, as each kind of adapter has them.
  private struct Words {
    var wrongPasskey = "the passkey was wrong"
    var refusedThere = "the other side refused"
    var refusedHere = "refused here"
    var shortKey = "7 octets"
    var noPairing = "the other side does not pair"
    var timeout = "took too long"
    var lostLink = "disconnected"
    var localEnd = "connectionTerminatedByLocalHost"

    init() {
      guard Airs.isVirtual else { return }
      wrongPasskey = "a confirm value is wrong, or the passkey"
      refusedThere = "it was refused, or pairing is not possible"
      refusedHere = "the numbers differ, or it was refused"
      shortKey = "the encryption key is too short"
      noPairing = refusedThere
      timeout = "did not go on for 30 s"
      lostLink = "remoteUserTerminatedConnection"
      localEnd = "terminatedByLocalHost"
    }
  }

  @Test("a bond that is too weak is replaced on request, on an encrypted link and on another, and stays if that fails")
  func replacedBond() throws {
    for isSameLink in [true, false] {
      bonds = []
      let world = try lock("{ capability: \"display\", passkey: 42 }")
      var passkey: UInt32 = 7
      let note = world.adapter.onEvent
      world.adapter.onEvent = { event in
        note?(event)
        if case .pairing(_, .question(let question, _)) = event { world.adapter.answer(question, .passkey(passkey)) }
      }
      var link = try #require(world.connect(1))
      #expect(raise(link, world) == .success(LinkSecurity(level: 2, keySize: 16)))
      world.setPairing(PairingSettings(capability: .keyboard))
      if !isSameLink {
        link.disconnect()
        world.scheduler.advance(by: .seconds(1))
        link = try #require(world.connect(1))
      }
      #expect(refusal(raise(link, to: 3, world)).contains("do not reach this level"))
      #expect(refusal(raise(link, to: 3, replacesBond: true, world)).contains(Words().wrongPasskey))
      #expect(bonds.map { $0.security?.level } == [2])
      if !isSameLink { #expect(raise(link, world) == .success(LinkSecurity(level: 2, keySize: 16))) }
      passkey = 42
      let reached = try #require(raise(link, to: 3, replacesBond: true, world)).get()
      #expect(reached.level >= 3)
      #expect(bonds.map { $0.security?.level } == [2, reached.level])
    }
  }

  @Test("a bond encrypts the next link without pairing, also after a restart")
  func reconnect() throws {
    var world = try lock(file: "seed: 7,")
    let link = try #require(world.connect(1))
    #expect(raise(link, world) == .success(LinkSecurity(level: 2, keySize: 16)))
    link.disconnect()
    world.scheduler.advance(by: .seconds(1))
    let kept = bonds
    for seed in [1, 99] as [UInt64] {
      if seed != 1 { world = try lock(file: "seed: 7,", bonds: kept, seed: seed) }
      let client = Client(try #require(world.connect(1)), world)
      let handle = try #require(try client.find(0xFFF1)).valueHandle
      #expect(client.link.security.level == 1)
      #expect(throws: GATTError.att(.insufficientEncryption, handle: handle)) { try client.run(.read(handle)) }
      #expect(raise(client.link, world) == .success(LinkSecurity(level: 2, keySize: 16)))
      #expect(try client.run(.read(handle)) == .value([1]))
    }
    #expect(bonds == kept, "it did not pair again")
    // Another scenario is another device.
    world = try lock(file: "seed: 8,", bonds: kept)
    #expect(refusal(raise(try #require(world.connect(1)), world)).contains("do not share keys any more"))
  }

  @Test("each method, with what is asked and shown here", arguments: [true, false])
  func methods(isSecureConnections: Bool) throws {
    let level = isSecureConnections ? 4 : 3
    let words = "secureConnections: \(isSecureConnections)"
    // The passkey that the device shows is typed here.
    var world = try lock("{ capability: \"display\", passkey: 42, \(words) }")
    world.setPairing(PairingSettings(capability: .keyboard))
    answer(.passkey(42), world)
    #expect(raise(try #require(world.connect(1)), to: 3, world) == .success(LinkSecurity(level: level, keySize: 16)))
    #expect(events.first == .question(QuestionID(1), .passkey))
    #expect(bonds.first?.longTermKeys.count == (isSecureConnections ? 1 : 2))
    // The passkey that is shown here is typed at the device.
    events = []
    world = try lock("{ capability: \"keyboard\", answerDelay: 2, \(words) }")
    world.setPairing(PairingSettings(capability: .display))
    let before = world.scheduler.now
    #expect(raise(try #require(world.connect(1)), to: 3, world) == .success(LinkSecurity(level: level, keySize: 16)))
    #expect(before.duration(to: world.scheduler.now) > .seconds(2))
    guard case .showPasskey(0...999_999, entered: 0) = events.first else {
      Issue.record("no passkey: \(events)")
      return
    }
    // Numbers are compared, where both have LE Secure Connections.
    events = []
    world = try lock("{ capability: \"displayYesNo\", \(words) }")
    world.setPairing(PairingSettings(capability: .displayYesNo))
    answer(.accept, world)
    let compared = raise(try #require(world.connect(1)), to: isSecureConnections ? 3 : 2, world)
    #expect(compared == .success(LinkSecurity(level: isSecureConnections ? 4 : 2, keySize: 16)))
    if isSecureConnections {
      guard case .question(_, .comparison(0...999_999)) = events.first else {
        Issue.record("no number: \(events)")
        return
      }
    }
  }

  @Test("a pairing that was refused can be begun again on the same link")
  func secondAttempt() throws {
    let world = try lock("{ capability: \"displayYesNo\" }")
    world.setPairing(PairingSettings(capability: .displayYesNo))
    let link = try #require(world.connect(1))
    var answers: [PairingAnswer] = [.refuse, .accept]
    let note = world.adapter.onEvent
    world.adapter.onEvent = { event in
      note?(event)
      guard case .pairing(_, .question(let question, _)) = event, !answers.isEmpty else { return }
      world.adapter.answer(question, answers.removeFirst())
    }
    #expect(refusal(raise(link, to: 3, world)).contains(Words().refusedHere))
    #expect(raise(link, to: 3, world) == .success(LinkSecurity(level: 4, keySize: 16)))
  }

  @Test("refusals, wrong passkeys, silence and devices that do not pair are errors that say so")
  func failures() throws {
    var world = try lock("{ answer: \"refuse\" }")
    var link = try #require(world.connect(1))
    #expect(refusal(raise(link, world)).contains(Words().refusedThere))
    #expect(link.security == .none)
    world = try lock("{ capability: \"keyboard\", passkey: 5 }")
    world.setPairing(PairingSettings(capability: .display))
    #expect(refusal(raise(try #require(world.connect(1)), world)).contains(Words().wrongPasskey))
    world = try lock("{ capability: \"display\" }")
    world.setPairing(PairingSettings(capability: .keyboard))
    answer(.passkey(5), world)
    #expect(refusal(raise(try #require(world.connect(1)), world)).contains(Words().wrongPasskey))
    world = try lock("{ keySize: 6 }")
    let short = refusal(raise(try #require(world.connect(1)), world))
    #expect(short.contains(Words().shortKey), "\(short)")
    world = try AdapterStage.on()
    #expect(refusal(raise(try #require(world.connect(1)), world)).contains(Words().noPairing))
    // The device pairs, but not well enough; a host of our own knows that before.
    world = try lock()
    link = try #require(world.connect(1))
    #expect(refusal(raise(link, to: 3, world)).contains("cannot reach"))
    #expect(link.security.level == (Airs.isVirtual ? 1 : 2))
    // After the time-out the link is of no more use (Core 5.4, Vol 3, Part H, 3.4).
    bonds = []
    world = try lock("{ answer: \"never\" }")
    link = try #require(world.connect(1))
    let before = world.scheduler.now
    #expect(refusal(raise(link, world)).contains(Words().timeout))
    #expect((30..<31).contains(before.duration(to: world.scheduler.now).inSeconds))
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.last == "ended C0:DE:00:00:00:01 authenticationFailure")
    #expect(bonds.isEmpty)
  }

  @Test("a link that ends while it pairs fails the pairing, once")
  func lostLink() throws {
    let world = try lock("{ answer: \"never\" }", more: "disconnectAfter: 3,")
    let link = try #require(world.connect(1))
    #expect(refusal(raise(link, world)) == Words().lostLink)
    // For a host of our own the link's end says it.
    let count = Airs.isVirtual ? 0 : 1
    #expect(events.count == count)
    world.adapter.answer(QuestionID(1), .accept)
    world.scheduler.advance(by: .seconds(40))
    #expect(events.count == count)
  }

  @Test("P22: a device that lost its keys ends the link; forgetting and pairing again helps", arguments: [true, false])
  func lostKeys(always: Bool) throws {
    let events = always ? "" : "events: [{ at: 100, action: \"loseKeys\", device: \"Lock\" }],"
    let world = try lock("{ losesKeys: \(always) }", file: events)
    var link = try #require(world.connect(1))
    #expect(raise(link, world) == .success(LinkSecurity(level: 2, keySize: 16)))
    link.disconnect()
    world.scheduler.advance(by: .seconds(200))
    link = try #require(world.connect(1))
    #expect(refusal(raise(link, world)).contains("do not share keys any more"))
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.last == "ended C0:DE:00:00:00:01 pinOrKeyMissing")
    world.unpair(AdapterStage.address(1))
    link = try #require(world.connect(1))
    #expect(raise(link, world) == .success(LinkSecurity(level: 2, keySize: 16)))
    #expect(bonds.count == 2)
    world.unpair(AdapterStage.address(1))
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.last == "ended C0:DE:00:00:00:01 \(Words().localEnd)")
  }

  @Test("without bonding the link is encrypted and nothing is kept")
  func withoutBonding() throws {
    let world = try lock("{ bonding: false, keySize: 7 }")
    #expect(raise(try #require(world.connect(1)), world) == .success(LinkSecurity(level: 2, keySize: 7)))
    #expect(bonds.isEmpty && events == [.pairedWithoutBond])
  }

  @Test("a Security Request pairs where devices may, with a question, and else nothing comes of it")
  func securityRequest() throws {
    var world = try lock("{ securityRequest: true }")
    var link = try #require(world.connect(1))
    world.scheduler.advance(by: .seconds(60))
    #expect(events.isEmpty && link.security == .none)
    world = try lock("{ securityRequest: true }")
    world.setPairing(PairingSettings(acceptsDevices: true))
    answer(.accept, world)
    link = try #require(world.connect(1))
    world.scheduler.run(for: .seconds(10)) { link.security.level == 2 }
    #expect(events.first == .question(QuestionID(1), .consent))
    world.scheduler.advance(by: .seconds(1))
    #expect(bonds.count == 1)
    // With a bond it needs no consent.
    world = try lock("{ securityRequest: true }", bonds: bonds)
    link = try #require(world.connect(1))
    world.scheduler.run(for: .seconds(10)) { link.security.level == 2 }
    #expect(link.security.level == 2)
  }

  @Test("private addresses rotate, resolve with the key of the bond, and the bond is known by them (P23)")
  func privateAddresses() throws {
    let world = try lock(more: "privateAddress: 900,")
    func heard() throws -> DeviceAddress {
      world.forget()
      world.adapter.setScan(ScanParameters())
      world.scheduler.run(for: .seconds(60)) { !world.reports.isEmpty }
      world.adapter.setScan(nil)
      return try #require(world.reports.first?.address)
    }
    func link() throws -> any Link {
      let address = try heard()
      let count = world.links.count
      world.adapter.connect(to: address, ConnectionParameters())
      world.scheduler.run(for: .seconds(60)) { world.links.count > count }
      let link = try #require(world.links.last)
      #expect(link.peer == address)
      return link
    }
    let first = try link()
    #expect(first.peer.isResolvablePrivate)
    #expect(raise(first, world) == .success(LinkSecurity(level: 2, keySize: 16)))
    let bond = try #require(bonds.first)
    #expect(bond.peer == AdapterStage.address(1))
    let key = try #require(bond.identityResolvingKey)
    #expect(key.count == 16)
    first.disconnect()
    world.scheduler.advance(by: .seconds(901))
    let second = try link()
    #expect(second.peer != first.peer)
    #expect(raise(second, world) == .success(LinkSecurity(level: 2, keySize: 16)))
    #expect(bonds.count == 1)
    // By its identity, too.
    world.unpair(AdapterStage.address(1))
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.contains("ended \(second.peer) \(Words().localEnd)"))
  }
}
