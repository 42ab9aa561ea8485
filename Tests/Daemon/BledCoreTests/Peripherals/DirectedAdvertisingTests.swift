import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto
import GATT
import Testing

@testable import BledCore

/// Directed advertising to bonded devices with private addresses.
@Suite struct DirectedAdvertisingTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage
  private let identity = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)
  private let key = [UInt8](0x20..<0x30)
  /// Read By Type of Central Address Resolution.
  private static let question: [UInt8] = [0x08, 0x01, 0x00, 0xFF, 0xFF, 0xA6, 0x2A]

  init() { storage = MemoryStorage(scheduler: scheduler) }

  private func world() -> World {
    let world = World(scheduler: scheduler, storage: storage)
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    return world
  }

  private func bond(_ value: UInt8 = 5) -> Bond {
    var bond = Bond(local: DeviceAddress(value: 0x00AA_0100_0000, kind: .public), peer: identity)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: value, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .peripheral))
    bond.identityResolvingKey = key
    return bond
  }

  /// A private address of the device.
  private func address() throws -> DeviceAddress {
    let random: UInt32 = 0x40_0001
    let hash = KeyDerivation.ah(k: try #require(Key128(littleEndian: key)), r: random)
    return DeviceAddress(value: UInt64(random) << 24 | UInt64(hash), kind: .random)
  }

  /// The device connects, and the link is encrypted.
  /// - Parameters:
  ///   - value: its Central Address Resolution; nil for none.
  ///   - bond: the bond made on the link.
  ///   - isMute: true if it answers no requests.
  /// - Returns: its first received request.
  @discardableResult
  private func meet(
    _ value: [UInt8]?, bond: Bond? = nil, isMute: Bool = false, in world: World
  ) throws -> [UInt8]? {
    let peer = world.peer("\(try address())")
    peer.isMute = isMute
    let resolution = value.map {
      CharacteristicDefinition(uuid: 0x2AA6, properties: .read, value: .stored($0))
    }
    _ = try peer.database.add(ServiceDefinition(uuid: 0x1800, characteristics: resolution.map { [$0] } ?? []))
    let link = world.adapter.bringUp(peer, role: .peripheral)
    link.protect(LinkSecurity(level: 2, keySize: 16))
    if let bond { world.adapter.onEvent?(.pairing(peer.address, .bonded(bond))) }
    world.settle()
    if isMute { scheduler.advance(by: .seconds(30)) }
    link.end(reason: 0x13)
    world.settle()
    return peer.received.first
  }

  private func call(_ device: String, kind: DeviceAddress.Kind? = nil) -> AdvertisingStart.Params {
    var params = AdvertisingStart.Params()
    (params.directedTo, params.directedToType) = (device, kind)
    return params
  }

  private func targets(_ world: World) -> [CalledDevice] {
    world.adapter.advertisements.sorted { $0.key.value < $1.key.value }.compactMap { advertisement in
      advertisement.value.target.map { CalledDevice(address: $0, isPrivate: advertisement.value.callsPrivately) }
    }
  }

  private func device(_ client: TestClient) throws -> String {
    try #require(try client.result(PeripheralList.self, .init()).peripherals.first?.peripheral)
  }

  @Test("An adapter that makes no private address of a device does not call it, but under that of the moment")
  func adapterWithoutResolution() throws {
    let world = world()
    let client = world.client()
    #expect(try meet([1], bond: bond(), in: world) == nil, "the answer would be of no use")
    let id = try device(client)
    let error = try #require(try client.error(AdvertisingStart.self, call(id)))
    #expect(error.data?.name == "notSupported" && error.message.contains("cannot put"))
    _ = try client.call(AdvertisingStart.self, call("\(try address())", kind: .random))
    #expect(targets(world) == [CalledDevice(address: try address())])
  }

  @Test("A device whose Central Address Resolution is 1 is called under a private address, also after a restart")
  func resolving() throws {
    let world = world()
    let client = world.client()
    world.adapter.resolved = [identity]
    #expect(try meet([1], bond: bond(), in: world) == Self.question)
    let id = try device(client)
    _ = try client.call(AdvertisingStart.self, call(id))
    _ = try client.call(AdvertisingStart.self, call("\(try address())", kind: .random))
    let called = CalledDevice(address: identity, isPrivate: true)
    #expect(targets(world) == [called, called])
    #expect(try meet([1], in: world) == nil, "it has told")
    world.settle()
    let second = self.world()
    second.adapter.resolved = [identity]
    let other = second.client()
    _ = try other.call(AdvertisingStart.self, call(id))
    #expect(targets(second) == [called])
  }

  @Test("A device that does not resolve private addresses, or does not say so, is not called under one")
  func notResolving() throws {
    let world = world()
    let client = world.client()
    try meet([1], bond: bond(), in: world)
    world.adapter.resolved = [identity]
    let id = try device(client)
    #expect(try client.error(AdvertisingStart.self, call(id))?.message.contains("when it is connected") == true)
    for (number, value) in ([[0], nil, [1, 0], []] as [[UInt8]?]).enumerated() {
      #expect(try meet(value, bond: bond(UInt8(0x10 + number)), in: world) == Self.question)
      #expect(try meet(value, in: world) == nil, "it has told")
      let error = try #require(try client.error(AdvertisingStart.self, call(id)))
      #expect(error.data?.name == "notSupported" && error.message.contains("Central Address Resolution tells"))
    }
    // Its present address is not a private one for the controller.
    _ = try client.call(AdvertisingStart.self, call("\(try address())", kind: .random))
    #expect(targets(world) == [CalledDevice(address: try address())])
  }

  @Test("A device that answers no requests loses one link by the question, not all")
  func mute() throws {
    let world = world()
    world.adapter.resolved = [identity]
    #expect(try meet([1], bond: bond(), isMute: true, in: world) == Self.question)
    #expect(try meet([1], isMute: true, in: world) == nil)
    let id = try device(world.client())
    #expect(try world.client().error(AdvertisingStart.self, call(id))?.data?.name == "notSupported")
  }

  @Test("A device that pairs anew on a link on which it was asked is asked again")
  func newKeysOnTheLink() throws {
    let world = world()
    world.adapter.resolved = [identity]
    let peer = world.peer("\(try address())")
    let link = world.adapter.bringUp(peer, role: .peripheral)
    link.protect(LinkSecurity(level: 2, keySize: 16))
    for value in [UInt8(5), 6] {
      world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(value))))
      world.settle()
    }
    #expect(peer.received.filter { $0 == Self.question }.count == 2)
  }

  @Test("A device that was paired before is asked on its next link; one that pairs anew is asked anew")
  func newKeys() throws {
    let world = world()
    let client = world.client()
    try meet([1], bond: bond(), in: world)
    world.adapter.resolved = [identity]
    #expect(try meet([1], in: world) == Self.question)
    let id = try device(client)
    _ = try client.call(AdvertisingStart.self, call(id))
    #expect(targets(world) == [CalledDevice(address: identity, isPrivate: true)])
    #expect(try meet([0], bond: bond(6), in: world) == Self.question)
    #expect(try client.error(AdvertisingStart.self, call(id))?.data?.name == "notSupported")
  }
}
