import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Advertisements of sessions: G13, P19.
@Suite struct AdvertisingBrokerTests {
  private let world = World()
  private let client: TestClient

  init() { client = world.client() }

  private func start(_ params: AdvertisingStart.Params = .init(name: "Belt", services: [0x180D])) throws -> Int {
    try client.call(AdvertisingStart.self, params)
  }

  private func tell(_ status: AdvertisingStatus) throws {
    let id = try #require(world.adapter.advertisements.keys.max { $0.value < $1.value })
    world.adapter.onEvent?(.advertising(id, status))
  }

  @Test("P19: the answer comes when it is on the air, with the real interval; then changes are told")
  func lifecycle() throws {
    let call = try start()
    #expect(try client.answer(to: call, AdvertisingStart.self) == nil)
    let parameters = try #require(world.adapter.advertisements.values.first)
    #expect(parameters.isConnectable && parameters.interval == .milliseconds(100))
    #expect(AdvertisingData(parsing: parameters.data).serviceUUIDs == [0x180D])
    try tell(.on(interval: .milliseconds(152.5)))
    let result = try #require(try client.answer(to: call, AdvertisingStart.self)).get()
    #expect(result.interval == 0.1525 && result.adapter == "hci0" && result.shortenedName == nil)
    #expect(try client.result(AdapterList.self, Empty()).adapters.first?.advertising == 1)
    try tell(.off)
    try tell(.on(interval: .milliseconds(152.5)))
    #expect(try client.notifications(AdvertisingChanged.self).map(\.onAir) == [false, true])
    _ = try client.result(AdvertisingStop.self, .init(advertising: result.advertising))
    #expect(world.adapter.advertisements.isEmpty)
    let again = try client.error(AdvertisingStop.self, .init(advertising: result.advertising))
    #expect(again?.data?.name == "unknownHandle")
  }

  @Test("P24: it survives an adapter that comes and goes; one that never was on the air fails with it")
  func adapterAway() throws {
    let first = try start()
    try tell(.on(interval: .milliseconds(100)))
    let second = try start()
    world.adapter.change(to: .absent)
    #expect(try client.error(of: second, AdvertisingStart.self)?.data?.name == "adapterAbsent")
    #expect(world.adapter.advertisements.count == 1)
    #expect(try client.notifications(AdvertisingChanged.self).map(\.onAir) == [false])
    world.adapter.change(to: .on)
    try tell(.on(interval: .milliseconds(100)))
    #expect(try client.notifications(AdvertisingChanged.self).map(\.onAir) == [false, true])
    #expect(try client.answer(to: first, AdvertisingStart.self) != nil)
    let refused = world.client()
    world.adapter.change(to: .off)
    #expect(try refused.error(AdvertisingStart.self, .init(name: "x"))?.data?.name == "adapterOff")
  }

  @Test("P19: with more advertisements the real interval is told anew; the error names the owners of the sets")
  func sharing() throws {
    let first = try start()
    try tell(.on(interval: .milliseconds(100)))
    try tell(.on(interval: .milliseconds(100)))
    try tell(.on(interval: .milliseconds(200)))
    let changes = try client.notifications(AdvertisingChanged.self)
    #expect(changes.map(\.interval) == [0.2] && changes.first?.onAir == true)
    #expect(try client.answer(to: first, AdvertisingStart.self) != nil)
    let other = world.client()
    _ = try other.result(SessionOpen.self, .init(name: "beacons"))
    let second = try other.call(AdvertisingStart.self, .init(name: "Other"))
    try tell(.failed(GAPError.advertisingSetsExhausted.error("one is the most")))
    let error = try #require(try other.error(of: second, AdvertisingStart.self))
    #expect(error.message == "one is the most; held by session 1")
  }

  @Test func failuresAreToldAndTakenBack() throws {
    let error = GAPError.advertisingSetsExhausted.error("all sets are in use")
    let call = try start()
    try tell(.failed(error))
    #expect(try client.error(of: call, AdvertisingStart.self)?.data?.name == "advertisingSetsExhausted")
    _ = try start()
    try tell(.on(interval: .milliseconds(100)))
    try tell(.failed(error))
    #expect(
      try client.notifications(AdvertisingChanged.self).map { $0.reason?.data?.name } == ["advertisingSetsExhausted"])
    #expect(world.adapter.advertisements.isEmpty)
  }

  @Test("G13: what does not fit is shortened or refused, never lost in silence")
  func tooLong() throws {
    let long = String(repeating: "name ", count: 20)
    let call = try start(.init(name: long))
    try tell(.on(interval: .milliseconds(100)))
    let shortened = try #require(try client.answer(to: call, AdvertisingStart.self)).get().shortenedName
    #expect(shortened.map { long.hasPrefix($0) && !$0.isEmpty } == true)
    let huge = AdvertisingStart.Params(manufacturerData: HexBytes([UInt8](repeating: 1, count: 80)))
    #expect(try client.error(AdvertisingStart.self, huge)?.data?.name == "advertisingDataTooLong")
  }

  @Test(arguments: [
    AdvertisingStart.Params(interval: 0.01), .init(interval: 11), .init(serviceData: ["x": HexBytes([])]),
    .init(manufacturerData: HexBytes([1])), .init(appearance: 70_000), .init(appearance: -1),
  ])
  func nonsenseIsRefused(_ params: AdvertisingStart.Params) throws {
    #expect(try client.error(AdvertisingStart.self, params)?.data?.name == "invalidParameter")
    #expect(world.adapter.advertisements.isEmpty)
  }

  @Test func aSessionGivesItsAdvertisementsBackAndNoMoreThanThose() throws {
    let other = world.client()
    _ = try start()
    try other.call(AdvertisingStart.self, .init(name: "Other"))
    client.die()
    #expect(world.adapter.advertisements.count == 1)
    _ = try other.result(AdvertisingStop.self, .init())
    #expect(world.adapter.advertisements.isEmpty)
  }

  @Test func advertisementsPerSessionAreBounded() throws {
    world.adapter.information.maximumAdvertisingSets = 4
    for _ in 0..<16 { _ = try start() }
    let call = try start()
    #expect(try client.error(of: call, AdvertisingStart.self)?.data?.name == "limitReached")
  }
}
