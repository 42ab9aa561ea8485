import BledClient
import TestSupport
import Testing

@testable import NearbySessions

/// Peers that know each other's identifiers, and messages that wait for room.
@Suite(.timeLimit(.minutes(10))) struct ReachingTests {
  @Test("a peer that is reachable is found and invited by its identifier, but not by browsing")
  func reachable() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    try await bob.becomeReachable()
    let identifier = await bob.settings.identifier
    let peer = try await alice.find(identifier)
    #expect(peer.identifier == identifier)
    let invited = Nodes.invite(peer, by: alice)
    let invitation = try await Nodes.invitation(to: bob, by: invited)
    #expect(await invitation.answer(true))
    let connection = try await invited.value
    try await connection.send([1])
    guard case .message([1])? = await invitation.connection.next() else { throw Nodes.Missing() }
    // The link stays: without it Bob, who may no longer advertise, is not reached while the clock stands.
    _ = try await alice.links.acquire(peer.peripheral)
    await connection.disconnect()
    await bob.becomeUnreachable()
    await #expect(throws: BluetoothError.self) { try await alice.invite(peer) }
    await alice.links.release(peer.peripheral)
  }

  @Test("a peer that becomes reachable in several places at once is published once")
  func reachableAtOnce() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 { group.addTask { try await bob.becomeReachable() } }
      try await group.waitForAll()
    }
    let peer = try await alice.find(bob.settings.identifier)
    let link = try await alice.links.acquire(peer.peripheral)
    #expect(try await link.discoverServices([bob.settings.type.uuid]).count == 1)
    await alice.links.release(peer.peripheral)
  }

  @Test("the search for a peer that is not there ends with its task")
  func notFound() async throws {
    let (daemon, alice, _) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    let search = Task { try await alice.find(1) }
    search.cancel()
    await #expect(throws: BluetoothError.self) { try await search.value }
  }

  @Test("other information is told to those who have heard the former")
  func information() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    try await bob.advertise()
    var found: [FoundPeer] = []
    for try await case .found(let peer) in try await alice.browse() {
      found.append(peer)
      guard found.count == 1 else { break }
      try await bob.advertise(["b": "2"])
    }
    #expect(found.map(\.information) == [["a": "Bob"], ["b": "2"]])
    let tooLong = ["a": String(repeating: "x", count: 300)]
    await #expect(throws: BluetoothError.self) { try await bob.advertise(tooLong) }
  }

  @Test("messages wait for room, arrive in order, and fail when the session ends")
  func sendWhenReady() async throws {
    let (daemon, alice, bob) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    let ends = try await Nodes.connect(alice, bob)
    let sender = Task {
      for number in 0..<100 as Range<UInt8> {
        try await ends.alice.sendWhenReady(Array(repeating: number, count: 60_000))
      }
    }
    for number in 0..<100 as Range<UInt8> {
      guard case .message(let message)? = await ends.bob.next() else { throw Nodes.Missing() }
      #expect(message.count == 60_000 && message.first == number)
    }
    try await sender.value
    // No program reads any more.
    let waiting = Task { while true { try await ends.alice.sendWhenReady(Array(repeating: 1, count: 60_000)) } }
    try await until { (try? await ends.alice.send(Array(repeating: 1, count: 60_000))) == nil }
    await ends.alice.disconnect()
    await #expect(throws: BluetoothError.self) { try await waiting.value }
  }
}
