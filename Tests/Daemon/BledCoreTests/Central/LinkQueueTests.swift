import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// The one queue of a link: order, failures, time and the end.
@Suite struct LinkQueueTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer
  private let id: String

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
    id = try world.connect(client, peer).peripheral
  }

  private func read(_ handle: UInt16, by client: TestClient? = nil) throws -> Int {
    try (client ?? self.client).call(GATTRead.self, .init(peripheral: id, handle: handle))
  }

  @Test("Operations are asked one at a time and in order; one that fails does not keep the next from its turn")
  func inOrder() throws {
    let count = peer.received.count
    let place = peer.handle(of: 0x2A38)
    let first = try read(place)
    let refused = try read(0x77)
    let write = try client.call(
      GATTWrite.self, .init(peripheral: id, handle: peer.handle(of: 0x2A56), value: HexBytes([9])))
    world.scheduler.advance(by: .milliseconds(1))
    #expect(peer.received.dropFirst(count).map { $0[0] } == [0x0A])
    world.settle()
    #expect(peer.received.dropFirst(count).map { $0[0] } == [0x0A, 0x0A, 0x12])
    #expect(try client.answer(to: first, GATTRead.self)?.get().value.octets == [1])
    #expect(try client.error(of: refused, GATTRead.self)?.data?.domain == "att")
    _ = try #require(try client.answer(to: write, GATTWrite.self)).get()
  }

  @Test("The daemon's own answers come one by one, so that a long queue does not block the loop")
  func answersWithoutTheDevice() throws {
    let first = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    _ = try #require(try client.answer(to: first, GATTDiscover.self)).get()
    let read = try read(peer.handle(of: 0x2A38))
    let calls = try (0..<50).map { _ in try client.call(GATTDiscover.self, .init(peripheral: id)) }
    world.scheduler.run { (try? client.answer(to: read, GATTRead.self)) != nil }
    func answered() throws -> Int { try calls.count { try client.answer(to: $0, GATTDiscover.self) != nil } }
    for count in 1...3 {
      #expect(try answered() == count)
      world.scheduler.run { (try? answered()) ?? 0 > count }
    }
    world.settle()
    #expect(try answered() == 50)
  }

  @Test("Everything that waits fails once when the device has not answered for 30 seconds, and the link goes")
  func timeout() throws {
    peer.isMute = true
    let other = world.client()
    let connect = try other.call(PeripheralConnect.self, .init(peripheral: id))
    _ = try #require(try other.answer(to: connect, PeripheralConnect.self)).get()
    let calls = try (0..<3).map { _ in try read(3) }
    let another = try read(3, by: other)
    world.scheduler.advance(by: .seconds(29))
    #expect(try client.answer(to: calls[0], GATTRead.self) == nil)
    world.scheduler.advance(by: .seconds(2))
    for call in calls { #expect(try client.error(of: call, GATTRead.self)?.data?.name == "timeout") }
    #expect(try other.error(of: another, GATTRead.self)?.data?.name == "timeout")
    world.settle()
    for client in [client, other] { #expect(try client.notifications(PeripheralDisconnected.self).count == 1) }
    #expect(world.daemon.links.links.isEmpty)
  }

  @Test("The answer to an abandoned operation is still awaited, and is not taken for another's")
  func abandoned() throws {
    let other = world.client()
    try world.connect(other, peer)
    let abandoned = try read(peer.handle(of: 0x2A38))
    let next = try read(0x77, by: other)
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: id))
    #expect(try client.error(of: abandoned, GATTRead.self)?.data?.name == "cancelled")
    world.settle()
    #expect(try other.error(of: next, GATTRead.self)?.data?.domain == "att")
  }

  @Test("A command goes out beside a request that has no answer yet, but never before what was asked before it")
  func commands() throws {
    let (place, long) = (peer.handle(of: 0x2A38), peer.handle(of: 0x2A56))
    func command(_ octet: UInt8) throws {
      try client.call(
        GATTWrite.self, .init(peripheral: id, handle: long, value: HexBytes([octet]), response: false))
    }
    let count = peer.received.count
    _ = try read(place)
    try command(1)
    _ = try read(place)
    try command(2)
    _ = try read(place)
    world.scheduler.advance(by: .milliseconds(1))
    #expect(peer.received.dropFirst(count).map { $0[0] } == [0x0A, 0x52])
    world.settle()
    #expect(peer.received.dropFirst(count).map { $0[0] } == [0x0A, 0x52, 0x0A, 0x52, 0x0A])
    client.drain()
    let answered = client.messages.compactMap { if case .success(.number(let id)) = $0.kind { id } else { nil } }
    #expect(answered.suffix(3) == answered.suffix(3).sorted(), "what waited is answered in order")
  }
}
