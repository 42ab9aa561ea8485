import BledRPC
import Bluetooth
import BluetoothCrypto
import GATT
import Testing

@testable import BledCore

/// The daemon itself subscribes to a device's Service Changed once a session has discovered something, whatever that
/// was.
@Suite struct ServiceChangedWatchTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer

  init() {
    client = world.client()
    peer = world.peer()
  }

  /// Discovers the services of one UUID.
  /// - Returns: the requests that the device received before the answer, and after it.
  private func discover(
    _ uuid: BluetoothUUID, on id: String, by client: TestClient? = nil
  ) throws -> (before: [[UInt8]], after: [[UInt8]]) {
    let client = client ?? self.client
    let start = peer.received.count
    let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [uuid]))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscoverServices.self)) != nil }
    _ = try #require(try client.answer(to: call, GATTDiscoverServices.self)).get()
    let answered = peer.received.count
    world.settle()
    return (Array(peer.received[start..<answered]), Array(peer.received[answered...]))
  }

  private func read(_ handle: UInt16, on id: String) throws -> [UInt8] {
    let call = try client.call(GATTRead.self, .init(peripheral: id, handle: handle))
    world.settle()
    return try #require(try client.answer(to: call, GATTRead.self)).get().value.octets
  }

  @Test("A session that looked for one service is told of changes; the device is asked for no more than it takes")
  func oneService() throws {
    try peer.furnish()
    let changed = peer.handle(of: 0x2A05)
    let id = try world.connect(client, peer).peripheral
    let requests = try discover(0x180D, on: id)
    #expect(requests.before.map { $0[0] } == [0x08, 0x06, 0x06], "the hash, and the service")
    #expect(
      requests.after.map { $0[0] } == [0x06, 0x06, 0x08, 0x08, 0x04, 0x12, 0x10, 0x10, 0x12],
      """
      the Generic Attribute service, its characteristics, the descriptors of Service Changed, its configuration, the \
      services once more, our features
      """)
    #expect(peer.subscriptions[changed] == .indication)
    #expect(try discover(0x1815, on: id).after.isEmpty, "once a link")
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    link.deliver([0x1D, UInt8(changed), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).map(\.start) == [1])
  }

  @Test("What the program goes on with has its turn between the daemon's requests")
  func programInBetween() throws {
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [0x180D]))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscoverServices.self)) != nil }
    let count = peer.received.count
    try client.call(GATTRead.self, .init(peripheral: id, handle: peer.handle(of: 0x2A38)))
    world.settle()
    #expect(
      peer.received.dropFirst(count).map { $0[0] } == [0x06, 0x06, 0x0A, 0x08, 0x08, 0x04, 0x12, 0x10, 0x10, 0x12])
  }

  @Test("What the cache says of Service Changed is not asked for again: two values are written")
  func cached() throws {
    peer.database = AttributeDatabase(cmac: DatabaseHash.code)
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    _ = try discover(0x180D, on: id)
    world.daemon.links.links.first?.disconnect()
    world.settle()
    _ = try world.connect(client, peer)
    let requests = try discover(0x180D, on: id)
    #expect(requests.before.map { $0[0] } == [0x08], "the hash")
    #expect(requests.after.map { $0[0] } == [0x12, 0x08, 0x12], "the hash once more: nobody listened before")
  }

  @Test("A change between the discovery and the subscription is told, by the hash; later ones by the device")
  func changedBeforeSubscription() throws {
    peer.database = AttributeDatabase(cmac: DatabaseHash.code)
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: []))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscoverServices.self)) != nil }
    let count = try #require(try client.answer(to: call, GATTDiscoverServices.self)).get().services.count
    let added = try peer.database.add(
      ServiceDefinition(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: .read, value: .stored([50]))]))
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).map { $0.start...$0.end } == [added.range])
    let again = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: []))
    world.settle()
    #expect(try #require(try client.answer(to: again, GATTDiscoverServices.self)).get().services.count == count + 1)
    #expect(try client.notifications(GATTServicesChanged.self).count == 1)
    let changed = peer.handle(of: 0x2A05)
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    link.deliver([0x1D, UInt8(changed), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).count == 2)
  }

  @Test("Without a hash, a change between the discovery and the subscription is told by another look at the services")
  func changedBeforeSubscriptionWithoutHash() throws {
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: []))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscoverServices.self)) != nil }
    let count = try #require(try client.answer(to: call, GATTDiscoverServices.self)).get().services.count
    let added = try peer.database.add(
      ServiceDefinition(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: .read, value: .stored([50]))]))
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).map { $0.start...$0.end } == [added.range])
    let again = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: []))
    world.settle()
    #expect(try #require(try client.answer(to: again, GATTDiscoverServices.self)).get().services.count == count + 1)

    // A session that only searched for a service is notified of its removal.
    world.daemon.links.links.first?.disconnect()
    world.settle()
    _ = try world.connect(client, peer)
    let search = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [0x180F]))
    world.scheduler.run { (try? client.answer(to: search, GATTDiscoverServices.self)) != nil }
    peer.database.remove(service: added.range.lowerBound)
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).count == 2)
  }

  @Test("A change of services that no program knows is not told, and their known handles stay")
  func unknownServicesChanged() throws {
    peer.database = AttributeDatabase(cmac: DatabaseHash.code)
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [0x180D]))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscoverServices.self)) != nil }
    _ = try peer.database.add(
      ServiceDefinition(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: .read, value: .stored([50]))]))
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).isEmpty)
    #expect(try !discover(0x180F, on: id).before.isEmpty, "the new service is looked for")
    #expect(try read(peer.handle(of: 0x2A38), on: id) == [1])
  }

  @Test("A device that does not describe its changed services may have changed all")
  func changedAndSilent() throws {
    peer.database = AttributeDatabase(cmac: DatabaseHash.code)
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    let call = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [0x180D]))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscoverServices.self)) != nil }
    _ = try peer.database.add(ServiceDefinition(uuid: 0x180F))
    peer.refusing = { $0.first == 0x10 ? 0x0E : nil }
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).map(\.start) == [1])
  }

  @Test("What waits or is under way by handles that have changed fails; the rest goes on")
  func operationsByVoidHandles() throws {
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    let everything = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    let services = try #require(try client.answer(to: everything, GATTDiscover.self)).get().services
    let rate = try #require(services.first { $0.uuid == 0x180D })
    let value = peer.handle(of: 0x2A38)
    let outside = try #require(peer.database.services.first { $0.uuid == 0x1801 }).range.lowerBound
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    peer.delay = .milliseconds(300)
    let reads = try [value, value, outside].map { try client.call(GATTRead.self, .init(peripheral: id, handle: $0)) }
    world.scheduler.advance(by: .milliseconds(10))
    let changed = peer.handle(of: 0x2A05)
    let range = [rate.handle, rate.end].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    link.deliver([0x1D, UInt8(changed & 0xFF), UInt8(changed >> 8)] + range)
    world.scheduler.advance(by: .milliseconds(10))
    let names = try reads.map { try client.error(of: $0, GATTRead.self)?.data?.name }
    #expect(names == ["unknownHandle", "unknownHandle", nil])
    world.settle()
    #expect(try #require(try client.answer(to: reads[2], GATTRead.self)).get().value.octets == [0x01, 0x18])
    #expect(peer.received.count { $0.first == 0x0A && $0[1] == UInt8(value & 0xFF) } == 1, "the one under way")
  }

  @Test("A device without a Generic Attribute service is asked for it once, and serves on")
  func noService() throws {
    let service = try peer.database.add(
      ServiceDefinition(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: .read, value: .stored([50]))]))
    let id = try world.connect(client, peer).peripheral
    #expect(try discover(0x180F, on: id).after.map { $0[0] } == [0x06])
    #expect(try discover(0x1815, on: id).after.isEmpty)
    #expect(try read(service.range.lowerBound + 2, on: id) == [50])
  }

  @Test("A device whose Service Changed has no configuration, or refuses it, serves on and is not asked again")
  func refusal() throws {
    for isPlain in [true, false] {
      peer.database = AttributeDatabase()
      let refusing = DescriptorDefinition(
        uuid: 0x2902, permissions: AttributePermissions(read: .open, write: .encrypted), value: .clientConfiguration)
      let generic = try peer.database.add(
        ServiceDefinition(
          uuid: 0x1801,
          characteristics: [
            .init(
              uuid: 0x2A05, properties: isPlain ? .read : .indicate, value: .stored([1]),
              descriptors: isPlain ? [] : [refusing])
          ]))
      let id = try world.connect(client, peer).peripheral
      let requests = try discover(0x1801, on: id).after
      #expect(requests.last?[0] == (isPlain ? 0x08 : 0x12))
      #expect(try discover(0x180D, on: id).after.isEmpty)
      let value = generic.characteristics[0].valueHandle
      if isPlain { #expect(try read(value, on: id) == [1]) }
      #expect(peer.subscriptions[value] == nil && world.daemon.links.links.count == 1)
      world.daemon.links.links.first?.disconnect()
      world.settle()
    }
  }

  @Test("A device that does not answer a search for the service refuses nothing else")
  func searchFails() throws {
    try peer.furnish()
    let id = try world.connect(client, peer).peripheral
    peer.refusing = { $0.first == 0x06 && $0.suffix(2) == [0x01, 0x18] ? 0x0E : nil }
    #expect(try discover(0x180D, on: id).after.map { $0[0] } == [0x06])
    #expect(try discover(0x1815, on: id).after.isEmpty)
    #expect(try read(peer.handle(of: 0x2A38), on: id) == [1])
  }

  @Test("A session that unsubscribes from Service Changed leaves the daemon subscribed")
  func sessionUnsubscribes() throws {
    try peer.furnish()
    let changed = peer.handle(of: 0x2A05)
    let id = try world.connect(client, peer).peripheral
    let everything = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    _ = try #require(try client.answer(to: everything, GATTDiscover.self)).get()
    world.settle()
    #expect(peer.subscriptions[changed] == .indication)
    for _ in 0..<2 {
      try client.call(GATTSubscribe.self, .init(peripheral: id, handle: changed))
      let call = try client.call(GATTUnsubscribe.self, .init(peripheral: id, handle: changed))
      world.settle()
      _ = try #require(try client.answer(to: call, GATTUnsubscribe.self)).get()
      #expect(peer.subscriptions[changed] == .indication)
      let subscribe = try client.call(GATTSubscribe.self, .init(peripheral: id, handle: changed))
      world.settle()
      _ = try #require(try client.answer(to: subscribe, GATTSubscribe.self)).get()
    }
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    link.deliver([0x1D, UInt8(changed), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[1, 0, 0xFF, 0xFF]])
    #expect(try client.notifications(GATTServicesChanged.self).count == 1)
  }
}
