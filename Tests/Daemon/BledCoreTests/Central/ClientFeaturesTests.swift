import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto
import GATT
import Testing

@testable import BledCore

/// Client Supported Features that the daemon writes to devices, and their consequences.
@Suite struct ClientFeaturesTests {
  private let scheduler = VirtualScheduler()
  private let kept: MemoryStorage
  private let own = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)

  init() { kept = MemoryStorage(scheduler: scheduler) }

  private func given() throws -> (world: World, client: TestClient, peer: ScriptedPeer) {
    let world = World(scheduler: scheduler, storage: kept)
    let peer = world.peer()
    peer.database = AttributeDatabase(cmac: DatabaseHash.code)
    try peer.furnish()
    return (world, world.client(), peer)
  }

  private func discover(_ id: String, _ client: TestClient, _ world: World) throws {
    let call = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    _ = try #require(try client.answer(to: call, GATTDiscover.self)).get()
  }

  /// The values that were written to the characteristic.
  private func told(_ peer: ScriptedPeer) -> [[UInt8]] {
    let handle = peer.handle(of: 0x2B29)
    return peer.received.filter { $0.starts(with: [0x12, UInt8(handle & 0xFF), UInt8(handle >> 8)]) }
      .map { Array($0[3...]) }
  }

  private func bond(_ peer: DeviceAddress, key: UInt8) -> Bond {
    var bond = Bond(local: own, peer: peer)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: key, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .peripheral))
    return bond
  }

  /// The device pairs with these keys, on its own account.
  private func pair(_ world: World, _ peer: ScriptedPeer, key: UInt8) throws {
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    try #require(world.adapter.links.last).protect(LinkSecurity(level: 2, keySize: 16))
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(peer.address, key: key))))
  }

  @Test("A device is told once on a link, after the first discovery; then it sends several values in one packet")
  func onceOnALink() throws {
    let (world, client, peer) = try given()
    for _ in 0..<2 {
      let id = try world.connect(client, peer).peripheral
      #expect(peer.received.allSatisfy { $0[0] == 0x02 }, "nothing before something is discovered")
      try discover(id, client, world)
      #expect(told(peer) == [[5]])
      try discover(id, client, world)
      #expect(told(peer) == [[5]])
      let handle = peer.handle(of: 0x2A37)
      try world.subscribe(client, id, handle)
      let (low, high) = (UInt8(handle & 0xFF), UInt8(handle >> 8))
      world.adapter.links.last?.deliver([0x23, low, high, 1, 0, 7, low, high, 1, 0, 8])
      world.settle()
      #expect(try client.notifications(GATTValue.self).map(\.value.octets) == [[7], [8]])
      world.adapter.links.last?.end(reason: 0x13)
      world.settle()
      client.forget()
      peer.forget()
    }
  }

  @Test("A bonded device is told once, also over a restart, and again when it has other keys")
  func onceABond() throws {
    do {
      let (world, client, peer) = try given()
      let id = try world.connect(client, peer).peripheral
      try pair(world, peer, key: 5)
      try discover(id, client, world)
      #expect(told(peer) == [[5]])
    }
    scheduler.advance(by: .seconds(12))
    let (world, client, peer) = try given()
    peer.keys = LinkSecurity(level: 2, keySize: 16)
    let id = try world.connect(client, peer).peripheral
    try discover(id, client, world)
    #expect(told(peer).isEmpty)
    world.adapter.links.last?.end(reason: 0x13)
    world.settle()
    _ = try client.result(PairingForget.self, .init(peripheral: id))
    _ = try world.connect(client, peer)
    try pair(world, peer, key: 6)
    try discover(id, client, world)
    #expect(told(peer) == [[5]])
  }

  /// The device refuses the next request of this kind with Database Out Of Sync.
  private func goOutOfSync(_ peer: ScriptedPeer, at opcode: UInt8) {
    var hasRefused = false
    peer.refusing = { packet in
      guard packet[0] == opcode, !hasRefused else { return nil }
      hasRefused = true
      return 0x12
    }
  }

  @Test("Database Out Of Sync: handles are void, the program is told, and what it discovers anew works")
  func outOfSync() throws {
    let (world, client, peer) = try given()
    let id = try world.connect(client, peer).peripheral
    try discover(id, client, world)
    let handle = peer.handle(of: 0x2A38)
    goOutOfSync(peer, at: 0x0A)
    let read = try client.call(GATTRead.self, .init(peripheral: id, handle: handle))
    world.settle()
    #expect(try client.error(of: read, GATTRead.self)?.data?.name == "unknownHandle")
    #expect(try client.notifications(GATTServicesChanged.self).map(\.end) == [0xFFFF])
    let count = peer.received.count
    let again = try client.call(GATTRead.self, .init(peripheral: id, attribute: .characteristic(0x2A38)))
    world.settle()
    #expect(try #require(try client.answer(to: again, GATTRead.self)).get().value.octets == [1])
    #expect(peer.received.dropFirst(count).contains { $0[0] == 0x06 || $0[0] == 0x10 }, "it was discovered anew")
    #expect(try client.notifications(GATTServicesChanged.self).count == 1)
  }

  @Test("Database Out Of Sync: what waits to be asked by the old handles is not asked")
  func queued() throws {
    let (world, client, peer) = try given()
    let id = try world.connect(client, peer).peripheral
    try discover(id, client, world)
    let handle = peer.handle(of: 0x2A38)
    goOutOfSync(peer, at: 0x0A)
    let count = peer.received.count
    let calls = try (0..<3).map { _ in
      try client.call(GATTRead.self, .init(peripheral: id, attribute: .handle(handle)))
    }
    world.settle()
    let errors = try calls.map { try client.error(of: $0, GATTRead.self)?.data?.name }
    #expect(errors == ["unknownHandle", "unknownHandle", "unknownHandle"])
    #expect(peer.received.dropFirst(count).count { $0[0] == 0x0A } == 1)
  }

  @Test("Database Out Of Sync for what the daemon asks itself: it asks again after the next discovery")
  func ownRequests() throws {
    let (world, client, peer) = try given()
    goOutOfSync(peer, at: 0x12)
    let id = try world.connect(client, peer).peripheral
    try discover(id, client, world)
    try discover(id, client, world)
    #expect(peer.subscriptions[peer.handle(of: 0x2A05)] == .indication && told(peer).last == [5])
  }

  @Test("Database Out Of Sync: it asks again also where a program looks for no more than one value")
  func ownRequestsAfterLookup() throws {
    let (world, client, peer) = try given()
    let id = try world.connect(client, peer).peripheral
    try discover(id, client, world)
    #expect(told(peer) == [[5]])
    _ = try peer.database.add(ServiceDefinition(uuid: 0x180F, characteristics: []))
    goOutOfSync(peer, at: 0x0A)
    for attribute in [AttributePath.handle(peer.handle(of: 0x2A38)), .characteristic(0x2A38)] {
      _ = try client.call(GATTRead.self, .init(peripheral: id, attribute: attribute))
      world.settle()
    }
    #expect(told(peer) == [[5], [5]] && peer.subscriptions[peer.handle(of: 0x2A05)] == .indication)
  }
}
