import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Rule 6: packets dropped by the machine are counted, and reported to their possible receivers.
@Suite struct LostPacketTests {
  private let world = World()
  private let client: TestClient
  private let other: TestClient
  private let peer: ScriptedPeer
  private let link: ScriptedLink
  private let id: String
  private let handle: UInt16

  init() throws {
    client = world.client()
    other = world.client()
    peer = world.peer()
    try peer.furnish()
    id = try world.connect(client, peer).peripheral
    try world.connect(other, peer)
    link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    handle = peer.handle(of: 0x2A37)
    try world.subscribe(client, id, handle)
  }

  private func lostPackets(_ client: TestClient) throws -> Int? {
    try client.result(SessionList.self, .init()).sessions.first { $0.mine }?.costs.packetsLost
  }

  @Test("sessions subscribed on the link are told how many, and go on; others are told nothing")
  func told() throws {
    peer.notify(handle, [0, 1])
    world.settle()
    link.lose(3)
    peer.notify(handle, [0, 2])
    world.settle()
    let lost = try client.notifications(GATTValuesLost.self)
    #expect(lost.map(\.peripheral) == [id] && lost.map(\.packets) == [3])
    #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[0, 1], [0, 2]])
    #expect(try client.notifications(GATTSubscriptionLost.self).isEmpty)
    #expect(try other.notifications(GATTValuesLost.self).isEmpty)
    #expect(try lostPackets(client) == 3)
    #expect(try lostPackets(other) == 0)
  }

  @Test("one event for each session, however many subscriptions it has, the same octets for all")
  func once() throws {
    try world.subscribe(client, id, peer.handle(of: 0x2A56))
    _ = try other.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    world.settle()
    _ = try (client.notifications(GATTValuesLost.self), other.notifications(GATTValuesLost.self))
    link.lose(1)
    #expect(try client.notifications(GATTValuesLost.self).count == 1)
    #expect(try other.notifications(GATTValuesLost.self).count == 1)
    #expect(client.lines.last == other.lines.last)
  }

  @Test("a session that has no room for that either loses its subscriptions on the link, and is told once it reads")
  func noRoom() throws {
    client.reads = false
    for _ in 0..<200_000 where peer.subscriptions[handle] == .notification {
      link.lose(64)
      world.scheduler.advance(by: .milliseconds(2))
    }
    world.settle()
    #expect(peer.subscriptions[handle] == [])
    let session = try #require(client.session)
    #expect(session.outbox.waiting < Outbox.Limits().values + 1024)
    let waiting = session.outbox.waiting
    link.lose(64)
    #expect(session.outbox.waiting == waiting)
    client.reads = true
    let lost = try client.notifications(GATTSubscriptionLost.self)
    #expect(lost.map(\.handle) == [handle] && lost.first?.reason.data?.name == "tooSlow")
  }
}
