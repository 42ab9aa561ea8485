import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto
import Logging
import Testing

@testable import BledCore
@testable import GATT

/// State that belongs to the bond with a device that uses our services: P13, P21, P22.
@Suite struct BondedClientTests {
  private let scheduler = VirtualScheduler()
  private let kept: MemoryStorage
  private let own = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)

  init() { kept = MemoryStorage(scheduler: scheduler) }

  /// A daemon on the store of the one before, a program with a service, and a phone that is not there.
  private struct Given {
    let world: World
    let client: TestClient
    let phone: ScriptedPeer
    let service: ServiceDescription

    var value: UInt16 { service.characteristics?[0].handle ?? 0 }
    var configuration: UInt16 { service.characteristics?[0].descriptors?[0].handle ?? 0 }

    /// The phone connects, without encryption.
    func comes() -> ScriptedLink { world.adapter.bringUp(phone, role: .peripheral) }

    /// The phone does something; gives the outcome.
    @discardableResult
    func phone(_ procedure: GATTProcedure) -> Result<GATTResult, GATTError>? {
      let id = phone.start(procedure)
      world.settle()
      return phone.results[id]
    }

    /// The number of devices that receive a value.
    func notify(_ value: [UInt8]) throws -> Int {
      let sent = try client.result(ServerNotify.self, .init(handle: self.value, value: HexBytes(value)))
      world.settle()
      return sent.receivers
    }

    /// The handles of a value of the GATT service, and of its configuration.
    func own(_ uuid: BluetoothUUID) -> (value: UInt16, configuration: UInt16) {
      let characteristic = world.daemon.links.database.attributes.services.flatMap(\.characteristics)
        .first { $0.uuid == uuid }
      return (characteristic?.valueHandle ?? 0, characteristic?.descriptors.first { $0.uuid == 0x2902 }?.handle ?? 0)
    }
  }

  private static let published = ServiceToPublish(
    uuid: 0x180D,
    characteristics: [
      .init(uuid: 0x2A37, properties: ["read", "write", "writeWithoutResponse", "notify", "signedWrite"])
    ])

  private func given(publishes: Bool = true) throws -> Given {
    let world = World(scheduler: scheduler, storage: kept)
    let client = world.client()
    var service = ServiceDescription(handle: 0, end: 0, uuid: 0x180D, primary: true)
    if publishes { service = try client.result(ServiceAdd.self, .init(service: Self.published)).service }
    return Given(world: world, client: client, phone: world.peer(), service: service)
  }

  private func bond(_ peer: DeviceAddress, key: UInt8 = 5, signature: UInt8? = nil) -> Bond {
    var bond = Bond(local: own, peer: peer)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: key, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .central))
    if let signature {
      bond.add(SignatureKey(value: [UInt8](repeating: signature, count: 16), isOurs: false, isAuthenticated: false))
    }
    return bond
  }

  /// The phone pairs on this link.
  private func pair(_ given: Given, _ link: ScriptedLink, key: UInt8 = 5, signature: UInt8? = nil) {
    given.world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    given.world.adapter.onEvent?(.pairing(given.phone.address, .question(.consent)))
    encrypt(link)
    let bond = bond(given.phone.address, key: key, signature: signature)
    given.world.adapter.onEvent?(.pairing(given.phone.address, .bonded(bond)))
    given.world.daemon.setPairing(PairingPolicy())
  }

  private func encrypt(_ link: ScriptedLink) { link.protect(LinkSecurity(level: 2, keySize: 16)) }

  /// The phone pairs, subscribes, and disconnects.
  private func subscribed() throws -> Given {
    let given = try given()
    let link = given.comes()
    pair(given, link)
    given.phone(.subscribe(descriptor: given.configuration, .notification))
    #expect(try given.notify([1]) == 1)
    link.end(reason: 0x13)
    given.world.settle()
    given.client.forget()
    return given
  }

  /// Everything is on disk.
  private func settle() { scheduler.advance(by: .seconds(12)) }

  @Test("A bonded phone that is back finds its subscription, once the link is encrypted with the bond's key")
  func subscriptionsComeBack() throws {
    let given = try subscribed()
    let link = given.comes()
    given.world.settle()
    #expect(try given.client.notifications(ServerSubscribed.self).isEmpty)
    #expect(try given.notify([2]) == 0, "it may be anybody yet")
    #expect(try given.phone(.read(given.configuration))?.get() == .value([0, 0]))
    encrypt(link)
    #expect(try given.client.notifications(ServerSubscribed.self).map(\.handle) == [given.value])
    #expect(try given.notify([3]) == 1)
    #expect(given.phone.values.map(\.value) == [[1], [3]])
    #expect(try given.phone(.read(given.configuration))?.get() == .value([1, 0]))
  }

  @Test("An encryption that has not been told yet is seen with the next request")
  func encryptionNotTold() throws {
    let given = try subscribed()
    given.comes().security = LinkSecurity(level: 2, keySize: 16)
    #expect(try given.phone(.read(given.configuration))?.get() == .value([1, 0]))
  }

  @Test("It finds it after a restart of the daemon, at the same handles, before or after the program is back")
  func restart() throws {
    let first = try subscribed()
    first.world.daemon.stop {}
    settle()
    let second = try given()
    #expect(second.service == first.service)
    let link = second.comes()
    encrypt(link)
    #expect(try second.notify([4]) == 1)
    #expect(second.phone.values.map(\.value) == [[4]])
    second.world.daemon.stop {}
    settle()

    let third = try given(publishes: false)
    encrypt(third.comes())
    third.world.settle()
    let add = try third.client.call(ServiceAdd.self, .init(service: Self.published))
    let service = try #require(try third.client.answer(to: add, ServiceAdd.self)).get().service
    #expect(service == first.service)
    #expect(try third.client.notifications(ServerSubscribed.self).isEmpty, "the program does not know the handles yet")
    third.world.settle()
    #expect(try third.client.notifications(ServerSubscribed.self).map(\.handle) == [first.value])
  }

  @Test("Another program's service at the same place is not subscribed to; another user's has other handles")
  func otherTree() throws {
    let first = try subscribed()
    first.world.daemon.stop {}
    settle()
    let second = try given(publishes: false)
    let stranger = second.world.client(user: 1001)
    let foreign = try stranger.result(ServiceAdd.self, .init(service: Self.published)).service
    #expect(foreign.handle > first.service.end)
    encrypt(second.comes())
    second.world.settle()
    #expect(try stranger.notifications(ServerSubscribed.self).isEmpty)
  }

  @Test("A subscription that the phone ended, or whose bond was forgotten, does not come back")
  func forgotten() throws {
    let given = try subscribed()
    var link = given.comes()
    encrypt(link)
    given.phone(.subscribe(descriptor: given.configuration, []))
    link.end(reason: 0x13)
    link = given.comes()
    encrypt(link)
    #expect(try given.notify([2]) == 0)
    given.phone(.subscribe(descriptor: given.configuration, .notification))
    #expect(try given.notify([2]) == 1)
    _ = try given.client.result(PairingForget.self, .init(address: "\(given.phone.address)"))
    link.end(reason: 0x13)
    link = given.comes()
    pair(given, link, key: 6)
    #expect(try given.notify([2]) == 0, "that was the old bond's")
  }

  @Test("A device that pairs anew under a bonded address gets nothing of the old bond (P22)")
  func pairedAnew() throws {
    let given = try subscribed()
    let link = given.comes()
    _ = try given.client.result(PairingRegister.self, .init(capability: "displayYesNo"))
    given.world.adapter.onEvent?(.pairing(given.phone.address, .question(.comparison(1))))
    let asked = try #require(try given.client.calls(PairingConfirm.self).first)
    try given.client.answer(asked.id, PairingConfirm.Result(accept: true))
    encrypt(link)
    #expect(try given.notify([2]) == 0, "the link is encrypted with keys that are just being made")
    given.world.adapter.onEvent?(.pairing(given.phone.address, .bonded(bond(given.phone.address, key: 9))))
    #expect(try given.notify([2]) == 0)
    link.end(reason: 0x13)
    encrypt(given.comes())
    #expect(try given.notify([2]) == 0)
  }

  @Test("Service Changed reaches a bonded phone that was away, over a restart, too; without a change it does not (P13)")
  func serviceChanged() throws {
    let first = try given()
    var link = first.comes()
    pair(first, link)
    let changed = first.own(0x2A05)
    first.phone(.subscribe(descriptor: changed.configuration, .indication))
    link.end(reason: 0x13)
    link = first.comes()
    encrypt(link)
    first.world.settle()
    #expect(first.phone.values.isEmpty, "nothing has changed")
    link.end(reason: 0x13)
    _ = try first.client.result(ServiceAdd.self, .init(service: .init(uuid: 0x1815)))
    link = first.comes()
    first.world.settle()
    #expect(first.phone.values.isEmpty, "it may be anybody yet")
    encrypt(link)
    first.world.settle()
    #expect(first.phone.values.map(\.handle) == [changed.value])
    #expect(first.phone.values.map(\.value) == [[1, 0, 0xFF, 0xFF]])
    link.end(reason: 0x13)
    first.world.daemon.stop {}
    settle()
    // The second service is missing now.
    let second = try given()
    encrypt(second.comes())
    second.world.settle()
    #expect(second.phone.values.map(\.value) == [[1, 0, 0xFF, 0xFF]])
  }

  @Test("Attributes are hashed when the hash is read or stored, not with each service of any program")
  func hashedOnceForMany() throws {
    let given = try given()
    pair(given, given.comes())
    given.world.settle()
    settle()
    let database = given.world.daemon.links.database
    #expect(!database.attributes.cachedHashes.isEmpty)
    for uuid in [0x1815, 0x1816, 0x1817] as [BluetoothUUID] {
      _ = try given.client.result(ServiceAdd.self, .init(service: .init(uuid: uuid)))
      #expect(database.attributes.cachedHashes.isEmpty)
    }
    settle()
    #expect(!database.attributes.cachedHashes.isEmpty, "it is stored with what the phone knows")
  }

  @Test("A bonded phone with robust caching is told that it does not know the services before it uses a handle")
  func outOfSync() throws {
    let first = try given()
    let link = first.comes()
    pair(first, link)
    first.phone(.write(first.own(0x2B29).value, [1]))
    first.world.daemon.stop {}
    settle()
    let second = try given()
    _ = try second.client.result(ServiceAdd.self, .init(service: .init(uuid: 0x1815)))
    encrypt(second.comes())
    #expect(
      second.phone(.read(second.configuration)) == .failure(.att(.databaseOutOfSync, handle: second.configuration)))
    #expect(try second.phone(.read(second.configuration))?.get() == .value([0, 0]))
  }

  @Test("Signed writes are taken without encryption, once each, also after a restart (P22)")
  func signedWrites() throws {
    let first = try given()
    var link = first.comes()
    pair(first, link, signature: 7)
    link.end(reason: 0x13)
    let key = try #require(Key128(littleEndian: [UInt8](repeating: 7, count: 16)))
    let packet: [UInt8] = [0xD2, UInt8(first.value), 0, 0xAB]
    func signed(_ counter: UInt32) -> [UInt8] { packet + ATTSignature.sign(packet, counter: counter, key: key) }
    link = first.comes()
    for counter: UInt32 in [3, 3, 2] { link.deliver(signed(counter)) }
    link.deliver(packet + ATTSignature.sign(packet, counter: 9, key: .zero))
    first.world.settle()
    #expect(try first.client.calls(ServerWrite.self).map(\.params.writes[0].value.octets) == [[0xAB]])
    link.end(reason: 0x13)
    first.world.daemon.stop {}
    settle()
    let second = try given()
    link = second.comes()
    for counter: UInt32 in [3, 4] { link.deliver(signed(counter)) }
    second.world.settle()
    #expect(try second.client.calls(ServerWrite.self).count == 1)
  }

  @Test(
    "what was stored for other keys than those of the bond is gone, part by part: a crash came between the two files")
  func otherKeys() throws {
    func bond(_ encryption: UInt8, _ theirs: UInt8, _ ours: UInt8) -> Bond {
      var bond = Bond(local: own, peer: DeviceAddress(value: 0xC000_0000_0001, kind: .random))
      bond.add(
        LongTermKey(
          value: [UInt8](repeating: encryption, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
          isSecureConnections: true, role: .central))
      for (value, isOurs) in [(theirs, false), (ours, true)] {
        bond.add(SignatureKey(value: [UInt8](repeating: value, count: 16), isOurs: isOurs, isAuthenticated: false))
      }
      return bond
    }
    func clients() -> (BondedClients, Store) {
      let store = Store(kept, scheduler: scheduler, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      return (BondedClients(store: store), store)
    }
    let old = bond(1, 2, 3)
    let (before, store) = clients()
    before.store(GATTClientState(features: [1], hash: nil), of: old)
    before.store(toldFeatures: [2], of: old)
    before.store(signCounter: 7, of: old)
    store.flush {}
    scheduler.advance(by: .seconds(60))
    for (next, state, counter) in [
      (old, true, true), (bond(9, 2, 3), false, true), (bond(1, 9, 3), true, false), (bond(9, 9, 9), false, false),
    ] {
      let (after, _) = clients()
      after.forgetAll(except: [next])
      #expect((after.state(of: next) != nil) == state && (after.toldFeatures(of: next) != nil) == state)
      #expect((after.signCounter(of: next) == 7) == counter)
    }
    let text = kept.files.values.map { String(decoding: $0, as: UTF8.self) }.joined()
    #expect(!text.contains("01010101") && !text.contains("02020202"), "no key")
  }
}
