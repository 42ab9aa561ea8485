import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto
import Testing

@testable import BledCore

/// A bonded device with private addresses is one peripheral for ever: P23.
@Suite struct PrivacyTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage
  private let identity = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)
  private let own = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)
  private let key = [UInt8](0x20..<0x30)

  init() { storage = MemoryStorage(scheduler: scheduler) }

  private func world() -> World {
    let world = World(scheduler: scheduler, storage: storage)
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    return world
  }

  /// A private address that the key resolves.
  private func address(_ number: UInt32, key: [UInt8]? = nil) throws -> DeviceAddress {
    let random = 0x40_0000 | number
    let hash = KeyDerivation.ah(k: try #require(Key128(littleEndian: key ?? self.key)), r: random)
    return DeviceAddress(value: UInt64(random) << 24 | UInt64(hash), kind: .random)
  }

  private func bond(_ identity: DeviceAddress? = nil, key: [UInt8]? = nil) -> Bond {
    var bond = Bond(local: own, peer: identity ?? self.identity)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .central))
    bond.identityResolvingKey = key ?? self.key
    return bond
  }

  /// A device that has the keys of its bond.
  private func bonded(_ address: String, in world: World) -> ScriptedPeer {
    let peer = world.peer(address)
    peer.keys = LinkSecurity(level: 2, keySize: 16)
    return peer
  }

  /// Connects to a device at an address, and pairs.
  private func pair(_ client: TestClient, at address: DeviceAddress, in world: World) throws -> (ScriptedLink, String) {
    let call = try client.call(PeripheralConnect.self, .init(address: "\(address)", addressType: "random"))
    let link = world.adapter.bringUp(world.peer("\(address)"))
    world.settle()
    let id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    world.adapter.onEvent?(.pairing(address, .bonded(bond())))
    return (link, id)
  }

  @Test("The specification's sample data of ah resolves (Vol 3, Part H, D.7)")
  func sampleData() throws {
    let key = try #require(Hex.decode("ec0234a357c8ad05341010a60a397d9b".utf8))
    let resolver = IdentityResolver([bond(key: key.reversed())])
    #expect(resolver.identity(of: try #require(DeviceAddress("70:81:94:0D:FB:AA", kind: .random))) == identity)
    #expect(resolver.identity(of: try #require(DeviceAddress("70:81:94:0D:FB:AB", kind: .random))) == nil)
    #expect(resolver.identity(of: try #require(DeviceAddress("70:81:94:0D:FB:AA", kind: .public))) == nil)
    let nobody = IdentityResolver([bond(key: [UInt8](repeating: 0, count: 16))])
    #expect(nobody.identity(of: try address(1, key: [UInt8](repeating: 0, count: 16))) == nil)
  }

  @Test("P23: a bonded device is the same peripheral at each of its addresses, under its identity")
  func onePeripheral() throws {
    let world = world()
    let client = world.client()
    // The device was received before it paired, under an address that could not be resolved.
    world.adapter.hear(try address(9), [])
    let (link, id) = try pair(client, at: try address(1), in: world)
    link.end(reason: 0x13)
    _ = try client.result(ScanStart.self, .init(duplicates: true))
    for number in 1...3 { world.adapter.hear(try address(UInt32(number)), []) }
    world.adapter.hear(identity, [])
    world.adapter.hear(try address(1, key: [UInt8](repeating: 1, count: 16)), [])
    let reports = try client.notifications(ScanReport.self)
    #expect(reports.prefix(4).map(\.peripheral) == [id, id, id, id])
    #expect(reports.prefix(4).map(\.address) == Array(repeating: "\(identity)", count: 4))
    #expect(reports.last?.peripheral != id, "without a bond it is another device")
    let known = try client.result(PeripheralList.self, .init()).peripherals
    #expect(known.count == 2 && known.count { $0.address == "\(identity)" } == 1)
  }

  @Test("P23: a pending connection follows the address of the moment, and is listened for passively meanwhile")
  func pendingConnection() throws {
    let world = world()
    let client = world.client()
    let (link, id) = try pair(client, at: try address(1), in: world)
    #expect(world.adapter.scan == nil)
    link.end(reason: 0x13)
    world.settle()
    let call = try client.call(PeripheralConnect.self, .init(peripheral: id))
    #expect(world.adapter.pendingConnections == [try address(1)])
    #expect(world.adapter.scan?.isActive == false)
    scheduler.advance(by: .seconds(900))
    world.adapter.hear(try address(2), [])
    #expect(world.adapter.pendingConnections == [try address(2)])
    // The device has a second advertisement, with an address of its own.
    world.adapter.hear(try address(3), [])
    #expect(world.adapter.pendingConnections == [try address(2)])
    scheduler.advance(by: .seconds(3))
    world.adapter.hear(try address(3), [])
    #expect(world.adapter.pendingConnections == [try address(3)])
    world.adapter.bringUp(bonded("\(try address(3))", in: world))
    world.settle()
    #expect(try client.answer(to: call, PeripheralConnect.self)?.get().peripheral == id)
    #expect(world.adapter.scan == nil, "nobody is waited for")
  }

  @Test("A controller that resolves private addresses is asked for the identity; until it turns out that it does not")
  func resolvingController() throws {
    let world = world()
    let client = world.client()
    let (link, id) = try pair(client, at: try address(1), in: world)
    world.adapter.resolved = [identity]
    link.end(reason: 0x13)
    world.settle()
    let call = try client.call(PeripheralConnect.self, .init(peripheral: id))
    #expect(world.adapter.pendingConnections == [identity])
    // Devices also advertise under their identity.
    world.adapter.hear(identity, [])
    #expect(world.adapter.pendingConnections == [identity])
    // Another adapter, which does not resolve, has to know its address.
    let known = try #require(world.daemon.directory.all.first { $0.identity == identity })
    #expect(known.current == (try address(1)))
    world.adapter.hear(try address(1), [])
    #expect(world.adapter.resolved.isEmpty)
    scheduler.advance(by: .seconds(3))
    world.adapter.hear(try address(1), [])
    #expect(world.adapter.pendingConnections == [try address(1)])
    scheduler.advance(by: .seconds(900))
    world.adapter.hear(try address(2), [])
    #expect(world.adapter.pendingConnections == [try address(2)])
    world.adapter.bringUp(bonded("\(try address(2))", in: world))
    world.settle()
    #expect(try client.answer(to: call, PeripheralConnect.self)?.get().peripheral == id)
    let second = world.adapter.links.last
    world.adapter.resolved = [identity]
    second?.end(reason: 0x08)
    world.settle()
    let again = try client.call(PeripheralConnect.self, .init(peripheral: id))
    world.adapter.bringUp(bonded("\(identity)", in: world))
    world.settle()
    #expect(try client.answer(to: again, PeripheralConnect.self)?.get().peripheral == id)
    #expect(world.adapter.scan == nil && world.adapter.pendingConnections.isEmpty)
  }

  @Test("No controller watches for a device that uses private addresses, unless it resolves them")
  func presence() throws {
    let world = world()
    let client = world.client()
    let (link, _) = try pair(client, at: identity, in: world)
    link.end(reason: 0x13)
    world.settle()
    world.adapter.hear(identity, [])
    _ = try client.result(ScanStart.self, .init(addresses: ["\(identity)"], presence: true, lost: 10))
    #expect(world.adapter.scan?.watched?.timeouts == [identity: 10])
    world.adapter.onEvent?(.watching(true))
    world.adapter.hear(try address(1), [])
    #expect(world.adapter.scan != nil && world.adapter.scan?.watched == nil)
    world.adapter.resolved = [identity]
    world.adapter.onEvent?(.stateChanged)
    #expect(world.adapter.scan?.watched?.timeouts == [identity: 10])
  }

  @Test("A controller that resolves private addresses seeks a train under the identity, another one as it was heard")
  func train() throws {
    let world = world()
    let client = world.client()
    world.adapter.information.canSynchronise = true
    let (link, id) = try pair(client, at: try address(1), in: world)
    link.end(reason: 0x13)
    world.settle()
    for isResolving in [true, false] {
      world.adapter.resolved = isResolving ? [identity] : []
      _ = try client.call(PeriodicSync.self, .init(peripheral: id, sid: isResolving ? 1 : 2))
    }
    let trains = [PeriodicTrain(address: identity, sid: 1), PeriodicTrain(address: try address(1), sid: 2)]
    #expect(Set(world.adapter.syncs.keys) == Set(trains))
  }

  @Test("P23: after a restart its identifier is good, and so is an old private address")
  func restart() throws {
    let first = world()
    let (_, id) = try pair(first.client(), at: try address(1), in: first)
    first.settle()
    let second = world()
    let client = second.client()
    let call = try client.call(PeripheralConnect.self, .init(address: "\(try address(1))", addressType: "random"))
    #expect(second.adapter.scan?.isActive == false)
    second.adapter.hear(try address(2), [])
    #expect(second.adapter.pendingConnections == [try address(2)])
    second.adapter.bringUp(bonded("\(try address(2))", in: second))
    second.settle()
    #expect(try client.answer(to: call, PeripheralConnect.self)?.get().peripheral == id)
    #expect(try client.result(PeripheralList.self, .init()).peripherals.map(\.peripheral) == [id])
  }

  @Test("P23: a session that keeps the link gets it back under the next address")
  func reconnect() throws {
    let world = world()
    let client = world.client()
    let (link, id) = try pair(client, at: try address(1), in: world)
    _ = try client.result(PeripheralConnect.self, .init(peripheral: id, reconnect: true))
    link.end(reason: 0x08)
    scheduler.advance(by: .seconds(10))
    world.adapter.hear(try address(2), [])
    world.adapter.bringUp(bonded("\(try address(2))", in: world))
    world.settle()
    #expect(try client.notifications(PeripheralConnected.self).map(\.peripheral) == [id])
  }

  @Test("P23: a bonded central is the same however it calls itself, also after a restart")
  func central() throws {
    let first = world()
    let client = first.client()
    let link = first.adapter.bringUp(first.peer("\(try address(1))"), role: .peripheral)
    first.adapter.onEvent?(.pairing(try address(1), .bonded(bond())))
    link.end(reason: 0x13)
    let ids = try client.result(PeripheralList.self, .init()).peripherals.map(\.peripheral)
    // The kernel reports its identity, another adapter its private address.
    for address in [identity, try address(2)] {
      first.adapter.bringUp(first.peer("\(address)"), role: .peripheral).end(reason: 0x13)
    }
    #expect(try client.result(PeripheralList.self, .init()).peripherals.map(\.peripheral) == ids)
    first.settle()
    let second = world()
    second.adapter.bringUp(second.peer("\(identity)"), role: .peripheral)
    #expect(ids.count == 1)
    #expect(try second.client().result(PeripheralList.self, .init()).peripherals.map(\.peripheral) == ids)
  }

  @Test("A device that lost its keys and pairs anew is one peripheral again, found by both identifiers")
  func pairsAnew() throws {
    let world = world()
    let client = world.client()
    let (old, id) = try pair(client, at: try address(1), in: world)
    old.end(reason: 0x13)
    world.settle()
    let other = [UInt8](repeating: 7, count: 16)
    _ = try client.result(PairingForget.self, .init(peripheral: id))
    world.adapter.hear(try address(1, key: other), [])
    let link = world.adapter.bringUp(world.peer("\(try address(1, key: other))"), role: .peripheral)
    world.adapter.onEvent?(.pairing(try address(1, key: other), .bonded(bond(key: other))))
    link.end(reason: 0x13)
    world.settle()
    world.adapter.hear(try address(2, key: other), [])
    let known = try client.result(PeripheralList.self, .init()).peripherals.map(\.peripheral)
    #expect(known.count == 1 && known != [id])
    #expect(try client.result(PairingList.self, .init()).bonds.map(\.peripheral) == known)
    let second = self.world()
    let call = try second.client().call(PeripheralConnect.self, .init(peripheral: id))
    #expect(second.adapter.pendingConnections == [identity], "call \(call) by the old identifier")
  }

  @Test("A device that pairs and tells the identity of a bonded one does not take its place")
  func claimedIdentity() throws {
    let world = world()
    let client = world.client()
    let (old, id) = try pair(client, at: try address(1), in: world)
    old.end(reason: 0x13)
    world.settle()
    let thief = try address(1, key: [UInt8](repeating: 7, count: 16))
    let link = world.adapter.bringUp(world.peer("\(thief)"), role: .peripheral)
    world.adapter.onEvent?(.pairing(thief, .bonded(bond(key: [UInt8](repeating: 7, count: 16)))))
    #expect(world.adapter.unpaired == [identity], "its keys are gone")
    #expect(world.adapter.bonds == [bond()], "those of the bond are not")
    link.end(reason: 0x16)
    world.adapter.hear(try address(2), [])
    let known = try client.result(PeripheralList.self, .init()).peripherals
    #expect(known.filter { $0.address == "\(identity)" }.map(\.peripheral) == [id])
    #expect(try client.result(PairingList.self, .init()).bonds.map(\.peripheral) == [id])
  }

  @Test("A bonded device that advertises with the address that it keeps is not listened for")
  func staticAddress() throws {
    let world = world()
    let client = world.client()
    let (link, id) = try pair(client, at: identity, in: world)
    link.end(reason: 0x13)
    world.settle()
    _ = try client.call(PeripheralConnect.self, .init(peripheral: id))
    #expect(world.adapter.pendingConnections == [identity])
    #expect(world.adapter.scan == nil)
  }

  @Test("What is remembered of private addresses is bounded (P26)")
  func bounds() throws {
    let world = world()
    let (_, id) = try pair(world.client(), at: try address(1), in: world)
    for number in 1...1100 { world.adapter.hear(try address(UInt32(number)), []) }
    #expect(world.daemon.directory.counters.droppedAliases == 1)
    #expect(world.daemon.directory.all.map(\.id) == [id])
  }
}
