import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// From the air to the socket: rule 6 for a link with one reader.
@Suite struct BrakeTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer
  private let link: ScriptedLink
  private let id: String
  private let handle: UInt16
  private static let value = [UInt8](repeating: 5, count: 200)

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    link = world.adapter.bringUp(peer)
    world.settle()
    id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    handle = peer.handle(of: 0x2A37)
    try subscribe(client)
  }

  private func subscribe(_ client: TestClient) throws {
    try world.subscribe(client, id, handle)
    client.forget()
  }

  /// The device sends this number of values, numbered through, two milliseconds each.
  private func send(_ count: Int) {
    for number in 0..<count {
      peer.notify(handle, [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] + Self.value)
      world.scheduler.advance(by: .milliseconds(2))
    }
  }

  private func numbers(_ client: TestClient) throws -> [Int] {
    try client.notifications(GATTValue.self).map { Int($0.value.octets[0]) << 8 | Int($0.value.octets[1]) }
  }

  private func isWhole(_ numbers: [Int], _ count: Int) -> Bool { numbers.elementsEqual(0..<count) }

  private func waiting(_ client: TestClient) throws -> Int { try #require(client.session).outbox.waiting }

  @Test("Rule 6: the only reader of a link slows it down, and loses nothing (P16)")
  func loneReader() throws {
    client.reads = false
    send(4000)
    #expect(!link.isReading)
    #expect(try waiting(client) < Outbox.Limits().reports + 1024)
    client.reads = true
    client.drain()
    #expect(link.isReading)
    world.catchUp(client)
    let received = try numbers(client)
    #expect(isWhole(received, 4000))
    #expect(try client.notifications(GATTSubscriptionLost.self).isEmpty)
    #expect(try #require(client.session).slowedLinks > 1)
  }

  @Test(
    "a reader that reads nothing for minutes loses its subscription, is told, and holds the link 10 s at the most (P16)"
  )
  func patience() throws {
    client.reads = false
    send(1000)
    #expect(!link.isReading)
    world.scheduler.advance(by: Brake.timeout)
    #expect(link.isReading)
    send(5000)
    #expect(link.isReading)
    world.scheduler.advance(by: .seconds(180))
    #expect(try waiting(client) < Outbox.Limits().values + 4096)
    #expect(peer.subscriptions[handle] ?? [] == [])
    client.reads = true
    let lost = try client.notifications(GATTSubscriptionLost.self)
    #expect(lost.map(\.handle) == [handle])
    #expect(lost.first?.reason.data?.name == "tooSlow")
    let received = try numbers(client)
    #expect(Array(received.prefix(1000)) == Array(0..<1000))
    #expect(received.dropFirst(1000).elementsEqual(0..<received.count - 1000))
    // From then on there is no trace of it.
    try subscribe(client)
    client.reads = false
    send(2000)
    #expect(!link.isReading)
    world.catchUp(client)
    #expect(try numbers(client).count == 2000)
  }

  @Test("answers to the reader's own requests wait behind its values, and come")
  func ownRequests() throws {
    client.reads = false
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    send(3000)
    #expect(!link.isReading)
    world.catchUp(client)
    #expect(try #require(try client.answer(to: read, GATTRead.self)).get().value == HexBytes([1]))
    #expect(try numbers(client).count == 3000)
  }

  @Test("a second user of the link, and the end of the reader, let it run again")
  func released() throws {
    client.reads = false
    send(3000)
    #expect(!link.isReading)
    let other = world.client()
    let call = try other.call(PeripheralConnect.self, .init(peripheral: id))
    #expect(link.isReading)
    _ = try #require(try other.answer(to: call, PeripheralConnect.self)).get()
    try subscribe(other)
    send(1000)
    #expect(link.isReading)
    let received = try numbers(other)
    #expect(isWhole(received, 1000))
    other.die()
    client.reads = true
    #expect(try client.notifications(GATTSubscriptionLost.self).count == 1)
    try subscribe(client)
    client.reads = false
    send(3000)
    #expect(!link.isReading)
    client.die()
    #expect(link.isReading)
  }

  @Test(
    "a link on which the device uses the services of another session is not held: its requests are handed on at once")
  func serving() throws {
    let server = world.client()
    let service = try server.result(
      ServiceAdd.self,
      .init(service: .init(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read", "indicate"])]))
    ).service
    let level = try #require(service.characteristics?.first?.handle)
    _ = peer.start(.subscribe(descriptor: level + 1, .indication))
    world.settle()
    #expect(try server.notifications(ServerSubscribed.self).count == 1)
    client.reads = false
    send(3000)
    #expect(link.isReading)
    let read = peer.start(.read(level))
    world.scheduler.advance(by: .milliseconds(10))
    let question = try #require(try server.calls(ServerRead.self).first)
    try server.answer(question.id, ServerRead.Result(value: HexBytes([64])))
    world.settle()
    #expect(try peer.results[read]?.get() == .value([64]))
    server.die()
    world.catchUp(client)
    try subscribe(client)
    client.reads = false
    send(3000)
    #expect(!link.isReading, "nobody else is concerned any more")
  }

  @Test("a link that is held is let go when the device asks another session something all the same")
  func servingFromNowOn() throws {
    let server = world.client()
    let service = try server.result(
      ServiceAdd.self,
      .init(service: .init(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read"])]))
    ).service
    let level = try #require(service.characteristics?.first?.handle)
    client.reads = false
    send(3000)
    #expect(!link.isReading)
    // A packet beyond the kernel's room is delivered all the same.
    link.onEvent?(.received([0x0A, UInt8(level & 0xFF), UInt8(level >> 8)]))
    #expect(link.isReading)
    world.scheduler.advance(by: .milliseconds(10))
    #expect(try server.calls(ServerRead.self).count == 1)
  }

  @Test("a link that ends while it is held tells its reader all that came, then the end")
  func endOfTheLink() throws {
    client.reads = false
    send(3000)
    #expect(!link.isReading)
    link.end(reason: 0x08)
    client.reads = true
    client.drain()
    #expect(try client.notifications(PeripheralDisconnected.self).count == 1)
    world.scheduler.advance(by: .seconds(60))
    #expect(try client.notifications(GATTSubscriptionLost.self).isEmpty)
  }

  @Test func machine() {
    var brake = Brake()
    #expect(brake.relieved() == nil)
    #expect(brake.timedOut() == nil)
    #expect(brake.overrun() == .pause)
    #expect(brake.overrun() == nil)
    #expect(brake.relieved() == .resume)
    #expect(brake.isOpen)
    #expect(brake.overrun() == .pause)
    #expect(brake.timedOut() == .resume)
    #expect(!brake.isOpen)
    #expect(brake.overrun() == nil)
    #expect(brake.relieved() == nil)
    #expect(brake.overrun() == .pause)
  }
}
