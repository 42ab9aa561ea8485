import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Resources of one user's programs are neither touched by another's nor shown to them.
@Suite struct UserIsolationTests {
  /// Group 100 may do everything but see sessions; group 200 may only connect.
  private static var policy: Policy {
    var configuration = Configuration.Policy()
    configuration.grants[.connect]?.append(.group("200"))
    return World.policy(configuration)
  }
  private let world = World(policy: UserIsolationTests.policy)

  @Test("peripheral.forget leaves alone what other users use")
  func forget() throws {
    let (first, second) = (world.client(user: 1000), world.client(user: 1001))
    let peer = world.peer()
    let id = try world.connect(first, peer).peripheral
    _ = try first.result(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    let error = try second.error(PeripheralForget.self, .init(peripheral: id))
    #expect(error?.data?.name == "notPermitted")
    #expect(error?.message.contains("1000") == false)
    #expect(try first.result(PeripheralList.self, Empty()).peripherals.map(\.peripheral) == [id])
    _ = try first.result(PeripheralForget.self, .init(peripheral: id))
    let again = try world.connect(second, peer).peripheral
    _ = try second.result(PeripheralDisconnect.self, .init(peripheral: again))
    world.settle()
    _ = try world.client().result(PeripheralForget.self, .init(peripheral: again))
  }

  @Test("pairing.bonded and pairing.forgotten go to sessions with the permission pair")
  func keysOfOthers() throws {
    let permitted = world.client(user: 1000, groups: [100])
    let other = world.client(user: 1001, groups: [200])
    let root = world.client(user: 0)
    let address = "C0:00:00:00:00:01"
    let key = PairingImport.LongTermKey(
      value: HexBytes(Array(repeating: 5, count: 16)), size: 16, diversifier: 0,
      random: HexBytes(Array(repeating: 0, count: 8)),
      authenticated: false, secureConnections: true, central: true)
    _ = try root.result(
      PairingImport.self,
      .init(
        adapterAddress: "\(world.adapter.information.address)", address: address, addressType: .random,
        longTermKeys: [key]))
    #expect(try permitted.notifications(PairingBonded.self).map(\.address) == [address])
    #expect(try other.notifications(PairingBonded.self).isEmpty)
    _ = try root.result(PairingForget.self, .init(address: address))
    #expect(try permitted.notifications(PairingForgotten.self).map(\.address) == [address])
    #expect(try other.notifications(PairingForgotten.self).isEmpty)
  }

  @Test("Users of devices are remembered across a restart")
  func forgetAfterRestart() throws {
    let scheduler = VirtualScheduler()
    let storage = MemoryStorage(scheduler: scheduler)
    let old = World(policy: Self.policy, scheduler: scheduler, storage: storage)
    let id = try old.connect(old.client(user: 1000), old.peer()).peripheral
    old.daemon.stop {}
    old.settle()
    let new = World(policy: Self.policy, scheduler: scheduler, storage: storage)
    new.settle()
    #expect(
      try new.client(user: 1001).error(PeripheralForget.self, .init(peripheral: id))?.data?.name == "notPermitted")
    _ = try new.client(user: 1000).result(PeripheralForget.self, .init(peripheral: id))
  }

  @Test("peripheral.list shows a program that may not scan only what its user requested")
  func list() throws {
    let scanner = world.client(user: 1000)
    let (near, far) = (world.peer("C0:00:00:00:00:01"), world.peer("C0:00:00:00:00:02"))
    let heard = try world.connect(scanner, near).peripheral
    let connector = world.client(user: 1001, groups: [200])
    #expect(try connector.result(PeripheralList.self, Empty()).peripherals.isEmpty)
    let own = try world.connect(connector, far).peripheral
    #expect(try connector.result(PeripheralList.self, Empty()).peripherals.map(\.peripheral) == [own])
    #expect(Set(try scanner.result(PeripheralList.self, Empty()).peripherals.map(\.peripheral)) == [heard, own])
  }

  @Test("server.setLatency is for sessions whose services the central uses")
  func latency() throws {
    let publisher = world.client(user: 1000)
    let other = world.client(user: 1001)
    let service = ServiceToPublish(
      uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read", "notify"])])
    let added = try publisher.result(ServiceAdd.self, .init(service: service)).service
    let central = world.peer("C0:00:00:00:00:0C")
    world.adapter.bringUp(central, role: .peripheral)
    world.settle()
    let hub = try #require(world.daemon.links.links.first)
    let value = try #require(added.characteristics?.first?.handle)
    for client in [publisher, other] {
      let error = try client.error(ServerSetLatency.self, .init(central: hub.peripheral.id, latency: .low))
      #expect(error?.data?.name == "notConnected")
    }
    _ = central.start(.read(value))
    world.settle()
    _ = try publisher.result(ServerSetLatency.self, .init(central: hub.peripheral.id, latency: .low))
    (hub.link as? ScriptedLink)?.refusal = GAPError.notSupported.error("The controllers cannot.")
    #expect(
      try publisher.error(ServerSetLatency.self, .init(central: hub.peripheral.id, latency: .low))?.data?.name
        == "notSupported")
    #expect(
      try other.error(ServerSetLatency.self, .init(central: hub.peripheral.id, latency: .low))?.data?.name
        == "notConnected")
  }

  @Test("The error of a full adapter says how many links there are, not whose they are")
  func fullAdapter() throws {
    let (first, second) = (world.client(user: 1000), world.client(user: 1001))
    _ = try first.result(SessionOpen.self, .init(name: "secret"))
    try world.connect(first, world.peer())
    let call = try second.call(
      PeripheralConnect.self, .init(address: "C0:00:00:00:00:02", addressType: "random"))
    let device = try #require(DeviceAddress("C0:00:00:00:00:02", kind: .random))
    let limit = BluetoothError(domain: .hci, code: 0x09, name: "connectionLimitExceeded", message: "")
    world.adapter.onEvent?(.connectAttemptFailed(device, limit))
    let error = try #require(try second.error(of: call, PeripheralConnect.self))
    #expect(error.data?.name == "connectionLimitReached")
    #expect(error.message.contains("limit of 1 links"))
    #expect(!error.message.contains("secret") && !error.message.contains("C0:00:00:00:00:01"))
  }
}
