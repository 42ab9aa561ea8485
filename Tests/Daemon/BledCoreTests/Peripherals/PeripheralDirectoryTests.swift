import Adapter
import BledRPC
import Bluetooth
import Logging
import Testing

@testable import BledCore

/// The known devices, their lifetimes, and their identifiers.
@Suite struct PeripheralDirectoryTests {
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage

  init() { storage = MemoryStorage(scheduler: scheduler) }

  private func world() -> World { World(scheduler: scheduler, storage: storage) }

  @Test("Identifiers outlast the daemon: list and connect work without a scan (P23, P29)")
  func identifiersLast() throws {
    let first = world()
    let peer = first.peer()
    first.adapter.hear(peer.address, [5, 0x09] + Array("Lamp".utf8))
    first.adapter.hear(try #require(DeviceAddress("C0:00:00:00:00:99", kind: .random)), [])
    let id = try first.connect(first.client(), peer).peripheral
    let second = world()
    let client = second.client()
    let known = try client.result(PeripheralList.self, .init()).peripherals
    #expect(known.map(\.peripheral) == [id], "who was only heard is not kept")
    #expect(known.map(\.name) == ["Lamp"] && known.map(\.state) == ["disconnected"])
    #expect(known.map(\.adapter) == ["hci0"] && known.map(\.address) == ["\(peer.address)"])
    let call = try client.call(PeripheralConnect.self, .init(peripheral: id.lowercased()))
    #expect(second.adapter.pendingConnections == [peer.address])
    second.adapter.bringUp(peer)
    second.settle()
    #expect(try client.answer(to: call, PeripheralConnect.self)?.get().peripheral == id)
  }

  @Test("That a device does not answer Exchange MTU is kept for 30 days; links that ended at it are not")
  func exchangeMTU() throws {
    for isUnanswered in [false, true] {
      let first = world()
      let id = try first.connect(first.client(), first.peer()).peripheral
      let directory = first.daemon.directory
      let device = try directory.find(id)
      #expect(!directory.lostExchange(with: device, maximum: 2, isUnanswered: isUnanswered))
      #expect(directory.lostExchange(with: device, maximum: 2, isUnanswered: isUnanswered) && device.ignoresMTU)
      withExtendedLifetime(first) { scheduler.advance(by: .seconds(12)) }
      #expect(try world().daemon.directory.find(id).ignoresMTU == isUnanswered)
      scheduler.advance(by: .seconds(30 * 24 * 60 * 60))
      #expect(try !world().daemon.directory.find(id).ignoresMTU)
    }
  }

  @Test("An identifier is known from the request on, also if the daemon is killed a moment later (P29)")
  func requested() throws {
    let first = world()
    _ = try first.client().call(PeripheralConnect.self, .init(address: "C0:00:00:00:00:07"))
    scheduler.advance(by: .milliseconds(20))
    #expect(storage.writes == ["peripherals"])
    let known = try world().client().result(PeripheralList.self, .init()).peripherals
    #expect(known.map(\.address) == ["C0:00:00:00:00:07"])
  }

  @Test func aDeviceStaysWithItsAdapter() throws {
    let first = world()
    let other = ScriptedAdapter(id: "hci1", scheduler: scheduler)
    first.daemon.add(other)
    let client = first.client()
    _ = try client.call(PeripheralConnect.self, .init(address: "C0:00:00:00:00:07", adapter: "hci1"))
    other.hear(try #require(DeviceAddress("C0:00:00:00:00:07", kind: .random)), [])
    first.settle()
    var stopped = false
    first.daemon.stop { stopped = true }
    first.settle()
    #expect(stopped)
    let second = world()
    #expect(try second.client().result(PeripheralList.self, .init()).peripherals.map(\.adapter) == ["hci0"])
    second.daemon.add(ScriptedAdapter(id: "hci1", scheduler: scheduler))
    #expect(try second.client().result(PeripheralList.self, .init()).peripherals.map(\.adapter) == ["hci1"])
  }

  @Test("The store has the devices used last; the others are counted (P26)")
  func bounds() throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let adapters = AdapterRegistry()
    let slot = adapters.add(ScriptedAdapter(scheduler: scheduler))
    func make() -> PeripheralDirectory {
      let store = Store(storage, scheduler: scheduler, logger: logger)
      let directory = PeripheralDirectory(
        bonds: BondDirectory(store: store, logger: logger), store: store, scheduler: scheduler,
        limits: .init(peripherals: 16, stored: 4, cache: 100, caches: 200))
      directory.added(slot)
      return directory
    }
    let directory = make()
    func device(_ number: UInt64) -> Peripheral {
      directory.peripheral(at: DeviceAddress(value: number, kind: .public), on: slot)
    }
    for number in 0..<40 as Range<UInt64> {
      directory.store(device(number))
      for passer in 0..<5 { _ = device(1000 + 5 * number + UInt64(passer)) }
      scheduler.advance(by: .seconds(2))
    }
    #expect(directory.all.count <= 16)
    #expect(directory.counters.evicted == 36 && directory.counters.forgotten > 180)
    #expect(make().all.map(\.address.value) == [39, 38, 37, 36])

    for number in 36..<40 as Range<UInt64> { directory.connected(device(number)) }
    for number in 50..<60 as Range<UInt64> {
      directory.store(device(number))
      scheduler.advance(by: .seconds(2))
    }
    #expect(make().all.map(\.address.value).sorted() == [36, 37, 38, 39], "requests evict none that was connected")

    for number in 36..<40 as Range<UInt64> {
      device(number).cache = GATTCache(hash: [], attributes: [UInt8](repeating: 0, count: 90))
      directory.cacheChanged(device(number))
      scheduler.advance(by: .seconds(2))
    }
    #expect((36..<40).map { device($0).cache == nil } == [true, true, false, false])
    device(36).cache = GATTCache(hash: [], attributes: [UInt8](repeating: 0, count: 101))
    directory.cacheChanged(device(36))
    #expect(device(36).cache == nil && directory.counters.droppedCaches == 3)
    device(1001).cache = GATTCache(hash: [], attributes: [])
    directory.cacheChanged(device(1001))
    #expect(device(1001).cache == nil, "who is not kept has none")
  }

  @Test func recordsThatMakeNoSenseArePassedOver() throws {
    func record(_ start: String, _ address: String = "C0:00:00:00:00:01", type: String = "random") -> String {
      #"{"peripheral":"\#(start)-9C65-4A5B-8E1F-0F5B6A2B1C11","address":"\#(address)","addressType":"\#(type)","#
        + #""adapter":"hci0"}"#
    }
    func known(_ records: String...) throws -> [String] {
      let content = #"{"peripherals":[\#(records.joined(separator: ","))]}"#
      storage.files["peripherals"] = DocumentFormat.encode(Array(content.utf8), name: "peripherals", version: 1)
      let list = try world().client().result(PeripheralList.self, .init()).peripherals
      return list.map { String($0.peripheral.prefix(8)) }.sorted()
    }
    let (good, other) = (record("6D0EA5D0"), "C0:00:00:00:00:02")
    #expect(try known(good, record("7D0EA5D0", other)) == ["6D0EA5D0", "7D0EA5D0"])
    #expect(try known(good, good, record("zzz", other)) == ["6D0EA5D0"])
    #expect(try known(good, record("7D0EA5D0", other, type: "odd"), record("8D0EA5D0", "C0:00:01")) == ["6D0EA5D0"])
    storage.files["peripherals"] = DocumentFormat.encode([0xFF], name: "peripherals", version: 1)
    #expect(try world().client().result(PeripheralList.self, .init()).peripherals.isEmpty)
    #expect(storage.files["peripherals.damaged"] != nil)
  }
}
