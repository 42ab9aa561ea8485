import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Attributes named by UUIDs: the daemon discovers what it needs.
@Suite struct AttributeLookupTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let peer: ScriptedPeer
  private let id: String

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
    for level: UInt8 in [80, 90] {
      _ = try peer.database.add(
        ServiceDefinition(
          uuid: 0x180F,
          characteristics: [
            CharacteristicDefinition(
              uuid: 0x2A19, properties: [.read, .notify], value: .stored([level]),
              descriptors: [DescriptorDefinition(uuid: 0x2901, value: .stored([level + 1]))])
          ]))
    }
    id = try world.connect(client, peer).peripheral
  }

  private func levels() -> [UInt16] {
    peer.database.services.filter { $0.uuid == 0x180F }.flatMap(\.characteristics).map(\.valueHandle)
  }

  @Test("A value is read with two calls, connect and read; the answer says where it is")
  func read() throws {
    let read = try done(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A38)))
    #expect(read.value.octets == [1] && read.handle == peer.handle(of: 0x2A38) && read.uuid == 0x2A38)
    let asked = peer.received.count
    _ = try done(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A38, of: 0x180D)))
    #expect(peer.received.dropFirst(asked).map(\.[0]) == [0x0A], "it is known where the value is")
  }

  @Test("Only the service that is named is looked into")
  func service() throws {
    let asked = peer.received.count
    let call = try client.call(
      GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A38, of: 0x180D)))
    world.scheduler.run { (try? client.answer(to: call, GATTRead.self)) != nil }
    // The database hash, the service and its characteristics (each until there is no more), the value.
    #expect(peer.received.dropFirst(asked).map(\.[0]) == [0x08, 0x06, 0x06, 0x08, 0x08, 0x0A])
  }

  @Test("What occurs several times needs an index, a handle, or another name")
  func several() throws {
    let handles = levels()
    let ambiguous = try refusal(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A19)))
    #expect(ambiguous.data?.name == "ambiguousAttribute")
    let isListed = handles.allSatisfy { ambiguous.message.contains("\($0.handleText) in service 180F") }
    #expect(isListed, "\(ambiguous.message)")
    for (index, handle) in handles.enumerated() {
      let path = AttributePath.characteristic(0x2A19, of: 0x180F, index: index)
      let read = try done(GATTRead.self, .init(peripheral: id, attribute: path))
      #expect(read.handle == handle && read.value.octets == [UInt8(80 + 10 * index)])
    }
    let beyond = try refusal(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A19, index: 2)))
    #expect(beyond.data?.name == "unknownAttribute" && beyond.message.contains("0 to 1"))
  }

  @Test("Descriptors, and what a service holds, have UUIDs, too")
  func others() throws {
    let path = AttributePath.descriptor(0x2901, of: 0x2A19, index: 1)
    let read = try done(GATTRead.self, .init(peripheral: id, attribute: path))
    #expect(read.value.octets == [91] && read.uuid == 0x2901)
    let found = try done(GATTDiscoverCharacteristics.self, .init(peripheral: id, attribute: .service(0x1815)))
    #expect(found.characteristics.map(\.uuid) == [0x2A56])
    let included = try done(GATTDiscoverIncludedServices.self, .init(peripheral: id, attribute: .service(0x1815)))
    #expect(included.services.map(\.uuid) == [0x180D])
    let descriptors = try done(GATTDiscoverDescriptors.self, .init(peripheral: id, attribute: .characteristic(0x2A37)))
    #expect(descriptors.descriptors.map(\.uuid) == [0x2902])
    let configuration = GATTWrite.Params(
      peripheral: id, attribute: .descriptor(0x2902, of: 0x2A37), value: HexBytes([1, 0]))
    #expect(try refusal(GATTWrite.self, configuration).data?.name == "notPermitted")
  }

  @Test("Values of a subscription name the handle that the answer told")
  func subscribe() throws {
    let answer = try done(GATTSubscribe.self, .init(peripheral: id, attribute: .characteristic(0x2A37)))
    let handle = peer.handle(of: 0x2A37)
    #expect(answer == AttributeFound(handle: handle, uuid: 0x2A37))
    peer.notify(handle, [0, 70])
    world.settle()
    #expect(try client.notifications(GATTValue.self).map(\.handle) == [handle])
    #expect(
      try done(GATTUnsubscribe.self, .init(peripheral: id, attribute: .characteristic(0x2A37))).handle == handle)
    #expect(peer.subscriptions[handle] == [])
  }

  @Test("What a session asks for is done in this order, whichever way it is named")
  func order() throws {
    let handle = peer.handle(of: 0x2A56)
    func write(_ attribute: AttributePath, _ value: UInt8, response: Bool) throws -> Int {
      try client.call(
        GATTWrite.self,
        .init(peripheral: id, attribute: attribute, value: HexBytes([value]), response: response ? nil : false))
    }
    let calls = [
      try write(.characteristic(0x2A56), 1, response: false), try write(.handle(handle), 2, response: false),
      try write(.characteristic(0x2A56), 3, response: true), try write(.handle(handle), 4, response: true),
    ]
    world.settle()
    for call in calls { _ = try #require(try client.answer(to: call, GATTWrite.self)).get() }
    #expect(try client.answer(to: calls[0], GATTWrite.self)?.get().handle == handle)
    #expect(try client.answer(to: calls[1], GATTWrite.self)?.get() == AttributeFound())
    #expect(
      peer.received.filter { [0x52, 0x12].contains($0[0]) && $0[1] == handle & 0xFF }.map(\.last) == [1, 2, 3, 4])
  }

  @Test("A path that names nothing, or two things, is refused with what would do")
  func refused() throws {
    for (path, word) in [
      (AttributePath.service(0x180D), "\"characteristic\""),
      (.handle(0), "1 to 65535"), (.characteristic(0x2A38, index: -1), "\"index\""),
    ] {
      let error = try #require(try client.error(GATTRead.self, .init(peripheral: id, attribute: path)))
      #expect(error.data?.name == "invalidParameter" && error.message.contains(word), "\(error.message)")
    }
    client.send(
      #"{"jsonrpc":"2.0","id":901,"method":"gatt.read","params":{"peripheral":"\#(id)","handle":3,"characteristic":"2A38"}}"#
    )
    #expect(try client.error(of: 901, GATTRead.self)?.message.contains("either") == true)
    let scope = try #require(
      try client.error(GATTDiscoverCharacteristics.self, .init(peripheral: id, attribute: .characteristic(0x2A37))))
    #expect(scope.message.contains("\"service\""))
    let descriptor = AttributePath.descriptor(0x2902, of: 0x2A37)
    #expect(try client.error(GATTSubscribe.self, .init(peripheral: id, attribute: descriptor)) != nil)
    for path in [AttributePath.characteristic(0x2A39), .characteristic(0x2A38, of: 0x1815), .descriptor(1, of: 0x2A38)]
    {
      #expect(try refusal(GATTRead.self, .init(peripheral: id, attribute: path)).data?.name == "unknownAttribute")
    }
    #expect(
      try refusal(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A37))).data?.name
        == "notAllowedByProperties")
  }

  @Test("A lookup ends with the link, and with the program")
  func ends() throws {
    peer.isMute = true
    let call = try client.call(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A38)))
    world.settle()
    #expect(try client.answer(to: call, GATTRead.self) == nil)
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: id))
    #expect(try client.error(of: call, GATTRead.self)?.data?.name == "cancelled")
  }

  @Test("When the device's services change, the attribute is looked for again")
  func changed() throws {
    _ = try done(GATTSubscribe.self, .init(peripheral: id, attribute: .characteristic(0x2A37)))
    let service = try #require(peer.database.services.first { $0.uuid == 0x180D })
    let start = service.range.lowerBound
    let changed = try #require(peer.database.services.flatMap(\.characteristics).first { $0.uuid == 0x2A05 })
    let range = [UInt8(start & 0xFF), UInt8(start >> 8), 0xFF, 0xFF]
    peer.notify(changed.valueHandle, range)
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).count == 1)
    let asked = peer.received.count
    let read = try done(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A38, of: 0x180D)))
    #expect(read.handle == peer.handle(of: 0x2A38))
    #expect(peer.received.count > asked + 2, "it was not read where it had been")
  }

  @Test("A restored session has the subscription that it made by UUID")
  func restored() throws {
    let storage = MemoryStorage(scheduler: world.scheduler)
    do {
      let world = World(scheduler: world.scheduler, storage: storage)
      let client = world.client(user: 1000)
      _ = try client.result(SessionOpen.self, .init(restore: "logger"))
      let id = try world.connect(client, peer).peripheral
      _ = try done(GATTSubscribe.self, .init(peripheral: id, attribute: .characteristic(0x2A37)), by: client)
      world.daemon.stop {}
      world.settle()
    }
    let world = World(scheduler: world.scheduler, storage: storage)
    world.settle()
    world.adapter.bringUp(peer)
    world.settle()
    let client = world.client(user: 1000)
    let state = try #require(try client.result(SessionOpen.self, .init(restore: "logger")).restored)
    #expect(state.peripherals.first?.subscriptions == [peer.handle(of: 0x2A37)])
    #expect(peer.subscriptions[peer.handle(of: 0x2A37)] == .notification)
  }
}
