import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto
import GATT
import Testing

@testable import BledCore

/// Knowledge of a device across links and restarts, and the cases in which it is not trusted.
@Suite struct GATTCacheTests {
  private let world: World
  private let storage: MemoryStorage
  private let client: TestClient
  private let peer: ScriptedPeer

  init() throws {
    let scheduler = VirtualScheduler()
    storage = MemoryStorage(scheduler: scheduler)
    world = World(scheduler: scheduler, storage: storage)
    client = world.client()
    peer = world.peer()
    peer.database = AttributeDatabase(cmac: DatabaseHash.code)
    try peer.furnish()
  }

  /// Begins a new link of the same peer.
  private func reconnect(_ client: TestClient, in world: World, _ peer: ScriptedPeer) throws -> String {
    if let link = world.daemon.links.links.first {
      link.disconnect()
      world.settle()
    }
    return try world.connect(client, peer).peripheral
  }

  private func discover(_ id: String, by client: TestClient, in world: World) throws -> [ServiceDescription] {
    let call = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    return try #require(try client.answer(to: call, GATTDiscover.self)).get().services
  }

  /// The requests of a discovery to the device: Find Information, Find By Type Value, Read By Type but for the hash,
  /// Read By Group Type.
  private func discoveryRequests(_ peer: ScriptedPeer, from start: Int) -> [[UInt8]] {
    peer.received.dropFirst(start).filter {
      [0x04, 0x06, 0x08, 0x10].contains($0[0]) && $0 != [0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]
    }
  }

  @Test("Equal hash: no discovery request on the next link, nor after a restart of the daemon (P12)")
  func equalHash() throws {
    let id = try reconnect(client, in: world, peer)
    let first = try discover(id, by: client, in: world)
    #expect(!discoveryRequests(peer, from: 0).isEmpty)
    #expect(first.map(\.uuid) == [0x1800, 0x1801, 0x180D, 0x1815])
    for restart in [false, true] {
      let start = peer.received.count
      let world = restart ? World(scheduler: self.world.scheduler, storage: storage) : self.world
      let client = restart ? world.client() : self.client
      let again = try reconnect(client, in: world, peer)
      #expect(again == id)
      #expect(try discover(id, by: client, in: world) == first)
      #expect(discoveryRequests(peer, from: start) == [])
      #expect(peer.received.dropFirst(start).count { $0[0] == 0x08 } == 2, "the hash was read, and after subscribing")
      #expect(try client.notifications(GATTServicesChanged.self).isEmpty)
    }
  }

  @Test("Step by step the cache answers as well, and it grows with what is asked (P12)")
  func stepwise() throws {
    func walk(_ id: String) throws -> [String] {
      func done<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> Method.Result {
        let call = try client.call(method, params)
        world.settle()
        return try #require(try client.answer(to: call, method)).get()
      }
      let service = try done(GATTDiscoverServices.self, .init(peripheral: id, services: [0x180D])).services[0]
      let scope = GATTScope(peripheral: id, handle: service.handle)
      let included = try done(GATTDiscoverIncludedServices.self, scope).services
      let characteristics = try done(GATTDiscoverCharacteristics.self, scope).characteristics
      let value = GATTScope(peripheral: id, handle: characteristics[0].handle)
      let descriptors = try done(GATTDiscoverDescriptors.self, value).descriptors
      return ["\(service)", "\(included)", "\(characteristics)", "\(descriptors)"]
    }
    let first = try walk(try reconnect(client, in: world, peer))
    #expect(discoveryRequests(peer, from: 0).count > 3)
    let start = peer.received.count
    #expect(try walk(try reconnect(client, in: world, peer)) == first)
    #expect(discoveryRequests(peer, from: start) == [])
  }

  @Test("On one link no session discovers again what another has discovered")
  func sharedOnALink() throws {
    let id = try reconnect(client, in: world, peer)
    let first = try discover(id, by: client, in: world)
    let other = world.client()
    try world.connect(other, peer)
    let start = peer.received.count
    #expect(try discover(id, by: other, in: world) == first)
    #expect(peer.received.count == start)
  }

