import BledRPC
import Bluetooth
import GATT
import TestSupport
import Testing

@testable import BledCore

/// Discovering a device's attributes over a shared link: G4, G7, P11.
@Suite struct DiscoveryTests: OneClientSuite {
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
    #expect(heart.characteristics?.map(\.declaration) == [heart.handle + 1, heart.handle + 4])
    #expect(heart.characteristics?.last?.extendedProperties == nil)
  }

  /// A service of one characteristic with extended properties.
  private func extend(_ octets: [UInt8], _ read: AccessRequirement? = .open) throws {
    _ = try peer.database.add(
      ServiceDefinition(
        uuid: 0x1816,
        characteristics: [
          CharacteristicDefinition(
            uuid: 0x2A9F, properties: [.read, .write], value: .stored([1]),
            descriptors: [
              DescriptorDefinition(uuid: 0x2900, permissions: AttributePermissions(read: read), value: .stored(octets))
            ])
        ]))
  }

  @Test(
    "The extended properties of a characteristic are read once, with its descriptors",
    arguments: [([1, 0], ["reliableWrite"]), ([3, 0xFF], ["reliableWrite", "writableAuxiliaries"]), ([0, 0], [])])
  func extendedProperties(_ octets: [UInt8], _ words: [Word<ExtendedProperty>]) throws {
    try extend(octets)
    let found = try done(GATTDiscover.self, .init(peripheral: id)).services.last
    let characteristic = try #require(found?.characteristics?.first)
    #expect(characteristic.extendedProperties == words)
    let asked = peer.received.count
    #expect(try done(GATTDiscover.self, .init(peripheral: id)).services.last == found)
    let scope = GATTScope(peripheral: id, handle: found?.handle ?? 0)
    #expect(try done(GATTDiscoverCharacteristics.self, scope).characteristics.first?.extendedProperties == words)
    #expect(peer.received.count == asked)
  }

  @Test("A device that does not let them be read is discovered all the same")
  func refusedExtendedProperties() throws {
    try extend([1, 0], AccessRequirement(level: 2))
    let found = try done(GATTDiscover.self, .init(peripheral: id)).services.last
    #expect(found?.characteristics?.first?.extendedProperties == nil)
    #expect(found?.characteristics?.first?.properties.contains("extendedProperties") == true)
    let asked = peer.received.count
    _ = try done(GATTDiscover.self, .init(peripheral: id))
    #expect(peer.received.count == asked)
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
    // The search for Service Changed that follows is the daemon's own; see `ServiceChangedWatchTests`.
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
    // Nothing was written to a handle that may be another attribute by now, and the next change is received as well.
    #expect(peer.subscriptions[handle] == .notification)
    client.forget()
    link.deliver([0x1D, UInt8(changed & 0xFF), 0, 1, 0, 0xFF, 0xFF])
    link.deliver([0x1D, UInt8(changed & 0xFF), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    #expect(try client.notifications(GATTServicesChanged.self).count == 2)
  }
}
