import BledRPC
import Bluetooth
import GATT
import TestSupport
import Testing

@testable import BledCore

/// Discovering, reading, writing and subscribing over a link that is shared: G4–G6, P15, P16.
@Suite struct GATTBrokerTests: OneClientSuite {
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

  @Test func discoverGivesTheWholeTree() throws {
    let services = try done(GATTDiscover.self, .init(peripheral: id)).services
    #expect(services.map(\.uuid) == [0x1800, 0x1801, 0x180D, 0x1815])
    let heart = try #require(services.first { $0.uuid == 0x180D })
    #expect(heart.characteristics?.map(\.uuid) == [0x2A37, 0x2A38])
    #expect(heart.characteristics?.first?.properties == ["notify"])
    #expect(heart.characteristics?.first?.descriptors?.map(\.uuid) == [0x2902])
    #expect(heart.characteristics?.last?.handle == peer.handle(of: 0x2A38))
    #expect(services.last?.includes?.map(\.uuid) == [0x180D])
  }

  @Test(
    "The discovery of a device that answers slowly ends after 60 seconds, or when the caller wants, and tells how far it is"
  )
  func slowDiscovery() throws {
    peer.delay = .seconds(12)
    let call = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.scheduler.advance(by: .seconds(59))
    #expect(try client.answer(to: call, GATTDiscover.self) == nil)
    let progress = try client.notifications(GATTDiscoveryProgress.self)
    #expect((2...4).contains(progress.count))
    #expect(progress.last?.peripheral == id && progress.last?.services == 4)
    let other = world.client()
    try world.connect(other, peer)
    #expect(try other.notifications(GATTDiscoveryProgress.self).isEmpty)
    world.scheduler.advance(by: .seconds(2))
    let error = try #require(try client.error(of: call, GATTDiscover.self))
    #expect(error.data?.name == "timeout" && error.message.contains("60"))
    let brief = try client.call(GATTDiscover.self, .init(peripheral: id, timeout: 20))
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    world.scheduler.advance(by: .seconds(21))
    #expect(try client.error(of: brief, GATTDiscover.self)?.data?.name == "timeout")
    world.scheduler.advance(by: .seconds(30))
    #expect(try client.answer(to: read, GATTRead.self)?.get().value.octets == [1])
    peer.delay = .milliseconds(1)
    world.settle()
    #expect(try done(GATTDiscover.self, .init(peripheral: id, timeout: 20)).services.count == 4)
    world.scheduler.advance(by: .seconds(60))
    #expect(try client.error(GATTDiscover.self, .init(peripheral: id, timeout: -1))?.data?.name == "invalidParameter")
  }