  @Test("A client that discovers nothing costs no request")
  func nothingDiscovered() throws {
    let id = try reconnect(client, in: world, peer)
    _ = try discover(id, by: client, in: world)
    let start = peer.received.count
    _ = try reconnect(client, in: world, peer)
    #expect(peer.received.dropFirst(start).map { $0[0] } == [0x02], "the MTU only")
  }

  @Test("Another hash: all is discovered anew, and programs are told (P11)")
  func otherHash() throws {
    let id = try reconnect(client, in: world, peer)
    let first = try discover(id, by: client, in: world)
    _ = try peer.database.add(
      ServiceDefinition(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: .read, value: .stored([50]))]))
    let start = peer.received.count
    _ = try reconnect(client, in: world, peer)
    let second = try discover(id, by: client, in: world)
    #expect(second.map(\.uuid) == first.map(\.uuid) + [0x180F])
    #expect(!discoveryRequests(peer, from: start).isEmpty)
    #expect(try client.notifications(GATTServicesChanged.self).map(\.end) == [0xFFFF])
    _ = try reconnect(client, in: world, peer)
    let last = peer.received.count
    #expect(try discover(id, by: client, in: world) == second)
    #expect(discoveryRequests(peer, from: last) == [], "the new one is cached")
  }

  @Test("Without a hash, what was discovered lives as long as the link (P11)")
  func noHash() throws {
    let peer = world.peer("C0:00:00:00:00:02")
    try peer.furnish()
    let id = try reconnect(client, in: world, peer)
    let first = try discover(id, by: client, in: world)
    for _ in 0..<2 {
      let start = peer.received.count
      _ = try reconnect(client, in: world, peer)
      #expect(try discover(id, by: client, in: world) == first)
      #expect(!discoveryRequests(peer, from: start).isEmpty)
    }
    #expect(try world.daemon.directory.find(id).cache == nil)
  }

  @Test("Service Changed goes to each program on the link and drops the cache (P11)")
  func serviceChanged() throws {
    let id = try reconnect(client, in: world, peer)
    let other = world.client()
    try world.connect(other, peer)
    let first = try discover(id, by: client, in: world)
    #expect(try world.daemon.directory.find(id).cache != nil)
    let changed = peer.handle(of: 0x2A05)
    let link = try #require(world.daemon.links.links.first?.link as? ScriptedLink)
    link.deliver([0x1D, UInt8(changed & 0xFF), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    for program in [client, other] {
      #expect(try program.notifications(GATTServicesChanged.self).map(\.start) == [1])
    }
    #expect(try world.daemon.directory.find(id).cache == nil)
    let start = peer.received.count
    #expect(try discover(id, by: other, in: world) == first)
    #expect(!discoveryRequests(peer, from: start).isEmpty)
  }

  @Test("A device whose link is still ending is forgotten when the link has ended")
  func forgetWhileEnding() throws {
    let id = try reconnect(client, in: world, peer)
    _ = try client.call(PeripheralDisconnect.self, .init(peripheral: id))
    let forgetting = try client.call(PeripheralForget.self, .init(peripheral: id))
    #expect(try client.answer(to: forgetting, PeripheralForget.self) == nil)
    world.settle()
    _ = try client.answer(to: forgetting, PeripheralForget.self)?.get()
    #expect(try client.result(PeripheralList.self, .init()).peripherals.isEmpty)
  }

  @Test("A device is not forgotten for a program that is gone when the link has ended")
  func forgetWithoutProgram() throws {
    let id = try reconnect(client, in: world, peer)
    _ = try client.call(PeripheralDisconnect.self, .init(peripheral: id))
    _ = try client.call(PeripheralForget.self, .init(peripheral: id))
    client.die()
    world.settle()
    #expect(try world.client().result(PeripheralList.self, .init()).peripherals.map(\.peripheral) == [id])
  }

  @Test("Forgetting a device forgets its cache and its identifier (P11)")
  func forget() throws {
    let id = try reconnect(client, in: world, peer)
    _ = try discover(id, by: client, in: world)
    #expect(try client.error(PeripheralForget.self, .init(peripheral: id))?.data?.name == "notPermitted")
    world.daemon.links.links.first?.disconnect()
    world.settle()
    #expect(world.adapter.unpaired.isEmpty)
    _ = try client.result(PeripheralForget.self, .init(peripheral: id))
    world.settle()
    #expect(world.adapter.unpaired == [peer.address])
    #expect(try client.error(PeripheralForget.self, .init(peripheral: id))?.data?.name == "unknownDevice")
    #expect(try client.result(PeripheralList.self, .init()).peripherals.isEmpty)
    let start = peer.received.count
    let restarted = World(scheduler: world.scheduler, storage: storage)
    #expect(try restarted.client().result(PeripheralList.self, .init()).peripherals.isEmpty)
    let new = try reconnect(client, in: world, peer)
    #expect(new != id)
    _ = try discover(new, by: client, in: world)
    #expect(!discoveryRequests(peer, from: start).isEmpty)
  }

  @Test("An included service is called primary only if it is: the device is asked where that is not known")
  func kindOfIncludes() throws {
    let peer = world.peer("C0:00:00:00:00:03")
    let hidden = try peer.database.add(ServiceDefinition(uuid: 0x1850, isPrimary: false))
    let shown = try peer.database.add(ServiceDefinition(uuid: 0x1851))
    let outer = try peer.database.add(
      ServiceDefinition(uuid: 0x1852, includes: [hidden.range.lowerBound, shown.range.lowerBound]))
    let id = try reconnect(client, in: world, peer)
    let services = try client.call(GATTDiscoverServices.self, .init(peripheral: id, services: [0x1852]))
    world.settle()
    _ = try #require(try client.answer(to: services, GATTDiscoverServices.self)).get()
    let call = try client.call(
      GATTDiscoverIncludedServices.self, .init(peripheral: id, handle: outer.range.lowerBound))
    world.settle()
    let included = try #require(try client.answer(to: call, GATTDiscoverIncludedServices.self)).get().services
    #expect(included.map(\.uuid) == [0x1850, 0x1851] && included.map(\.primary) == [false, true])
    let tree = try discover(id, by: client, in: world)
    #expect(tree.map(\.primary) == [false, true, true])
    #expect(tree.last?.includes?.map(\.primary) == [false, true])
  }

  // MARK: Devices without a hash

  /// A bonded device without a Database Hash, in the state of the daemon before.
  private func bondedPeer(in world: World) throws -> ScriptedPeer {
    let peer = world.peer("C0:00:00:00:00:02")
    try peer.furnish()
    peer.keys = LinkSecurity(level: 2, keySize: 16)
    let key = PairingImport.LongTermKey(
      value: HexBytes([UInt8](repeating: 5, count: 16)), size: 16, diversifier: 0,
      random: HexBytes([UInt8](repeating: 0, count: 8)), authenticated: false, secureConnections: true, central: true)
    _ = try world.client().call(
      PairingImport.self,
      .init(
        adapterAddress: "\(world.adapter.information.address)", address: "\(peer.address)", addressType: "random",
        longTermKeys: [key]))
    world.settle()
    return peer
  }

  /// Discovers everything; gives it, and the requests of the discovery before the answer.
  private func requests(
    _ id: String, _ peer: ScriptedPeer, in world: World, by client: TestClient
  ) throws -> (services: [ServiceDescription], before: [[UInt8]]) {
    let start = peer.received.count
    let call = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.scheduler.run { (try? client.answer(to: call, GATTDiscover.self)) != nil }
    let found = try #require(try client.answer(to: call, GATTDiscover.self)).get().services
    let before = discoveryRequests(peer, from: start)
    world.settle()
    return (found, before)
  }

  @Test("A bonded device that tells changes needs no hash: no discovery on the next link, nor after a restart")
  func told() throws {
    let peer = try bondedPeer(in: world)
    let id = try reconnect(client, in: world, peer)
    let first = try requests(id, peer, in: world, by: client)
    #expect(!first.before.isEmpty && first.services.count == 4)
    for restart in [false, true] {
      if restart { world.scheduler.advance(by: .seconds(12)) }
      let world = restart ? World(scheduler: self.world.scheduler, storage: storage) : self.world
      let client = restart ? world.client() : self.client
      _ = try reconnect(client, in: world, peer)
      let start = peer.received.count
      let again = try requests(id, peer, in: world, by: client)
      #expect(again.services == first.services && again.before == [], "restart \(restart)")
      #expect(discoveryRequests(peer, from: start).contains { $0[0] == 0x10 }, "the services are compared afterwards")
      #expect(try client.notifications(GATTServicesChanged.self).isEmpty)
    }
  }

  @Test("A change that the device tells as soon as the link is encrypted is in time")
  func toldAtOnce() throws {
    let peer = try bondedPeer(in: world)
    let id = try reconnect(client, in: world, peer)
    _ = try requests(id, peer, in: world, by: client)
    let changed = peer.handle(of: 0x2A05)
    world.daemon.links.links.first?.disconnect()
    world.settle()
    let call = try client.call(PeripheralConnect.self, .init(peripheral: id))
    let link = world.adapter.bringUp(peer)
    world.scheduler.advance(by: .milliseconds(1))
    link.deliver([0x1D, UInt8(changed), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    _ = try #require(try client.answer(to: call, PeripheralConnect.self)).get()
    #expect(try !requests(id, peer, in: world, by: client).before.isEmpty)
  }

  @Test("A change that comes before the adapter has told that the link is encrypted is in time")
  func toldEarly() throws {
    let peer = try bondedPeer(in: world)
    let id = try reconnect(client, in: world, peer)
    _ = try requests(id, peer, in: world, by: client)
    let changed = peer.handle(of: 0x2A05)
    world.daemon.links.links.first?.disconnect()
    world.settle()
    peer.keys = nil
    let call = try client.call(PeripheralConnect.self, .init(peripheral: id))
    let link = world.adapter.bringUp(peer)
    world.settle()
    link.security = LinkSecurity(level: 2, keySize: 16)
    link.deliver([0x1D, UInt8(changed), 0, 1, 0, 0xFF, 0xFF])
    world.settle()
    link.endRaise(nil)
    world.settle()
    _ = try #require(try client.answer(to: call, PeripheralConnect.self)).get()
    #expect(try !requests(id, peer, in: world, by: client).before.isEmpty)
  }

  @Test("Without the characteristic that tells changes, a cache without a hash is not trusted")
  func untellable() throws {
    let peer = try bondedPeer(in: world)
    let id = try reconnect(client, in: world, peer)
    _ = try requests(id, peer, in: world, by: client)
    try world.daemon.directory.find(id).cache = GATTCache(hash: [], attributes: KnownAttributes().octets)
    let start = peer.received.count
    _ = try reconnect(client, in: world, peer)
    #expect(try requests(id, peer, in: world, by: client).services.count == 4)
    #expect(peer.received.dropFirst(start).contains([0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]), "its hash is asked for")
  }

  @Test("A device that refuses to tell changes is not trusted to do so on later links")
  func refusesToTell() throws {
    let peer = try bondedPeer(in: world)
    let id = try reconnect(client, in: world, peer)
    _ = try requests(id, peer, in: world, by: client)
    #expect(try world.daemon.directory.find(id).cache != nil)
    peer.refusing = { $0[0] == 0x12 ? 0x03 : nil }
    _ = try reconnect(client, in: world, peer)
    _ = try requests(id, peer, in: world, by: client)
    #expect(try world.daemon.directory.find(id).cache == nil)
    _ = try reconnect(client, in: world, peer)
    #expect(try !requests(id, peer, in: world, by: client).before.isEmpty)
  }

  @Test("A change that the device kept to itself is found afterwards")
  func untold() throws {
    let peer = try bondedPeer(in: world)
    let id = try reconnect(client, in: world, peer)
    _ = try requests(id, peer, in: world, by: client)
    _ = try peer.database.add(ServiceDefinition(uuid: 0x180F, characteristics: []))
    _ = try reconnect(client, in: world, peer)
    #expect(try requests(id, peer, in: world, by: client).before == [])
    #expect(try client.notifications(GATTServicesChanged.self).count == 1)
    #expect(try requests(id, peer, in: world, by: client).services.count == 5)
  }

  @Test("Without the bond, or without its keys, all is discovered anew")
  func otherBond() throws {
    let peer = try bondedPeer(in: world)
    let id = try reconnect(client, in: world, peer)
    _ = try requests(id, peer, in: world, by: client)
    _ = try client.result(PairingForget.self, .init(peripheral: id))
    _ = try reconnect(client, in: world, peer)
    #expect(try !requests(id, peer, in: world, by: client).before.isEmpty)
    #expect(try client.notifications(GATTServicesChanged.self).isEmpty)
  }
}
