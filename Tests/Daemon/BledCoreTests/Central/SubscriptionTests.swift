import BledRPC
import Bluetooth
import GATT
import TestSupport
import Testing

@testable import BledCore

/// Subscribing over a link that is shared: G6, P15, P16.
@Suite struct SubscriptionTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let peer: ScriptedPeer
  private let id: String

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
    id = try world.connect(client, peer).peripheral
  }

  @Test("G6, P15, rule 7: one subscription on the device for all sessions, values early or late reach each of them")
  func sharedSubscription() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let other = world.client()
    try world.connect(other, peer)
    let handle = peer.handle(of: 0x2A37)
    let subscribe = try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    peer.notify(handle, [0, 1])
    world.settle()
    _ = try #require(try client.answer(to: subscribe, GATTSubscribe.self)).get()
    #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[0, 1]])
    #expect(peer.subscriptions[handle] == .notification)
    let writes = peer.received.count { $0[0] == 0x12 }
    _ = try done(GATTSubscribe.self, .init(peripheral: id, handle: handle), by: other)
    #expect(peer.received.count { $0[0] == 0x12 } == writes)
    peer.notify(handle, [0, 2])
    world.settle()
    #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[0, 1], [0, 2]])
    #expect(try other.notifications(GATTValue.self).map(\.value.octets) == [[0, 2]])
    #expect(client.lines.last == other.lines.last)
    #expect(try client.notifications(GATTValue.self).map(\.serial) == [1, 2])
    _ = try done(GATTUnsubscribe.self, .init(peripheral: id, handle: handle))
    #expect(peer.subscriptions[handle] == .notification)
    other.die()
    world.settle()
    #expect(peer.subscriptions[handle] == [])
  }

  @Test("A value that comes before the device's answer follows the answer to the call, also to one by UUID")
  func valueIsTheAnswer() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let handle = peer.handle(of: 0x2A37)
    for attribute in [AttributePath.handle(handle), .characteristic(0x2A37)] {
      // The device sends its stored values, and answers when it is done.
      peer.isMute = true
      let subscribe = try client.call(GATTSubscribe.self, .init(peripheral: id, attribute: attribute))
      world.settle()
      client.forget()
      for value in [[0, 1], [0, 2]] as [[UInt8]] { peer.notify(handle, value) }
      world.settle()
      client.drain()
      #expect(client.messages.map { if case .success = $0.kind { true } else { false } } == [true, false, false])
      let found = try #require(try client.answer(to: subscribe, GATTSubscribe.self)).get()
      #expect(found.handle == (attribute.handle == nil ? handle : nil))
      #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[0, 1], [0, 2]])
      client.forget()
      peer.isMute = false
      peer.send([0x13])
      world.settle()
      client.drain()
      #expect(client.messages.isEmpty, "a call has one answer")
      _ = try done(GATTUnsubscribe.self, .init(peripheral: id, handle: handle))
      client.forget()
    }
  }

  @Test("A value that is sent unasked, while the descriptor is looked for, follows the answer, too")
  func valueDuringTheSearch() throws {
    let services = try done(GATTDiscoverServices.self, .init(peripheral: id, services: [0x180D])).services
    _ = try done(GATTDiscoverCharacteristics.self, .init(peripheral: id, handle: services[0].handle))
    let handle = peer.handle(of: 0x2A37)
    client.forget()
    peer.isMute = true
    try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    peer.notify(handle, [0, 1])
    world.settle()
    client.drain()
    #expect(client.messages.map { if case .success = $0.kind { true } else { false } } == [true, false])
  }

  @Test("A device that sends a value and then refuses: the subscription is lost, with the device's reason")
  func refusedAfterAValue() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let handle = peer.handle(of: 0x2A37)
    peer.isMute = true
    let subscribe = try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    world.settle()
    peer.notify(handle, [0, 1])
    world.settle()
    _ = try #require(try client.answer(to: subscribe, GATTSubscribe.self)).get()
    peer.send([0x01, 0x12, UInt8(handle + 1), 0, 0x80])
    world.settle()
    let lost = try client.notifications(GATTSubscriptionLost.self)
    #expect(lost.map(\.handle) == [handle] && lost.first?.reason.data?.domain == "att")
    client.forget()
    peer.notify(handle, [0, 2])
    world.settle()
    #expect(try client.notifications(GATTValue.self).isEmpty)
  }

  @Test("A session receives values from its turn on: those of others before it are not its own")
  func valuesFromTheTurnOn() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let other = world.client()
    try world.connect(other, peer)
    let handle = peer.handle(of: 0x2A37)
    _ = try done(GATTSubscribe.self, .init(peripheral: id, handle: handle), by: other)
    peer.isMute = true
    try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    let subscribe = try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    peer.notify(handle, [0, 1])
    world.settle()
    #expect(try client.notifications(GATTValue.self).isEmpty)
    peer.isMute = false
    peer.send([0x0B, 7])
    world.settle()
    _ = try #require(try client.answer(to: subscribe, GATTSubscribe.self)).get()
    peer.notify(handle, [0, 2])
    world.settle()
    #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[0, 2]])
    #expect(try other.notifications(GATTValue.self).map(\.value.octets) == [[0, 1], [0, 2]])
  }

  @Test("What one session asks for without waiting reaches the device in that order, subscriptions too")
  func inOrder() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let (rate, place, long) = (peer.handle(of: 0x2A37), peer.handle(of: 0x2A38), peer.handle(of: 0x2A56))
    func asked(since count: Int) -> [[UInt8]] { peer.received.dropFirst(count).map { [$0[0], $0[1]] } }
    let (first, second, value) = (UInt8(rate + 1), UInt8(long + 1), UInt8(long))
    var count = peer.received.count
    for _ in 0..<2 { try client.call(GATTRead.self, .init(peripheral: id, handle: place)) }
    try client.call(GATTSubscribe.self, .init(peripheral: id, handle: rate))
    try client.call(GATTSubscribe.self, .init(peripheral: id, handle: long))
    try client.call(GATTWrite.self, .init(peripheral: id, handle: long, value: HexBytes([1])))
    world.settle()
    #expect(
      asked(since: count) == [
        [0x0A, UInt8(place)], [0x0A, UInt8(place)], [0x12, first], [0x12, second], [0x12, value],
      ])
    count = peer.received.count
    try client.call(GATTWrite.self, .init(peripheral: id, handle: long, value: HexBytes([2])))
    try client.call(GATTUnsubscribe.self, .init(peripheral: id, handle: rate))
    try client.call(GATTRead.self, .init(peripheral: id, handle: place))
    try client.call(GATTWrite.self, .init(peripheral: id, handle: long, value: HexBytes([3]), response: false))
    world.settle()
    #expect(asked(since: count) == [[0x12, value], [0x12, first], [0x0A, UInt8(place)], [0x52, value]])
    client.drain()
    let answered = client.messages.compactMap { if case .success(.number(let id)) = $0.kind { id } else { nil } }
    #expect(answered == answered.sorted() && answered.count >= 9)
  }

  @Test("A subscription that is taken back before its turn has come is not told to the device")
  func takenBack() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let handle = peer.handle(of: 0x2A37)
    let count = peer.received.count
    try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    let subscribe = try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    let unsubscribe = try client.call(GATTUnsubscribe.self, .init(peripheral: id, handle: handle))
    world.settle()
    #expect(try client.error(of: subscribe, GATTSubscribe.self)?.data?.name == "cancelled")
    _ = try #require(try client.answer(to: unsubscribe, GATTUnsubscribe.self)).get()
    #expect(peer.received.count == count + 1)
    // A session that subscribes again in time keeps the subscription.
    for _ in 0..<2 {
      try client.call(GATTUnsubscribe.self, .init(peripheral: id, handle: handle))
      try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    }
    world.settle()
    #expect(peer.subscriptions[handle] == .notification)
  }

  @Test("A session that leaves before its subscription was written takes it from no other")
  func subscriberLeaves() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let other = world.client()
    try world.connect(other, peer)
    let handle = peer.handle(of: 0x2A37)
    try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    let subscribe = try other.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    client.die()
    world.settle()
    _ = try #require(try other.answer(to: subscribe, GATTSubscribe.self)).get()
    #expect(peer.subscriptions[handle] == .notification)
  }

  @Test func indicationsWhereThereAreNoNotifications() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let handle = peer.handle(of: 0x2A56)
    _ = try done(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    #expect(peer.subscriptions[handle] == .indication)
  }

  @Test("The descriptor is looked for when a client did not")
  func subscribeAfterCharacteristicsOnly() throws {
    let services = try done(GATTDiscoverServices.self, .init(peripheral: id, services: [0x180D])).services
    _ = try done(GATTDiscoverCharacteristics.self, .init(peripheral: id, handle: services[0].handle))
    let handle = peer.handle(of: 0x2A37)
    let count = peer.received.count
    let subscribe = try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    let write = GATTWrite.Params(
      peripheral: id, handle: peer.handle(of: 0x2A56), value: HexBytes([1]), response: false)
    try client.call(GATTWrite.self, write)
    world.settle()
    _ = try #require(try client.answer(to: subscribe, GATTSubscribe.self)).get()
    #expect(peer.subscriptions[handle] == .notification)
    #expect(peer.received.dropFirst(count).map { $0[0] } == [0x04, 0x12, 0x52], "nothing overtakes it meanwhile")
  }

  @Test(
    "Rule 6: a session that does not read its values loses that subscription and is told; the other one notices nothing"
  )
  func slowReader() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let other = world.client()
    try world.connect(other, peer)
    let handle = peer.handle(of: 0x2A37)
    for client in [client, other] {
      _ = try done(GATTSubscribe.self, .init(peripheral: id, handle: handle), by: client)
    }
    client.forget()
    client.reads = false
    let value = [UInt8](repeating: 5, count: 200)
    for _ in 0..<4000 {
      peer.notify(handle, value)
      world.scheduler.advance(by: .milliseconds(2))
      other.drain()
    }
    #expect(try other.notifications(GATTValue.self).count == 4000)
    #expect(try #require(client.session).outbox.waiting < Outbox.Limits().values + 1024)
    client.reads = true
    let lost = try client.notifications(GATTSubscriptionLost.self)
    #expect(lost.map(\.handle) == [handle])
    #expect(lost.first?.reason.data?.name == "tooSlow")
    #expect(try client.notifications(GATTValue.self).count < 4000)
    client.forget()
    peer.notify(handle, [1])
    world.settle()
    #expect(try client.notifications(GATTValue.self).isEmpty)
  }
}
