import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// A device that was never met: it was requested by its address, which may be mistyped, and was neither received nor
/// linked.
@Suite struct UnmetDeviceTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage
  private let address = "C0:00:00:00:00:07"

  init() { storage = MemoryStorage(scheduler: scheduler) }

  private func world() -> World { World(scheduler: scheduler, storage: storage) }

  private func known(_ world: World) throws -> [String] {
    try world.client().result(PeripheralList.self, Empty()).peripherals.map(\.address)
  }

  private func request(_ client: TestClient, timeout: Double? = nil) throws -> Int {
    try client.call(PeripheralConnect.self, .init(address: address, addressType: "random", timeout: timeout))
  }

  @Test("It is forgotten when no session waits for it any more, also by the store")
  func forgotten() throws {
    let first = world()
    let (hasty, patient) = (first.client(), first.client(user: 1000))
    let call = try request(hasty, timeout: 5)
    _ = try request(patient)
    scheduler.advance(by: .seconds(5))
    #expect(try hasty.error(of: call, PeripheralConnect.self)?.data?.name == "timeout")
    #expect(try known(first) == [address], "another session waits for it")
    scheduler.advance(by: .seconds(5))
    #expect(try known(world()) == [address])
    _ = try patient.result(PeripheralDisconnect.self, .init(address: address))
    #expect(try known(first).isEmpty)
    scheduler.advance(by: .seconds(5))
    #expect(try known(world()).isEmpty)
  }

  @Test("Nor is it known after a call that was refused at once")
  func refused() throws {
    let world = world()
    let client = world.client()
    let params = PeripheralConnect.Params(address: address, addressType: "random", phy: "coded")
    #expect(try client.error(PeripheralConnect.self, params)?.data?.name == "notSupported")
    #expect(try known(world).isEmpty)
  }

  @Test("A device that was heard stays, also if it is requested in vain after a restart")
  func heard() throws {
    let first = world()
    first.adapter.hear(try #require(DeviceAddress(address, kind: .random)), [])
    _ = try request(first.client(), timeout: 1)
    scheduler.advance(by: .seconds(5))
    let second = world()
    #expect(try known(second) == [address])
    _ = try request(second.client(), timeout: 1)
    scheduler.advance(by: .seconds(5))
    #expect(try known(second) == [address])
  }

  @Test("A device that connected to this machine stays")
  func linked() throws {
    let world = world()
    world.adapter.bringUp(world.peer(address), role: .peripheral)
    world.settle()
    try #require(world.adapter.links.last).end(reason: 0x13)
    world.settle()
    #expect(try known(world) == [address])
  }

  @Test("A blocked device stays, by which it can be unblocked")
  func blocked() throws {
    let world = world()
    let client = world.client()
    let call = try request(client)
    let id = try #require(try client.result(PeripheralList.self, Empty()).peripherals.first).peripheral
    _ = try client.result(AdapterBlock.self, .init(peripheral: id))
    #expect(try client.error(of: call, PeripheralConnect.self)?.data?.name == "blocked")
    #expect(try known(world) == [address])
    _ = try client.result(AdapterBlock.self, .init(peripheral: id, on: false))
  }
}
