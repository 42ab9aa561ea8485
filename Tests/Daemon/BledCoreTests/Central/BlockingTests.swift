import Adapter
import BledRPC
import Bluetooth
import TestSupport
import Testing

@testable import BledCore

/// `adapter.block`: a device that this machine refuses to connect with.
@Suite struct BlockingTests {
  private let address = "C0:00:00:00:00:01"

  private func connect(_ client: TestClient) throws -> Int {
    try client.call(PeripheralConnect.self, .init(address: address, addressType: "random", reconnect: true))
  }

  /// Makes the adapter receive a device named Belt.
  private func hear(_ address: String, _ world: World) {
    world.adapter.hear(world.peer(address).address, [5, 0x09] + Array("Belt".utf8))
  }

  private func entry(_ client: TestClient) throws -> PeripheralList.Entry? {
    try client.result(PeripheralList.self, Empty()).peripherals.first { $0.address == address }
  }

  @Test("Links end and do not come back, calls in progress and later ones fail; unblocked, all is as before")
  func linked() throws {
    let world = World()
    let (owner, client) = (world.client(), world.client(user: 1000))
    let peer = world.peer()
    try peer.furnish()
    let call = try connect(client)
    world.adapter.bringUp(peer)
    world.settle()
    let id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    peer.delay = .seconds(5)
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    _ = try owner.result(AdapterBlock.self, .init(peripheral: id))
    world.settle()
    #expect(world.adapter.links.map(\.wasDisconnected) == [true] && world.adapter.pendingConnections.isEmpty)
    #expect(try client.error(of: read, GATTRead.self) != nil)
    let told = try client.notifications(PeripheralDisconnected.self)
    #expect(told.map(\.reason?.data?.name) == ["blocked"] && told.first?.reconnecting == nil)
    #expect(try entry(client)?.blocked == true)
    #expect(try client.error(of: connect(client), PeripheralConnect.self)?.data?.name == "blocked")
    _ = try owner.result(AdapterBlock.self, .init(peripheral: id, on: false))
    #expect(try entry(client)?.blocked == nil)
    peer.delay = .milliseconds(1)
    #expect(try world.connect(client, peer).peripheral == id)
  }

  @Test("A pending connection fails, and a link that the device starts ends at once, unseen")
  func pending() throws {
    let world = World()
    let (owner, client) = (world.client(), world.client(user: 1000))
    _ = try owner.result(PeripheralWatch.self, .init())
    let call = try connect(client)
    let id = try #require(try entry(client)).peripheral
    _ = try owner.result(AdapterBlock.self, .init(peripheral: id))
    #expect(try client.error(of: call, PeripheralConnect.self)?.data?.name == "blocked")
    #expect(world.adapter.pendingConnections.isEmpty)
    world.adapter.bringUp(world.peer(), role: .peripheral)
    world.settle()
    #expect(world.adapter.links.map(\.wasDisconnected) == [true])
    #expect(try owner.notifications(PeripheralLinkChanged.self).isEmpty)
    #expect(try owner.result(AdapterList.self, Empty()).adapters.first?.links == 0)
  }

  @Test("A device that is looked for by its name is another one than that which is blocked")
  func searched() throws {
    let world = World()
    let client = world.client()
    hear(address, world)
    let id = try #require(try entry(client)).peripheral
    _ = try client.result(AdapterBlock.self, .init(peripheral: id))
    let call = try client.call(PeripheralConnect.self, .init(name: "Belt"))
    hear(address, world)
    world.settle()
    #expect(try client.answer(to: call, PeripheralConnect.self) == nil && world.adapter.pendingConnections.isEmpty)
    hear("C0:00:00:00:00:02", world)
    world.settle()
    #expect(world.adapter.pendingConnections.map { "\($0)" } == ["C0:00:00:00:00:02"])
  }

  @Test("It needs the permission \"adapters\"")
  func permission() throws {
    let world = World()
    let client = world.client(user: 1000)
    _ = try connect(client)
    let id = try #require(try entry(client)).peripheral
    #expect(try client.error(AdapterBlock.self, .init(peripheral: id))?.data?.name == "notPermitted")
    #expect(try world.client().error(AdapterBlock.self, .init(peripheral: "?"))?.data?.name == "unknownDevice")
  }

  @Test("It lasts over a restart, and over peripheral.forget")
  func lasting() throws {
    let scheduler = VirtualScheduler()
    let storage = MemoryStorage(scheduler: scheduler)
    let world = World(scheduler: scheduler, storage: storage)
    let client = world.client()
    hear(address, world)
    let id = try #require(try entry(client)).peripheral
    _ = try client.result(AdapterBlock.self, .init(peripheral: id))
    _ = try client.result(PeripheralForget.self, .init(peripheral: id))
    world.settle()
    let next = World(scheduler: scheduler, storage: storage).client()
    let found = try #require(try entry(next))
    #expect(found.blocked == true && found.peripheral != id)
    #expect(try next.error(of: connect(next), PeripheralConnect.self)?.data?.name == "blocked")
    _ = try next.result(AdapterBlock.self, .init(peripheral: found.peripheral, on: false))
    world.settle()
    let last = World(scheduler: scheduler, storage: storage).client()
    #expect(try entry(last)?.blocked == nil)
  }
}
