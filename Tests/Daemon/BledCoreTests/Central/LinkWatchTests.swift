import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// `peripheral.watch`: the links of all sessions, and why they ended.
@Suite struct LinkWatchTests {
  private let world = World()

  @Test("A program that watches is told of the links of others, and why each ended")
  func others() throws {
    let (watcher, other) = (world.client(), world.client(user: 1000))
    _ = try watcher.result(PeripheralWatch.self, .init())
    let peer = world.peer()
    let id = try world.connect(other, peer).peripheral
    _ = try other.result(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    try world.connect(other, peer)
    try #require(world.adapter.links.last).end(reason: 0x08)
    world.settle()
    let told = try watcher.notifications(PeripheralLinkChanged.self)
    #expect(told.allSatisfy { $0.incoming == nil })
    #expect(told.map(\.linked) == [true, false, true, false] && told.allSatisfy { $0.peripheral == id })
    #expect(told.map(\.reason?.data?.code) == [nil, 0x16, nil, 0x08])
    #expect(try other.notifications(PeripheralLinkChanged.self).isEmpty)
  }

  @Test("A link that the device made is told as such, and listed")
  func incoming() throws {
    let watcher = world.client()
    _ = try watcher.result(PeripheralWatch.self, .init())
    let link = world.adapter.bringUp(world.peer(), role: .peripheral)
    world.settle()
    #expect(try watcher.notifications(PeripheralLinkChanged.self).map(\.incoming) == [true])
    #expect(try watcher.result(PeripheralList.self, Empty()).peripherals.map(\.incoming) == [true])
    link.end(reason: 0x13)
    world.settle()
    #expect(try watcher.notifications(PeripheralLinkChanged.self).map(\.incoming) == [true, nil])
    #expect(try watcher.result(PeripheralList.self, Empty()).peripherals.allSatisfy { $0.incoming == nil })
  }
}
