import BledClient
import TestSupport
import Testing

@testable import NearbySessions

/// Invitations and links in both directions at once.
@Suite(.timeLimit(.minutes(10))) struct CrossingTests {
  /// Two nodes that advertise and have found each other; Alice has the identifier `alice`, Bob 7.
  private static func found(
    alice identifier: UInt64, clock: HeldClock = HeldClock()
  ) async throws -> (daemon: Daemon, alice: NearbyNode, bob: NearbyNode, toBob: FoundPeer, toAlice: FoundPeer) {
    let daemon = try await Daemon(adapters: 2)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0, identifier: identifier, clock: clock)
    let bob = try await Nodes.node(daemon, "Bob", adapter: 1, identifier: 7, clock: clock)
    try await alice.advertise()
    try await bob.advertise()
    return (daemon, alice, bob, try await Nodes.find("Bob", by: alice), try await Nodes.find("Alice", by: bob))
  }

  /// One session joins two nodes.
  private static func expectOne(
    _ alice: NearbyNode, _ bob: NearbyNode, _ ends: (alice: NearbyConnection, bob: NearbyConnection)
  ) async throws {
    #expect(ends.alice.code == ends.bob.code)
    for (from, to) in [(ends.alice, ends.bob), (ends.bob, ends.alice)] {
      try await from.send([7])
      #expect(try await Nodes.message(of: to) == [7])
    }
    #expect(await alice.connectedCount == 1)
    #expect(await bob.connectedCount == 1)
  }

  @Test("two peers that invite each other at once have one session, and neither is asked", arguments: [5, 9])
  func crossing(identifier: UInt64) async throws {
    let (daemon, alice, bob, toBob, toAlice) = try await Self.found(alice: identifier)
    defer { withExtendedLifetime(daemon) {} }
    let asked = [alice, bob].map { node in Task { await node.invitations.first { _ in true } } }
    // Neither reaches the other before both have begun.
    await alice.links.beginChange(toBob.peripheral)
    await bob.links.beginChange(toAlice.peripheral)
    let first = Nodes.invite(toBob, by: alice)
    let second = Nodes.invite(toAlice, by: bob)
    try await until {
      let (own, other) = (await alice.inviting.count, await bob.inviting.count)
      return own == 1 && other == 1
    }
    await alice.links.endChange(toBob.peripheral)
    await bob.links.endChange(toAlice.peripheral)
    try await Self.expectOne(alice, bob, (try await first.value, try await second.value))
    await alice.stop()
    await bob.stop()
    for task in asked { #expect(await task.value == nil) }
  }

  @Test("a peer that invites instead of answering has one session with the inviter", arguments: [5, 9])
  func invitedInstead(identifier: UInt64) async throws {
    let (daemon, alice, bob, toBob, toAlice) = try await Self.found(alice: identifier)
    defer { withExtendedLifetime(daemon) {} }
    let first = Nodes.invite(toBob, by: alice)
    let invitation = try await Nodes.invitation(to: bob, by: first)
    let second = Nodes.invite(toAlice, by: bob)
    try await Self.expectOne(alice, bob, (try await first.value, try await second.value))
    #expect(await !invitation.answer(true))
  }

  @Test("the wait for a crossing invitation ends by its own time, or with the node")
  func waits() async throws {
    let (daemon, alice, _) = try await Nodes.pair()
    defer { withExtendedLifetime(daemon) {} }
    for identifier in 4...5 as ClosedRange<UInt64> { await alice.begin(identifier) }
    let wait = Task { await alice.crossed(5, .replaced) == nil }
    try await until { await alice.waits.count(at: .crossing(2)) == 1 }
    await alice.waits.wake(at: .crossing(1))
    #expect(await alice.waits.count(at: .crossing(2)) == 1, "the time of an earlier invitation is over")
    await alice.stop()
    #expect(await wait.value)
    #expect(await alice.crossed(5, .replaced) == nil, "nothing is waited for then")
  }

  @Test("the link of a look stays for a session that the other side has begun over it, and no longer")
  func sharedLink() async throws {
    let (daemon, alice, bob, toBob, toAlice) = try await Self.found(alice: 5)
    defer { withExtendedLifetime(daemon) {} }
    _ = try await alice.links.acquire(toBob.peripheral)
    let invited = Nodes.invite(toAlice, by: bob)
    let invitation = try await Nodes.invitation(to: alice, by: invited)
    #expect(await invitation.answer(true))
    let ends = (alice: invitation.connection, bob: try await invited.value)
    await alice.links.release(toBob.peripheral)
    try await ends.alice.send([1])
    guard case .message([1])? = await ends.bob.next() else { throw Nodes.Missing() }
    await ends.bob.disconnect()
    try await until { await alice.links.devices.isEmpty }
    try await until { await bob.links.devices.isEmpty }
  }

  @Test("an invitation does not wait for a look at a device that does not answer")
  func lookUnderWay() async throws {
    let (daemon, alice, bob, toBob, _) = try await Self.found(alice: 5)
    defer { withExtendedLifetime(daemon) {} }
    let gone = "00000000-0000-0000-0000-000000000001"
    await alice.links.beginChange(gone)
    let look = Task { await alice.links.look(at: gone, 1) }
    try await until { await alice.links.changes.count(at: gone) == 1 }
    let invited = Nodes.invite(toBob, by: alice)
    let invitation = try await Nodes.invitation(to: bob, by: invited)
    #expect(await invitation.answer(true))
    #expect(try await invited.value.code == invitation.connection.code)
    await alice.links.endChange(gone)
    #expect(await look.value == nil)
  }

  @Test("an invitation that has timed out leaves the queue")
  func timedOut() async throws {
    let clock = HeldClock()
    let (daemon, alice, bob, toBob, _) = try await Self.found(alice: 5, clock: clock)
    defer { withExtendedLifetime(daemon) {} }
    let late = Task { () async -> BluetoothError? in
      do throws(BluetoothError) {
        _ = try await alice.invite(toBob, context: [1], timeout: .seconds(1))
        return nil
      } catch {
        return error
      }
    }
    try await until { await bob.isInvited }
    try await clock.advance { await alice.hasNoPeers }
    #expect(await late.value?.code == GAPError.timeout.rawValue)
    try await until { await bob.hasNoPeers }
    let invited = Nodes.invite(toBob, context: [2], by: alice)
    let invitation = try await Nodes.invitation(to: bob, by: invited)
    #expect(invitation.context == [2])
    #expect(await invitation.answer(true))
    _ = try await invited.value
  }

  @Test("a device has four handshakes that wait, and the link that they use ends with them")
  func handshakes() async throws {
    let (daemon, alice, bob, toBob, _) = try await Self.found(alice: 5)
    let psm = try #require(await bob.advertiser.listening?.psm)
    let mallory = try await daemon.client()
    let link = try await mallory.connect(.identifier(toBob.peripheral), adapter: daemon.adapter(0))
    var channels: [L2CAPChannel] = []
    for _ in 0..<Handshakes.deviceLimit { channels.append(try await link.openL2CAPChannel(psm: psm)) }
    try await until { await bob.handshakes.count == Handshakes.deviceLimit }
    let refused = try? await link.openL2CAPChannel(psm: psm)
    try await until { await bob.refusals == 1 }
    withExtendedLifetime((channels, refused)) {}
    channels = []
    try await link.disconnect()
    try await until { await bob.handshakes.count == 0 }
    let invited = Nodes.invite(toBob, by: alice)
    let invitation = try await Nodes.invitation(to: bob, by: invited)
    #expect(await invitation.answer(true))
    #expect(try await invited.value.code == invitation.connection.code)
  }
}

extension NearbyNode {
  /// An invitation is under way.
  fileprivate func begin(_ identifier: UInt64) { inviting.begin(identifier) }
}
