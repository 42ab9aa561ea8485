import BledClient
import DaemonTestSupport
import FrameworkSupport
@testable import MultipeerConnectivity
import NearbySessions
import TestSupport
import Testing

/// Attempts of strangers, and of peers that are no longer wanted, to take part in a session.
@Suite(.timeLimit(.minutes(10))) struct StrangersTests {
  @Test("another key does not take the place of a connected peer whose identifier it uses")
  func otherKey() async throws {
    let daemon = try await Daemon(adapters: 3)
    let (alice, bob) = try await Party.connected(daemon)
    alice.advertiser.startAdvertisingPeer()
    var settings = NearbySettings(type: try #require(ServiceType(Party.serviceType)), name: "Bob")
    settings.identifier = bob.peer.identity.identifier
    settings.adapter = daemon.adapter(2)
    let mallory = try NearbyNode(client: try await BledClient.connect(to: daemon.socket), settings: settings)
    let peer = try await mallory.find(alice.peer.identity.identifier)
    // The program accepts all. On a busy machine an invitation may take too long.
    repeat {
      await #expect(throws: BluetoothError.self) { try await mallory.invite(peer, context: [0]) }
    } while alice.read { $0.invitations.isEmpty }
    #expect(alice.read { $0.invitations.count } == 1)
    #expect(alice.states(of: bob) == [.connecting, .connected])
    try alice.session.send(Data([1]), toPeers: [bob.peer], with: .reliable)
    try await until { bob.read { $0.data } == [Data([1])] }
    await mallory.stop()
  }

  @Test("a peer whose connection the program has ended does not come back by the secret of the session")
  func cancelled() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    alice.advertiser.startAdvertisingPeer()
    let (ofAlice, ofBob) = (alice.session.engine.state[\.token], bob.session.engine.state[\.token])
    let identifier = alice.peer.identity.identifier
    #expect(Memberships.session(of: identifier, ofBob) === alice.session.engine)
    alice.session.cancelConnectPeer(bob.peer)
    try await until { bob.states(of: alice) == [.connecting, .connected, .notConnected] }
    #expect(Memberships.session(of: identifier, ofBob) == nil)
    let local = LocalNode.shared(bob.peer, try #require(ServiceType(Party.serviceType)))
    bob.session.engine.invite(alice.peer.identity, .member(ofAlice), at: local, timeout: .seconds(60))
    try await until { bob.states(of: alice).count == 4 }
    #expect(bob.states(of: alice).last == .notConnected)
    #expect(alice.states(of: bob) == [.connecting, .connected, .notConnected])
  }

  @Test("a peer whose connection the program has ended does not come back with another key")
  func cancelledWithOtherKey() async throws {
    let daemon = try await Daemon(adapters: 3)
    let (alice, bob) = try await Party.connected(daemon)
    alice.advertiser.startAdvertisingPeer()
    let former = alice.session.engine.state[\.token]
    alice.invites = false
    alice.session.cancelConnectPeer(bob.peer)
    try await until { bob.states(of: alice) == [.connecting, .connected, .notConnected] }
    var settings = NearbySettings(type: try #require(ServiceType(Party.serviceType)), name: "Bob again")
    settings.adapter = daemon.adapter(2)
    let again = try NearbyNode(client: try await BledClient.connect(to: daemon.socket), settings: settings)
    let peer = try await again.find(alice.peer.identity.identifier)
    await #expect(throws: BluetoothError.self) {
      try await again.invite(peer, context: InvitationContext.member(former).encoded)
    }
    #expect(alice.read { $0.states.count } == 3)
    await again.stop()
  }

  @Test("after one peer was sent away, the others are still connected with who joins")
  func joinedAfterCancelled() async throws {
    let daemon = try await Daemon(adapters: 4)
    let (alice, bob) = try await Party.connected(daemon)
    let (carol, dave) = (Party("Carol", daemon, adapter: 2), Party("Dave", daemon, adapter: 3))
    carol.advertiser.startAdvertisingPeer()
    for (one, other) in [(alice, carol), (carol, alice), (bob, carol), (carol, bob)] {
      try await one.isConnected(with: other)
    }
    let former = alice.session.engine.state[\.token], ofCarol = carol.session.engine.state[\.token]
    alice.invites = false
    alice.session.cancelConnectPeer(bob.peer)
    try await until { bob.states(of: alice).last == .notConnected }
    let renewed = alice.session.engine.state[\.token]
    #expect(renewed != former)
    try await until { carol.session.engine.state[\.entries][alice.peer.identity.identifier]?.token == renewed }
    dave.advertiser.startAdvertisingPeer()
    try await until { alice.read { $0.found.contains { $0.peer == dave.peer } } }
    try await alice.invite(dave)
    for (one, other) in [(alice, dave), (dave, alice), (carol, dave), (dave, carol)] {
      try await one.isConnected(with: other)
    }
    #expect(Set(alice.session.connectedPeers) == [carol.peer, dave.peer])
    // Bob has the secret of Carol, too: she has reported Dave, and no other peer.
    let state = alice.session.engine.state
    try await until { state.with { $0.isMember(dave.peer.identity.identifier, [1], ofCarol) } }
    #expect(state.with { !$0.isMember(1, [1], ofCarol) && !$0.isMember(1, [1], former) })
    #expect(state.with { !$0.isMember(bob.peer.identity.identifier, [1], ofCarol) })
  }

  @Test("a peer that is being connected while another one is sent away gets the new secret", arguments: [false, true])
  func joiningWhileCancelled(isGreeting: Bool) async throws {
    let daemon = try await Daemon(adapters: 3)
    let (alice, bob) = try await Party.connected(daemon)
    let carol = Party("Carol", daemon, adapter: 2)
    if isGreeting { carol.acceptsCertificates = nil } else { carol.accepts = nil }
    alice.invites = false
    carol.advertiser.startAdvertisingPeer()
    try await until { alice.read { $0.found.contains { $0.peer == carol.peer } } }
    alice.browser.invitePeer(carol.peer, to: alice.session, withContext: nil, timeout: Double(Patience.seconds))
    if isGreeting {
      // Alice has accepted her, with the secret that Bob knows.
      try await until { alice.read { $0.certificates.count == 2 } && carol.read { !$0.judgements.isEmpty } }
    } else {
      try await until { carol.read { !$0.invitations.isEmpty } }
    }
    let former = alice.session.engine.state[\.token]
    alice.session.cancelConnectPeer(bob.peer)
    let renewed = alice.session.engine.state[\.token]
    if isGreeting {
      carol.read { $0.judgements[0] }(true)
    } else {
      carol.read { $0.invitations[0].answer }(true, carol.session)
    }
    try await alice.isConnected(with: carol)
    try await carol.isConnected(with: alice)
    try await until { carol.session.engine.state[\.entries][alice.peer.identity.identifier]?.token == renewed }
    #expect(Memberships.session(of: carol.peer.identity.identifier, former) == nil)
  }

  @Test("a list of members has no more dialled than can take part")
  func manyMembers() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    let members = (0..<16 as Range<UInt64>).map { .max - $0 }
    let link = try #require(bob.session.engine.link(to: alice.peer.identity.identifier))
    link.send(.members(members))
    try await until { !alice.session.engine.state[\.dialing].isEmpty }
    #expect(alice.session.engine.state[\.dialing].count == kMCSessionMaximumNumberOfPeers - 2)
  }

  @Test("no more streams of a peer are taken than 64, until the program closes some")
  func manyStreams() async throws {
    let daemon = try await Daemon(adapters: 2)
    let (alice, bob) = try await Party.connected(daemon)
    for number in 1...64 {
      try bob.session.startStream(withName: "\(number)", toPeer: alice.peer).close()
      try await until { alice.read { $0.streams.count } == number }
    }
    let refused = Carried(try bob.session.startStream(withName: "refused", toPeer: alice.peer))
    #expect(await onThread { Self.writeToEnd(refused.value) })
    #expect(alice.read { $0.streams.count } == 64)
    alice.read { $0.streams[0].stream }.close()
    try bob.session.startStream(withName: "last", toPeer: alice.peer).close()
    try await until { alice.read { $0.streams.last?.name } == "last" }
  }

  /// Writes more than the buffers on the way have room for.
  /// - Returns: true if the stream was ended.
  private static func writeToEnd(_ stream: OutputStream) -> Bool {
    stream.open()
    defer { stream.close() }
    let octets = [UInt8](repeating: 0, count: 4096)
    return (0..<10_000).contains { _ in stream.write(octets, maxLength: octets.count) <= 0 }
  }

  @Test("without a daemon the data of a session is an error of this module")
  func noDaemon() async throws {
    let session = MCSession(peer: MCPeerID(displayName: "Alice", place: Place(socket: "/nowhere/socket", adapter: nil)))
    await #expect(throws: MCError.self) {
      try await session.nearbyConnectionData(forPeer: MCPeerID(displayName: "Bob"))
    }
  }
}