  @Test("G4: only what is wanted is asked of the device")
  func stepwise() throws {
    let asked = peer.received.count
    let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [0x1815]))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscoverServices.self)) != nil }
    let services = try #require(try client.answer(to: call, GATTDiscoverServices.self)).get().services
    #expect(services.map(\.uuid) == [0x1815])
    let hash: [UInt8] = [0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]
    #expect(peer.received[asked] == hash, "the database hash, once a link")
    #expect(peer.received.dropFirst(asked + 1).allSatisfy { $0[0] == 0x06 }, "Find By Type Value only")
    // The requests behind the answer are the daemon's own search for Service Changed; see `ServiceChangedWatchTests`.
    world.settle()
    let handle = try #require(services.first?.handle)
    let included = try done(GATTDiscoverIncludedServices.self, .init(peripheral: id, handle: handle)).services
    #expect(included.map(\.uuid) == [0x180D] && included.map(\.primary) == [true])
    let scope = GATTScope(peripheral: id, handle: included[0].handle, uuids: [0x2A37])
    let characteristics = try done(GATTDiscoverCharacteristics.self, scope).characteristics
    #expect(characteristics.map(\.uuid) == [0x2A37])
    let value = characteristics[0].handle
    #expect(
      try done(GATTDiscoverDescriptors.self, .init(peripheral: id, handle: value)).descriptors.map(\.uuid) == [0x2902])
    let unknown = try client.error(GATTDiscoverCharacteristics.self, .init(peripheral: id, handle: 999))
    #expect(unknown?.data?.name == "unknownHandle")
  }

  @Test("What is known already is answered in its turn")
  func knownInTurn() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    let discover = try client.call(GATTDiscover.self, .init(peripheral: id))
    #expect(try client.answer(to: discover, GATTDiscover.self) == nil)
    let asked = peer.received.count
    world.settle()
    _ = try #require(try client.answer(to: read, GATTRead.self)).get()
    #expect(try #require(try client.answer(to: discover, GATTDiscover.self)).get().services.count == 4)
    #expect(peer.received.count <= asked + 1, "only the read")
  }

  @Test func valuesOfAnyLengthAreReadAndWritten() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let handle = peer.handle(of: 0x2A56)
    #expect(try done(GATTRead.self, .init(peripheral: id, handle: handle)).value.octets.count == 512)
    let long = [UInt8](repeating: 9, count: 400)
    _ = try done(GATTWrite.self, .init(peripheral: id, handle: handle, value: HexBytes(long)))
    #expect(peer.database.value(of: handle)?.prefix(400) == long[...])
    _ = try done(GATTWrite.self, .init(peripheral: id, handle: handle, value: HexBytes([1]), response: false))
    #expect(peer.received.last?[0] == 0x52)
  }

  @Test("G5: what the properties do not allow is refused without asking the device")
  func properties() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    let asked = peer.received.count
    let rate = peer.handle(of: 0x2A37)
    let place = peer.handle(of: 0x2A38)
    let long = peer.handle(of: 0x2A56)
    #expect(
      try client.error(GATTRead.self, .init(peripheral: id, handle: rate))?.data?.name == "notAllowedByProperties")
    let write = GATTWrite.Params(peripheral: id, handle: place, value: HexBytes([1]))
    #expect(try client.error(GATTWrite.self, write)?.data?.name == "notAllowedByProperties")
    #expect(
      try client.error(GATTSubscribe.self, .init(peripheral: id, handle: place))?.data?.name == "notAllowedByProperties"
    )
    let huge = GATTWrite.Params(peripheral: id, handle: long, value: HexBytes([UInt8](repeating: 0, count: 513)))
    #expect(try client.error(GATTWrite.self, huge)?.data?.name == "invalidParameter")
    let command = GATTWrite.Params(
      peripheral: id, handle: long, value: HexBytes([UInt8](repeating: 0, count: 245)), response: false)
    #expect(try client.error(GATTWrite.self, command)?.message.contains("244") == true)
    let shared = GATTWrite.Params(peripheral: id, handle: rate + 1, value: HexBytes([1, 0]))
    #expect(try client.error(GATTWrite.self, shared)?.data?.name == "notPermitted")
    #expect(peer.received.count == asked)
  }

  @Test("A write without response that is refused is told in the log, once for each session")
  func refusedCommands() throws {
    let log = LogLines()
    let world = World(log: log)
    let peer = world.peer()
    try peer.furnish()
    let long = peer.handle(of: 0x2A56)
    let clients = [world.client(), world.client()]
    for (client, name) in zip(clients, ["chunker", "other"]) {
      _ = try client.result(SessionOpen.self, .init(name: name))
      let id = try world.connect(client, peer).peripheral
      let value = HexBytes([UInt8](repeating: 0, count: 245))
      for _ in 0..<3 {
        let write = GATTWrite.Params(peripheral: id, handle: long, value: value, response: false)
        #expect(try client.error(GATTWrite.self, write) != nil)
        // A client that waits for a response learns of the refusal.
        let other = GATTWrite.Params(peripheral: id, handle: 0x7777, value: value)
        _ = try client.call(GATTWrite.self, other)
        world.settle()
      }
    }
    let told = log.all.filter { $0.contains("without response") }
    #expect(told.count == 2)
    #expect(told.first?.contains("chunker") == true && told.first?.contains("244") == true)
  }

  @Test func errorsOfTheDeviceKeepTheirName() throws {
    let call = try client.call(GATTRead.self, .init(peripheral: id, handle: 0x7777))
    world.settle()
    let error = try #require(try client.error(of: call, GATTRead.self))
    #expect(error.data?.domain == .att && error.data?.code == 1 && error.data?.name == "invalidHandle")
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
    _ = try done(GATTUnsubscribe.self, .init(peripheral: id, handle: handle))
    #expect(peer.subscriptions[handle] == .notification)
    other.die()
    world.settle()
    #expect(peer.subscriptions[handle] == [])
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
    // A session that subscribes again in time is subscribed.
    for _ in 0..<2 {
      try client.call(GATTUnsubscribe.self, .init(peripheral: id, handle: handle))
      try client.call(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    }
    world.settle()
    #expect(peer.subscriptions[handle] == .notification)
  }

  @Test("Who leaves before its subscription was written takes it from nobody else")
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

  @Test("P16: a write without response waits for room on the link")
  func roomForCommands() throws {
    let handle = peer.handle(of: 0x2A56)
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    link.isWritable = false
    let calls = try (0..<3).map {
      try client.call(
        GATTWrite.self, .init(peripheral: id, handle: handle, value: HexBytes([UInt8($0)]), response: false))
    }
    world.settle()
    #expect(try client.answer(to: calls[0], GATTWrite.self) == nil)
    link.isWritable = true
    world.settle()
    for call in calls { _ = try #require(try client.answer(to: call, GATTWrite.self)).get() }
    #expect(peer.received.suffix(3).map { $0.last } == [0, 1, 2])
    // The next request of the session waits behind them; the requests of others do not.
    link.isWritable = false
    let other = world.client()
    try world.connect(other, peer)
    try client.call(
      GATTWrite.self, .init(peripheral: id, handle: handle, value: HexBytes([9]), response: false))
    try client.call(GATTRead.self, .init(peripheral: id, handle: 0x77))
    try other.call(GATTRead.self, .init(peripheral: id, handle: 0x78))
    world.settle()
    #expect(peer.received.suffix(2).map { [$0[0], $0[1]] } == [[0x52, UInt8(handle)], [0x0A, 0x78]])
    link.isWritable = true
    world.settle()
    #expect(peer.received.suffix(2).map { [$0[0], $0[1]] } == [[0x52, UInt8(handle)], [0x0A, 0x77]])
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

  @Test("G7, P11: changed services are told, and handles in their range are void")
  func servicesChanged() throws {
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    let changed = peer.handle(of: 0x2A05)
    #expect(peer.subscriptions[changed] == .indication)
    let handle = peer.handle(of: 0x2A37)
    _ = try done(GATTSubscribe.self, .init(peripheral: id, handle: handle))
    let range = try #require(peer.database.services.first { $0.uuid == 0x180D }?.range)
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    link.deliver(
      [0x1D, UInt8(changed & 0xFF), 0, UInt8(range.lowerBound & 0xFF), 0, UInt8(range.upperBound & 0xFF), 0])
    world.settle()
    let events = try client.notifications(GATTServicesChanged.self)
    #expect(events.map(\.start) == [range.lowerBound] && events.map(\.end) == [range.upperBound])
    #expect(try client.notifications(GATTSubscriptionLost.self).map(\.handle) == [handle])
    #expect(try client.error(GATTSubscribe.self, .init(peripheral: id, handle: handle))?.data?.name == "unknownHandle")
    // Nothing was written to what may be another attribute by now, and the next change is heard as well.
    #expect(peer.subscriptions[handle] == .notification)
    client.forget()
    link.deliver([0x1D, UInt8(changed & 0xFF), 0, 1, 0, 0xFF, 0xFF])
    link.deliver([0x1D, UInt8(changed & 0xFF), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).count == 2)
  }

  @Test func operationsOfTwoSessionsTakeTurns() throws {
    let other = world.client()
    try world.connect(other, peer)
    let handle = peer.handle(of: 0x2A38)
    let many = try (0..<20).map { _ in try client.call(GATTRead.self, .init(peripheral: id, handle: handle)) }
    let one = try other.call(GATTRead.self, .init(peripheral: id, handle: handle))
    world.scheduler.run { (try? other.answer(to: one, GATTRead.self)) != nil }
    #expect(try many.filter { try client.answer(to: $0, GATTRead.self) != nil }.count <= 2)
    world.settle()
    for call in many { #expect(try client.answer(to: call, GATTRead.self)?.get().value.octets == [1]) }
  }
}
