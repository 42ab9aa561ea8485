import BledClient
import DaemonTestSupport
@testable import MultipeerConnectivity
@testable import NearbySessions
import TestSupport
import Testing

/// Sessions of programs on one daemon, each with an adapter of its own.
@Suite(.timeLimit(.minutes(10))) struct SessionWithDaemonTests {
  /// Two programs; one has found the other.
  private static func pair(
    _ daemon: Daemon, _ alice: Party? = nil, _ bob: Party? = nil
  ) async throws -> (alice: Party, bob: Party) {
    let alice = alice ?? Party("Alice", daemon, adapter: 0)
    let bob = bob ?? Party("Bob", daemon, adapter: 1)
    alice.browser.startBrowsingForPeers()
    bob.advertiser.startAdvertisingPeer()
    try await until { alice.read { !$0.found.isEmpty } }
    return (alice, bob)
  }

  /// Two programs with a session.
  private static func connected(_ daemon: Daemon) async throws -> (alice: Party, bob: Party) {
    let (alice, bob) = try await pair(daemon)
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: 0)
    try await alice.isConnected(with: bob)
    try await bob.isConnected(with: alice)
    return (alice, bob)
  }

  @Test("an invitation connects both sides, data arrives in order, and the end is told once")
  func session() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Self.pair(daemon)
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: Data([1, 2, 3]), timeout: 30)
    try await alice.isConnected(with: bob)
    try await bob.isConnected(with: alice)
    #expect(bob.read { $0.invitations.map(\.context) } == [Data([1, 2, 3])])
    #expect(alice.session.connectedPeers == [bob.peer] && bob.session.connectedPeers == [alice.peer])
    let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    let sent = (0..<100).map { Data([$0]) } + [large, Data()]
    for data in sent { try alice.session.send(data, toPeers: [bob.peer], with: .reliable) }
    try bob.session.send(Data([9]), toPeers: bob.session.connectedPeers, with: .unreliable)
    try await until { bob.read { $0.data.count == sent.count } && alice.read { $0.data.count == 1 } }
    #expect(bob.read { $0.data } == sent)
    #expect(alice.read { $0.data } == [Data([9])])
    alice.session.disconnect()
    try await until { bob.states(of: alice).last == .notConnected && alice.states(of: bob).last == .notConnected }
    for (party, other) in [(alice, bob), (bob, alice)] {
      #expect(party.states(of: other) == [.connecting, .connected, .notConnected])
      #expect(party.session.connectedPeers.isEmpty)
    }
    #expect(throws: MCError.self) { try alice.session.send(Data(), toPeers: [bob.peer], with: .reliable) }
    // The session can be used again.
    bob.browser.startBrowsingForPeers()
    alice.advertiser.startAdvertisingPeer()
    try await until { bob.read { !$0.found.isEmpty } }
    bob.browser.invitePeer(alice.peer, to: bob.session, withContext: nil, timeout: 30)
    try await until { alice.states(of: bob).count == 5 && bob.states(of: alice).count == 5 }
    #expect(alice.states(of: bob).suffix(2) == [.connecting, .connected])
  }

  /// Invites, and waits until that has connected both sides, or has failed.
  private static func invite(_ bob: Party, from alice: Party) async throws {
    let number = alice.states(of: bob).count
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: Double(Patience.seconds))
    try await until { alice.states(of: bob).dropFirst(number).contains { $0 != .connecting } }
    try #require(alice.states(of: bob).dropFirst(number).allSatisfy { $0 != .notConnected })
    try await alice.isConnected(with: bob)
    #expect(alice.states(of: bob).dropFirst(number) == [.connecting, .connected])
    try await bob.isConnected(with: alice)
  }

  @Test("an invitation directly after the end of an attempt, or of a connection, is not lost")
  func again() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Self.pair(daemon)
    // While the peer is being dialled.
    let power = try await BledClient.connect(to: daemon.socket)
    _ = try await power.call(AdapterPower.self, .init(adapter: daemon.adapter(1), on: false))
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: Double(Patience.seconds))
    let node = try await LocalNode.shared(alice.peer, ServiceType(program: Party.serviceType)).current()
    try await until { await node.inviting.count == 1 }
    alice.session.cancelConnectPeer(bob.peer)
    #expect(alice.session.connectedPeers.isEmpty)
    _ = try await power.call(AdapterPower.self, .init(adapter: daemon.adapter(1), on: true))
    try await until { alice.states(of: bob) == [.notConnected] }
    try await Self.invite(bob, from: alice)
    // While both are connected.
    alice.session.cancelConnectPeer(bob.peer)
    try await until { alice.states(of: bob).last == .notConnected }
    try await Self.invite(bob, from: alice)
    alice.session.disconnect()
    try await until { alice.states(of: bob).last == .notConnected }
    try await Self.invite(bob, from: alice)
    // Before the peer has answered.
    alice.session.disconnect()
    bob.accepts = nil
    let asked = bob.read { $0.invitations.count }
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: Double(Patience.seconds))
    try await until { bob.read { $0.invitations.count } > asked }
    let number = alice.states(of: bob).count
    bob.accepts = true
    alice.session.disconnect()
    try await until { alice.states(of: bob).count == number + 1 }
    try await Self.invite(bob, from: alice)
    // By the invited side.
    bob.browser.startBrowsingForPeers()
    alice.advertiser.startAdvertisingPeer()
    try await until { bob.read { !$0.found.isEmpty } }
    bob.session.disconnect()
    try await until { bob.states(of: alice).last == .notConnected }
    try await Self.invite(alice, from: bob)
  }

  @Test("an invitation that is declined, or accepted for a session that cannot be, is told as not connected")
  func declined() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Self.pair(daemon)
    bob.accepts = nil
    let foreign = MCSession(peer: MCPeerID(displayName: "Other"))
    let answers: [((Bool, MCSession?) -> Void) -> Void] = [
      { $0(false, nil) }, { $0(true, nil) }, { $0(true, foreign) },
      {
        $0(false, bob.session)
        $0(true, bob.session)
      },
    ]
    for (number, answer) in answers.enumerated() {
      alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: 60)
      try await until { bob.read { $0.invitations.count == number + 1 } }
      answer(bob.read { $0.invitations[number].answer })
      try await until { alice.states(of: bob).count == number + 1 }
    }
    #expect(alice.states(of: bob).allSatisfy { $0 == .notConnected })
    #expect(bob.states(of: alice).isEmpty)
  }

  @Test("an invitation that is answered after its time connects nobody")
  func late() async throws {
    let daemon = try await Daemon(adapters: 2)
    let clock = HeldClock()
    let (alice, bob) = try await Self.pair(daemon, Party("Alice", daemon, adapter: 0, clock: clock))
    bob.accepts = nil
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: 5)
    try await until { bob.read { !$0.invitations.isEmpty } }
    try await until {
      clock.advance(by: .seconds(1))
      return alice.states(of: bob).count == 1
    }
    bob.read { $0.invitations[0].answer }(true, bob.session)
    // The end may arrive behind the answer.
    try await until { bob.states(of: alice).last == .notConnected }
    #expect(!bob.states(of: alice).contains(.connected) && bob.session.connectedPeers.isEmpty)
    #expect(alice.states(of: bob).last == .notConnected && !alice.states(of: bob).contains(.connected))
  }

  @Test("an invitation that was accepted is declined if the session is disconnected before the peer knows")
  func disconnectedWhileAnswering() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Self.pair(daemon)
    // The answer waits for the end of a former connection.
    let (formerEnd, end) = AsyncStream.makeStream(of: Never.self)
    let type = ServiceType(program: Party.serviceType)
    LocalNode.shared(bob.peer, type).end(alice.peer.identity.identifier) { for await _ in formerEnd {} }
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: Double(Patience.seconds))
    let node = try await LocalNode.shared(alice.peer, type).current()
    try await until { await node.isAwaitingAnswer }
    try await until { bob.read { !$0.invitations.isEmpty } }
    bob.session.disconnect()
    try await until { bob.states(of: alice) == [.notConnected] }
    end.finish()
    try await until { alice.states(of: bob).last == .notConnected }
    #expect(alice.states(of: bob) == [.notConnected])
  }

  @Test("two that invite each other have one connection")
  func crossed() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = (Party("Alice", daemon, adapter: 0), Party("Bob", daemon, adapter: 1))
    for party in [alice, bob] {
      party.invites = true
      party.advertiser.startAdvertisingPeer()
      party.browser.startBrowsingForPeers()
    }
    try await alice.isConnected(with: bob)
    try await bob.isConnected(with: alice)
    try alice.session.send(Data([1]), toPeers: [bob.peer], with: .reliable)
    try bob.session.send(Data([2]), toPeers: [alice.peer], with: .reliable)
    try await until { bob.read { $0.data } == [Data([1])] && alice.read { $0.data } == [Data([2])] }
    #expect(alice.states(of: bob) == [.connecting, .connected])
    #expect(bob.states(of: alice) == [.connecting, .connected])
  }

  @Test("certificates are shown before the connection, and one that is refused ends it")
  func certificates() async throws {
    let daemon = try await Daemon(adapters: 2)
    let certificate = Data([0x30, 1, 2])
    let alice = Party("Alice", daemon, adapter: 0, identity: [certificate])
    let (_, bob) = try await Self.pair(daemon, alice)
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: 30)
    try await alice.isConnected(with: bob)
    #expect(bob.read { $0.certificates.first as? [Data] } == [certificate])
    #expect(alice.read { $0.certificates.count == 1 && $0.certificates[0] == nil })
    alice.session.disconnect()
    try await until { bob.states(of: alice).last == .notConnected }
    bob.acceptsCertificates = false
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: 30)
    try await until { alice.states(of: bob).count == 5 && bob.states(of: alice).count == 5 }
    #expect(alice.states(of: bob).suffix(2) == [.connecting, .notConnected])
    #expect(bob.states(of: alice).suffix(2) == [.connecting, .notConnected])
  }

  @Test("sessions without and with required encryption do not connect")
  func encryption() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = Party("Alice", daemon, adapter: 0, encryption: .none)
    let (_, bob) = try await Self.pair(daemon, alice)
    alice.browser.invitePeer(bob.peer, to: alice.session, withContext: nil, timeout: 30)
    try await until { alice.states(of: bob).last == .notConnected && bob.states(of: alice).last == .notConnected }
    #expect(!alice.states(of: bob).contains(.connected) && !bob.states(of: alice).contains(.connected))
  }

  @Test("a program that is started again takes the place of its former connection")
  func restarted() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Self.connected(daemon)
    // Another path to the socket is another program here.
    let place = Place(socket: "/" + daemon.socket, adapter: daemon.adapter(0), clock: HeldClock())
    let again = Party(MCPeerID(alice.peer.identity, place: place))
    alice.browser.stopBrowsingForPeers()
    _ = try await Self.pair(daemon, again, bob)
    again.browser.invitePeer(bob.peer, to: again.session, withContext: nil, timeout: 30)
    try await again.isConnected(with: bob)
    try await until { bob.states(of: alice).count == 5 }
    #expect(bob.states(of: alice) == [.connecting, .connected, .notConnected, .connecting, .connected])
    #expect(bob.session.connectedPeers == [alice.peer])
    try bob.session.send(Data([1]), toPeers: [alice.peer], with: .reliable)
    try await until { again.read { $0.data } == [Data([1])] }
  }

  @Test("programs that are released end their connections, also while calls are queued")
  func released() async throws {
    let daemon = try await Daemon(adapters: 2)
    var alice: Party?
    let bob: Party
    (alice, bob) = try await Self.connected(daemon)
    for number in 0..<200 as Range<UInt8> {
      try bob.session.send(Data([number]), toPeers: bob.session.connectedPeers, with: .reliable)
    }
    weak let session = alice?.session
    alice = nil
    try await until { bob.session.connectedPeers.isEmpty }
    try await until { session == nil }
    try await until { bob.read { $0.states.map(\.state) } == [.connecting, .connected, .notConnected] }
  }

  @Test("who joins is connected with all members")
  func members() async throws {
    let daemon = try await Daemon(adapters: 4)
    let alice = Party("Alice", daemon, adapter: 0)
    let others = (1..<4).map { Party("Peer \($0)", daemon, adapter: $0) }
    alice.invites = true
    for other in others { other.advertiser.startAdvertisingPeer() }
    alice.browser.startBrowsingForPeers()
    // Members find each other although they no longer advertise.
    for other in others {
      try await alice.isConnected(with: other)
      other.advertiser.stopAdvertisingPeer()
    }
    let parties = [alice] + others
    for party in parties {
      try await until { party.session.connectedPeers.count == 3 }
      try party.session.send(Data(party.peer.displayName.utf8), toPeers: party.session.connectedPeers, with: .reliable)
    }
    for party in parties {
      try await until { party.read { $0.data.count == 3 } }
      let names = party.read { Set($0.data.map { String(decoding: $0, as: UTF8.self) }) }
      #expect(names == Set(parties.map(\.peer.displayName)).subtracting([party.peer.displayName]))
    }
    alice.session.disconnect()
    for party in others {
      try await until { party.states(of: alice) == [.connecting, .connected, .notConnected] }
      #expect(party.session.connectedPeers.count == 2)
    }
  }

  @Test("programs that find each other otherwise connect by the data of their sessions")
  func ownDiscovery() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = (Party("Alice", daemon, adapter: 0), Party("Bob", daemon, adapter: 1))
    let ofAlice = try await alice.session.nearbyConnectionData(forPeer: bob.peer)
    let ofBob = try await bob.session.nearbyConnectionData(forPeer: alice.peer)
    alice.session.connectPeer(bob.peer, withNearbyConnectionData: ofAlice)
    try await until { alice.states(of: bob) == [.notConnected] }
    alice.session.connectPeer(bob.peer, withNearbyConnectionData: ofBob)
    bob.session.connectPeer(alice.peer, withNearbyConnectionData: ofAlice)
    try await alice.isConnected(with: bob)
    try await bob.isConnected(with: alice)
    try alice.session.send(Data([1]), toPeers: [bob.peer], with: .reliable)
    try await until { bob.read { $0.data } == [Data([1])] }
    bob.session.cancelConnectPeer(alice.peer)
    try await until { alice.states(of: bob).last == .notConnected && bob.states(of: alice).last == .notConnected }
    #expect(alice.read { $0.invitations.isEmpty } && bob.read { $0.invitations.isEmpty })
    // And again, at once.
    alice.session.connectPeer(bob.peer, withNearbyConnectionData: ofBob)
    bob.session.connectPeer(alice.peer, withNearbyConnectionData: ofAlice)
    try await alice.isConnected(with: bob)
    try await bob.isConnected(with: alice)
    #expect(alice.states(of: bob).dropFirst() == [.connecting, .connected, .notConnected, .connecting, .connected])
    #expect(bob.states(of: alice) == [.connecting, .connected, .notConnected, .connecting, .connected])
  }
}

extension NearbyNode {
  fileprivate var isAwaitingAnswer: Bool { sessions.values.contains { $0.answerWaiter != nil } }
}
