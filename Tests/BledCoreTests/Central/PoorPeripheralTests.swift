import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Devices that people own and that do less than the specification asks for: what can be had of them is had.
@Suite struct PoorPeripheralTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
  }

  private func discover(_ id: String) throws -> [ServiceDescription] {
    let call = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    return try #require(try client.answer(to: call, GATTDiscover.self)).get().services
  }

  /// Refuses requests of this opcode, for attributes of this type where one is given.
  private func refuse(_ opcode: UInt8, type: [UInt8] = [], with error: UInt8) {
    peer.refusing = { packet in packet[0] == opcode && packet.suffix(type.count) == type[...] ? error : nil }
  }

  @Test(
    "Without an answer to Find Included there are no included services, and the rest is found",
    arguments: [
      0x06, 0x02, 0x80,
    ])
  func noIncludes(_ error: UInt8) throws {
    let id = try world.connect(client, peer).peripheral
    refuse(0x08, type: [0x02, 0x28], with: error)
    let services = try discover(id)
    #expect(services.map(\.uuid) == [0x1800, 0x1801, 0x180D, 0x1815])
    #expect(services.allSatisfy { $0.includes?.isEmpty ?? true })
    #expect(services.last?.characteristics?.map(\.uuid) == [0x2A56])
  }

  @Test("A refusal for want of security is still told")
  func securityIsTold() throws {
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    let link = world.adapter.bringUp(peer)
    world.settle()
    let id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    refuse(0x08, type: [0x02, 0x28], with: 0x05)
    let discovery = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    link.endRaise(nil, GAPError.pairingFailed.error("refused"))
    world.settle()
    #expect(try client.error(of: discovery, GATTDiscover.self)?.data?.name == "insufficientAuthentication")
  }

  @Test("Where single services cannot be asked for, all are, and those that were meant are reported")
  func noSearch() throws {
    let id = try world.connect(client, peer).peripheral
    refuse(0x06, with: 0x06)
    for uuids in [[0x1815], [0x180D, 0x1815]] as [[BluetoothUUID]] {
      let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: uuids))
      world.settle()
      #expect(
        try #require(try client.answer(to: call, GATTDiscoverServices.self)).get().services.map(\.uuid) == uuids)
    }
  }

  @Test("A device that does not answer Exchange MTU is connected over a new link without it, and remembered so")
  func noExchange() throws {
    peer.isMute = true
    let call = try client.call(
      PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    world.adapter.bringUp(peer)
    world.scheduler.advance(by: .seconds(29))
    #expect(try client.answer(to: call, PeripheralConnect.self) == nil)
    world.scheduler.advance(by: .seconds(2))
    #expect(try client.answer(to: call, PeripheralConnect.self) == nil)
    #expect(world.adapter.pendingConnections == [peer.address])
    peer.isMute = false
    let before = peer.received.count
    world.adapter.bringUp(peer)
    world.settle()
    let link = try #require(try client.answer(to: call, PeripheralConnect.self)).get()
    #expect(link.mtu == 23)
    #expect(!peer.received.dropFirst(before).contains { $0[0] == 0x02 })
    #expect(try discover(link.peripheral).count == 4)
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: link.peripheral))
    world.settle()
    #expect(try world.connect(client, peer).mtu == 23)
    #expect(!peer.received.dropFirst(before).contains { $0[0] == 0x02 })
  }

  @Test("Answers that nothing awaits are counted and logged once, and the link goes on")
  func strayAnswers() throws {
    let log = LogLines()
    let world = World(log: log)
    let (client, peer) = (world.client(), world.peer())
    try peer.furnish()
    let link = try world.connect(client, peer)
    peer.send([0x03, 0xF7, 0x00])
    let read = try client.call(
      GATTRead.self, .init(peripheral: link.peripheral, handle: peer.handle(of: 0x2A38)))
    peer.send([0x1E])
    world.settle()
    #expect(try client.answer(to: read, GATTRead.self)?.get().value.octets == [1])
    #expect(link.mtu == 247)
    let metric = world.daemon.metrics.first { $0.name == "bled_adapter_stray_answers_total" }
    #expect(metric?.samples.first?.value == 2)
    #expect(log.all.filter { $0.contains("which nothing awaits") }.count == 1)
  }

  @Test("The end of a link that does not answer names the side and the request")
  func reasonOfTheEnd() throws {
    let id = try world.connect(client, peer).peripheral
    peer.isMute = true
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: 3))
    world.scheduler.advance(by: .seconds(31))
    #expect(try client.error(of: read, GATTRead.self)?.data?.name == "timeout")
    let event = try client.notifications(PeripheralDisconnected.self).last
    #expect(event?.reason?.message.contains("did not answer the ATT packet 0x0a within 30 s") == true)
  }

  @Test("A long read that is refused behind its first part gives that part")
  func shortRead() throws {
    let id = try world.connect(client, peer).peripheral
    refuse(0x0C, with: 0x06)
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A56)))
    world.settle()
    #expect(try client.answer(to: read, GATTRead.self)?.get().value.octets.count == 246)
  }
}
