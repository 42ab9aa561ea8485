import BledRPC
import Bluetooth
import GATT
import TestSupport
import Testing

@testable import BledCore

/// Reading and writing values over a link that is shared: G5, P16.
@Suite struct AttributeAccessTests: OneClientSuite {
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
        // A caller that waits for a response hears the refusal.
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
    #expect(error.data?.domain == "att" && error.data?.code == 1 && error.data?.name == "invalidHandle")
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
    // The next requests of the session wait behind them; other sessions' do not.
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
