import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Trains of sessions to which devices respond.
@Suite struct PeriodicResponseTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private static let slots = AdvertisingStart.ResponseSlots(
    subevents: 4, subeventInterval: 0.025, slotDelay: 0.005, slotSpacing: 0.0025, slots: 6)

  init() {
    client = world.client()
    world.adapter.information.hasExtendedAdvertising = true
    world.adapter.information.maximumAdvertisingDataLength = 1650
    world.adapter.information.hasPeriodicAdvertising = true
    world.adapter.information.hasPeriodicResponses = true
  }

  private func params(_ change: (inout AdvertisingStart.Periodic) -> Void = { _ in }) -> AdvertisingStart.Params {
    var params = AdvertisingStart.Params()
    var periodic = AdvertisingStart.Periodic(interval: 0.1)
    periodic.responses = Self.slots
    change(&periodic)
    (params.extended, params.connectable, params.periodic) = (true, false, periodic)
    return params
  }

  /// A train is on the air.
  private func start() throws -> (number: Int, id: AdvertisingSetID) {
    let call = try client.call(AdvertisingStart.self, params())
    let id = try #require(world.adapter.advertisements.keys.first)
    world.adapter.onEvent?(.advertising(id, .on(interval: .milliseconds(100))))
    world.settle()
    return (try #require(try client.answer(to: call, AdvertisingStart.self)).get().advertising, id)
  }

  @Test func dataIsSentAndResponsesComeToTheSessionAlone() throws {
    let other = world.client()
    let (number, id) = try start()
    #expect(
      world.adapter.advertisements[id]?.periodic?.responses
        == ResponseSlots(
          subevents: 4, subeventInterval: .milliseconds(25), delay: .milliseconds(5), spacing: .microseconds(2500),
          count: 6))
    let send = AdvertisingSend.Params(advertising: number, subevent: 3, data: HexBytes([1, 2]), firstSlot: 2)
    _ = try done(AdvertisingSend.self, send)
    #expect(world.adapter.sent.map(\.set) == [id])
    #expect(world.adapter.sent.map(\.data) == [SubeventData(subevent: 3, data: [1, 2], firstSlot: 2, slots: 4)])
    #expect(try other.error(AdvertisingSend.self, send)?.data?.name == "unknownHandle")
    let received = SubeventResponses(
      subevent: 3, wasSent: true,
      responses: [
        .init(slot: 2, data: [9], rssi: -50), .init(slot: 4, data: [8], rssi: nil, txPower: 3, isTruncated: true),
      ])
    world.adapter.onEvent?(.responses(id, received))
    world.settle()
    let told = try #require(try client.notifications(AdvertisingResponses.self).last)
    #expect(told.advertising == number && told.subevent == 3 && told.sent)
    #expect(
      told.responses == [
        .init(slot: 2, data: HexBytes([9]), rssi: -50),
        .init(slot: 4, data: HexBytes([8]), txPower: 3, truncated: true),
      ])
    #expect(try other.notifications(AdvertisingResponses.self).isEmpty)
    world.adapter.sendRefusal = GAPError.cancelled.error("newer data")
    #expect(try refusal(AdvertisingSend.self, send).data?.name == "cancelled")
    _ = try done(AdvertisingStop.self, .init(advertising: number))
    #expect(try refusal(AdvertisingSend.self, send).data?.name == "unknownHandle")
    world.adapter.onEvent?(.responses(id, received))
    world.settle()
    #expect(try client.notifications(AdvertisingResponses.self).count == 1)
  }

  @Test func aSessionThatDoesNotReadLosesResponsesAndStays() throws {
    let (number, id) = try start()
    let received = SubeventResponses(
      subevent: 0, wasSent: true, responses: [.init(slot: 2, data: [UInt8](repeating: 9, count: 200), rssi: -50)])
    client.reads = false
    for _ in 0..<20_000 { world.adapter.onEvent?(.responses(id, received)) }
    client.reads = true
    world.settle()
    let told = try client.notifications(AdvertisingResponses.self)
    #expect(told.count < 20_000 && told.allSatisfy { $0.lost == nil })
    world.adapter.onEvent?(.responses(id, received))
    world.settle()
    #expect(try client.notifications(AdvertisingResponses.self).last?.lost == 20_000 - told.count)
    _ = try done(AdvertisingStop.self, .init(advertising: number))
  }

  @Test func whatDoesNotFitIsRefused() throws {
    let wrong: [(inout AdvertisingStart.Periodic) -> Void] = [
      { $0.responses?.subevents = 0 }, { $0.responses?.subevents = 129 }, { $0.responses?.slots = 0 },
      { $0.responses?.slots = 256 }, { $0.responses?.subeventInterval = 0.005 }, { $0.responses?.slotDelay = 0 },
      { $0.responses?.slotSpacing = 1 }, { $0.responses?.subevents = 5 }, { $0.responses?.slots = 9 },
      { $0.manufacturerData = HexBytes([1, 2, 3]) },
      // 7 units of 1.25 ms four times are 35 ms, and 26 units are 32.5 ms.
      {
        $0.interval = 0.033
        $0.responses?.subeventInterval = 0.00825
        $0.responses?.slots = 1
      },
    ]
    for change in wrong {
      #expect(try refusal(AdvertisingStart.self, params(change)).data?.name == "invalidParameter")
    }
    let (number, _) = try start()
    let sends: [AdvertisingSend.Params] = [
      .init(advertising: number, subevent: 4, data: HexBytes([])),
      .init(advertising: number, subevent: -1, data: HexBytes([])),
      .init(advertising: number, subevent: 0, data: HexBytes([UInt8](repeating: 0, count: 250))),
      .init(advertising: number, subevent: 0, data: HexBytes([]), firstSlot: 6),
      .init(advertising: number, subevent: 0, data: HexBytes([]), firstSlot: 2, slots: 5),
      .init(advertising: number, subevent: 0, data: HexBytes([]), firstSlot: .max, slots: .max),
      .init(advertising: number, subevent: 0, data: HexBytes([]), firstSlot: .min),
      .init(advertising: number, subevent: .min, data: HexBytes([]), firstSlot: .min, slots: .min),
      .init(advertising: number, subevent: .max, data: HexBytes([]), slots: .max),
    ]
    for params in sends { #expect(try refusal(AdvertisingSend.self, params).data?.name == "invalidParameter") }
    #expect(world.adapter.sent.isEmpty)
  }
}
