import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// A device and this machine that connect to each other at the same time (Core 5.4, Vol 6, Part B, 4.5).
@Suite struct CrossingLinkTests {
  @Test("a link that the device established replaces ours, whose end comes later", arguments: [0x3E, 0x13])
  func replaced(reason: Int) throws {
    let world = World()
    let client = world.client()
    let peer = world.peer()
    try peer.furnish()
    let call = try client.call(
      PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random", reconnect: true))
    let ours = world.adapter.bringUp(peer)
    world.adapter.bringUp(peer, role: .peripheral)
    ours.end(reason: reason)
    world.settle()
    #expect(world.adapter.pendingConnections.isEmpty)
    _ = try #require(try client.answer(to: call, PeripheralConnect.self)).get()
  }

  @Test("a link that nobody waits for is used by the next call")
  func unwanted() throws {
    let world = World()
    let client = world.client()
    let peer = world.peer()
    try peer.furnish()
    let link = try world.connect(client, peer)
    world.adapter.bringUp(peer, role: .peripheral)
    world.adapter.links.first?.end(reason: 0x13)
    world.settle()
    let call = try client.call(PeripheralConnect.self, .init(peripheral: link.peripheral))
    world.settle()
    #expect(world.adapter.pendingConnections.isEmpty)
    _ = try #require(try client.answer(to: call, PeripheralConnect.self)).get()
  }
}
