import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import TestSupport
import Testing

@testable import BledCore

/// Devices that people own and that do less than the specification requires: their remaining features work.
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

  @Test("The time-out of a connect says what a link that is up waits for")
  func awaited() throws {
    peer.isMute = true
    let call = try client.call(
      PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random", timeout: 5))
    world.adapter.bringUp(peer)
    world.scheduler.advance(by: .seconds(5))
    let message = try #require(try client.error(of: call, PeripheralConnect.self)).message
    let cause = "the link is up, but the device has not answered Exchange MTU"
    #expect(message.hasSuffix("within 5.0 s: \(cause)"), "\(message)")
  }

  @Test("The time-out of a connect says how the last link ended")
  func causeOfTheTimeout() throws {
    peer.isMute = true
    let call = try client.call(
      PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random", timeout: 10))
    world.adapter.bringUp(peer).end(reason: 0x3E)
    world.scheduler.advance(by: .seconds(11))
    let error = try #require(try client.error(of: call, PeripheralConnect.self))
    #expect(error.data?.name == "timeout" && error.message.hasSuffix(": the link ended"))
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
    let answer = try client.answer(to: read, GATTRead.self)?.get()
    #expect(answer?.value.octets.count == 246 && answer?.truncated == true)
  }

  @Test("A server that ignores the offset of Read Blob ends: the first 512 octets, said to be cut")
  func endlessValue() throws {
    let id = try world.connect(client, peer).peripheral
    peer.answering = { packet in
      [0x0A, 0x0C].contains(packet[0]) ? [packet[0] + 1] + [UInt8](repeating: 9, count: 246) : nil
    }
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A56)))
    world.settle()
    let answer = try client.answer(to: read, GATTRead.self)?.get()
    #expect(answer?.value.octets == [UInt8](repeating: 9, count: 512) && answer?.truncated == true)
  }

  @Test(
    "Refused descriptors cost these descriptors only, and are named in the log", arguments: [0x01, 0x06, 0x0E, 0x80])
  func noDescriptors(_ error: UInt8) throws {
    let log = LogLines()
    let world = World(log: log)
    let (client, peer) = (world.client(), world.peer())
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    peer.refusing = { $0[0] == 0x04 ? error : nil }
    for _ in 0..<2 {
      let call = try client.call(GATTDiscover.self, .init(peripheral: id))
      world.settle()
      let services = try #require(try client.answer(to: call, GATTDiscover.self)).get().services
      #expect(services.map(\.uuid) == [0x1800, 0x1801, 0x180D, 0x1815])
      let characteristics = services.flatMap { $0.characteristics ?? [] }
      #expect(characteristics.contains { $0.uuid == 0x2A56 })
      #expect(characteristics.allSatisfy { $0.descriptors?.isEmpty ?? true })
    }
    let lines = log.all.filter { $0.contains("refused to tell the descriptors of characteristic") }
    #expect(lines.count == 1, "\(log.all)")
    // A person who subscribes receives the reason.
    let place = peer.handle(of: 0x2A37)
    let call = try client.call(GATTSubscribe.self, .init(peripheral: id, handle: place))
    world.settle()
    #expect(try client.error(of: call, GATTSubscribe.self)?.data?.domain == "att")
  }

  @Test("Refused characteristics of a service cost these only", arguments: [0x01, 0x06, 0x0E])
  func noCharacteristics(_ error: UInt8) throws {
    let id = try world.connect(client, peer).peripheral
    let place = try #require(peer.database.services.first { $0.uuid == 0x180D }).range.lowerBound
    peer.refusing = { packet in
      guard packet[0] == 0x08, packet.suffix(2) == [0x03, 0x28] else { return nil }
      return packet[...].word(at: 1)...packet[...].word(at: 3) ~= place ? error : nil
    }
    let services = try discover(id)
    #expect(services.map(\.uuid) == [0x1800, 0x1801, 0x180D, 0x1815])
    #expect(services[2].characteristics?.isEmpty ?? true)
    #expect(services[3].characteristics?.map(\.uuid) == [0x2A56])
  }

  @Test("A search that is refused behind its findings gives these", arguments: [0x01, 0x0E, 0x80])
  func halfRefused(_ error: UInt8) throws {
    let id = try world.connect(client, peer).peripheral
    peer.refusing = { $0[0] == 0x10 && $0[1] > 1 ? error : nil }
    #expect(try discover(id).map(\.uuid) == [0x1800, 0x1801, 0x180D, 0x1815])
  }

  @Test(
    "A service of the Bluetooth base that is declared with 16 octets is found; an absent one is asked for once")
  func longDeclaration() throws {
    let id = try world.connect(client, peer).peripheral
    peer.refusing = { $0[0] == 0x06 && $0.count == 9 ? 0x0A : nil }
    let read = try client.call(
      GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A38, of: 0x180D)))
    world.settle()
    #expect(try client.answer(to: read, GATTRead.self)?.get().value.octets == [1])
    for _ in 0..<2 {
      let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [0xFFD0]))
      world.settle()
      #expect(try client.answer(to: call, GATTDiscoverServices.self)?.get().services.isEmpty == true)
    }
    #expect(peer.received.filter { $0[0] == 0x06 && $0.contains(0xFF) && $0.contains(0xD0) }.map(\.count) == [9, 23])
  }

  @Test(
    "Without a configuration a subscription writes nothing, and values flow", arguments: [0x2A37, 0x2A56])
  func noConfiguration(_ uuid: UInt16) throws {
    let id = try world.connect(client, peer).peripheral
    refuse(0x04, with: 0x0A)
    let place = peer.handle(of: BluetoothUUID(uuid))
    try world.subscribe(client, id, place)
    #expect(!peer.received.contains { $0[0] == 0x12 && $0[...].word(at: 1) == place + 1 })
    peer.notify(place, [1, 2])
    world.settle()
    #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[1, 2]])
    let call = try client.call(GATTUnsubscribe.self, .init(peripheral: id, handle: place))
    world.settle()
    _ = try #require(try client.answer(to: call, GATTUnsubscribe.self)).get()
    peer.notify(place, [3])
    world.settle()
    #expect(try client.notifications(GATTValue.self).count == 1)
  }

  @Test("With force the device is asked for what its properties do not allow")
  func force() throws {
    let id = try world.connect(client, peer).peripheral
    _ = try discover(id)
    let (notifying, readable) = (peer.handle(of: 0x2A37), peer.handle(of: 0x2A38))
    func refusal(of force: Bool?) throws -> [String?] {
      let read = try client.call(GATTRead.self, .init(peripheral: id, handle: notifying, force: force))
      let write = try client.call(
        GATTWrite.self,
        .init(peripheral: id, attribute: .handle(readable), value: HexBytes([9]), force: force))
      world.settle()
      return [
        try client.error(of: read, GATTRead.self)?.data?.name,
        try client.error(of: write, GATTWrite.self)?.data?.name,
      ]
    }
    #expect(try refusal(of: nil) == ["notAllowedByProperties", "notAllowedByProperties"])
    #expect(try refusal(of: true) == ["readNotPermitted", "writeNotPermitted"])
    let command = try client.call(
      GATTWrite.self,
      .init(peripheral: id, attribute: .handle(readable), value: HexBytes([9]), response: false, force: true))
    world.settle()
    _ = try #require(try client.answer(to: command, GATTWrite.self)).get()
    #expect(peer.received.last == [0x52, UInt8(readable), 0, 9])
  }
}
