import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Trains with subevents that sessions follow and respond to.
@Suite struct TrainSubeventTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let address = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
  private var train: PeriodicTrain { PeriodicTrain(address: address, sid: 3) }
  private static let subevents = TrainSubevents(
    count: 4, interval: .milliseconds(25), slotDelay: .milliseconds(5), slotSpacing: .microseconds(2500))

  init() {
    client = world.client()
    world.adapter.information.canSynchronise = true
    world.adapter.information.canRespond = true
  }

  private func params(_ subevents: [Int]? = nil) -> PeriodicSync.Params {
    .init(peripheral: "\(address)", addressType: .random, sid: 3, subevents: subevents)
  }

  /// The adapter finds the train.
  private func find(_ subevents: TrainSubevents? = Self.subevents) {
    world.adapter.onEvent?(
      .periodic(train, .synchronised(interval: .milliseconds(100), phy: .le2M, subevents: subevents)))
    world.settle()
  }

  private func hear(_ event: UInt16, _ subevent: UInt8, _ data: UInt8...) {
    let packet = PeriodicPacket(data: data, rssi: -44, place: SubeventPlace(event: event, subevent: subevent))
    world.adapter.onEvent?(.periodic(train, .received(packet)))
    world.settle()
  }

  private func reports(of client: TestClient) throws -> [Int?] {
    try client.notifications(PeriodicReport.self).map(\.subevent)
  }

  @Test func allSubeventsAreReceivedUnlessSomeAreNamed() throws {
    let call = try client.call(PeriodicSync.self, params())
    find()
    let result = try #require(try client.answer(to: call, PeriodicSync.self)).get()
    #expect(
      result.responses == .init(subevents: 4, subeventInterval: 0.025, slotDelay: 0.005, slotSpacing: 0.0025))
    #expect(world.adapter.chosen == [[0, 1, 2, 3]])
    hear(65535, 3, 7)
    let report = try #require(try client.notifications(PeriodicReport.self).last)
    #expect(report.event == 65535 && report.subevent == 3 && report.data == HexBytes([7]) && report.rssi == -44)
  }

  @Test func sessionsOfATrainGetTheirOwnSubevents() throws {
    let second = world.client()
    let call = try client.call(PeriodicSync.self, params([2, 0, 2]))
    find()
    #expect(try client.answer(to: call, PeriodicSync.self)?.get().sid == 3)
    _ = try done(PeriodicSync.self, params([2, 3]), by: second)
    #expect(world.adapter.chosen == [[0, 2], [0, 2, 3]])
    for subevent in UInt8(0)...3 { hear(1, subevent) }
    #expect(try reports(of: client) == [0, 2])
    #expect(try reports(of: second) == [2, 3])
    _ = try done(PeriodicStop.self, .init())
    #expect(world.adapter.chosen.last == [2, 3])
    #expect(!world.adapter.syncs.isEmpty)
    _ = try done(PeriodicStop.self, .init(), by: second)
    #expect(world.adapter.chosen.count == 3 && world.adapter.syncs.isEmpty)
  }

  @Test func subeventsAreChosenAgainWhenTheTrainIsFoundAgain() throws {
    try client.call(PeriodicSync.self, params([1]))
    find()
    world.adapter.onEvent?(.periodic(train, .lost))
    world.settle()
    hear(1, 1)
    #expect(try reports(of: client).isEmpty)
    find()
    #expect(world.adapter.chosen == [[1], [1]])
    #expect(try client.notifications(PeriodicChanged.self).map(\.synced) == [false, true])
    // Found again before the answer to an earlier choice.
    world.adapter.onEvent?(.periodic(train, .lost))
    world.adapter.choiceRefusal = BledError.unknownHandle.error("lost")
    world.adapter.onEvent?(
      .periodic(train, .synchronised(interval: .milliseconds(100), phy: .le2M, subevents: Self.subevents)))
    world.adapter.onEvent?(.periodic(train, .lost))
    world.adapter.choiceRefusal = nil
    find()
    #expect(try client.notifications(PeriodicChanged.self).last?.synced == true)
    #expect(!world.adapter.syncs.isEmpty)
  }

  @Test func aRefusalMeetsTheSessionThatCameWithTheSubevents() throws {
    let second = world.client()
    let call = try client.call(PeriodicSync.self, params([0]))
    find()
    #expect(try client.answer(to: call, PeriodicSync.self)?.get().sid == 3)
    world.adapter.choiceRefusal = BluetoothError(domain: .hci, code: 7, name: "full", message: "full")
    let refused = try second.call(PeriodicSync.self, params())
    world.settle()
    #expect(try second.error(of: refused, PeriodicSync.self)?.message == "full")
    #expect(world.adapter.chosen == [[0], [0, 1, 2, 3], [0]])
    hear(1, 0)
    #expect(try reports(of: client) == [0])
    #expect(try reports(of: second).isEmpty)
    _ = try done(PeriodicStop.self, .init())
    #expect(try refusal(PeriodicSync.self, params([129])).data?.name == "invalidParameter")
    let last = try client.call(PeriodicSync.self, params())
    find()
    #expect(try client.error(of: last, PeriodicSync.self)?.message == "full")
    #expect(world.adapter.syncs.isEmpty)
  }

  @Test func subeventsThatThereAreNotAreRefused() throws {
    for wrong in [[], [-1], [128], [Int.max], [Int](repeating: 0, count: 129)] {
      #expect(try refusal(PeriodicSync.self, params(wrong)).data?.name == "invalidParameter")
    }
    let second = world.client()
    let calls = try [client.call(PeriodicSync.self, params([4])), second.call(PeriodicSync.self, params([3]))]
    find()
    #expect(try client.error(of: calls[0], PeriodicSync.self)?.data?.name == "invalidParameter")
    #expect(try second.answer(to: calls[1], PeriodicSync.self)?.get().sid == 3)
    #expect(try refusal(PeriodicSync.self, params([4])).data?.name == "invalidParameter")
    world.adapter.onEvent?(.periodic(train, .lost))
    find(nil)
    let reason = try second.notifications(PeriodicChanged.self).last?.reason
    #expect(reason?.data?.name == "invalidParameter")
    world.adapter.information.canRespond = false
    #expect(try refusal(PeriodicSync.self, params([0])).data?.name == "notSupported")
  }

  @Test func aTransferredTrainHasSubevents() throws {
    let peer = world.peer()
    let peripheral = try world.connect(client, peer).peripheral
    let link = try #require(world.adapter.links.last)
    let call = try client.call(PeriodicReceive.self, .init(peripheral: peripheral, subevents: [1, 3]))
    var received = ReceivedTrain(train: train, interval: .milliseconds(100), phy: .le2M, serviceData: 7)
    received.subevents = Self.subevents
    link.endReceiving(.success(received))
    world.settle()
    #expect(try client.answer(to: call, PeriodicReceive.self)?.get().responses?.subevents == 4)
    #expect(world.adapter.chosen == [[1, 3]])
    for subevent in UInt8(0)...3 { hear(1, subevent) }
    #expect(try reports(of: client) == [1, 3])
    #expect(try client.notifications(PeriodicChanged.self).isEmpty)
  }

  @Test("A transferred train without the subevents of a session is an error of its call, and other sessions get it")
  func transferredWithoutSubevents() throws {
    let second = world.client()
    let peer = world.peer()
    let peripheral = try world.connect(client, peer).peripheral
    _ = try world.connect(second, peer)
    let link = try #require(world.adapter.links.last)
    let call = try client.call(PeriodicReceive.self, .init(peripheral: peripheral, subevents: [9]))
    let other = try second.call(PeriodicReceive.self, .init(peripheral: peripheral, subevents: [1]))
    var received = ReceivedTrain(train: train, interval: .milliseconds(100), phy: .le2M, serviceData: 7)
    received.subevents = Self.subevents
    link.endReceiving(.success(received))
    world.settle()
    #expect(try client.error(of: call, PeriodicReceive.self)?.data?.name == "invalidParameter")
    #expect(try client.notifications(PeriodicChanged.self).isEmpty)
    #expect(try second.answer(to: other, PeriodicReceive.self)?.get().sid == 3)
    #expect(world.adapter.chosen == [[1]])
    hear(1, 1)
    #expect(try reports(of: second) == [1])
    #expect(try reports(of: client).isEmpty)
  }

  @Test func whoFollowsATrainResponds() throws {
    let second = world.client()
    try client.call(PeriodicSync.self, params([2]))
    find()
    hear(7, 2)
    let peripheral = try #require(try client.notifications(PeriodicReport.self).last).peripheral
    var response = PeriodicRespond.Params(
      peripheral: peripheral, event: 7, subevent: 2, slot: 5, data: HexBytes([1, 2]))
    _ = try done(PeriodicRespond.self, response)
    response.responseSubevent = 3
    _ = try done(PeriodicRespond.self, response)
    let place = SubeventPlace(event: 7, subevent: 2)
    #expect(
      world.adapter.trainResponses == [
        TrainResponse(to: place, subevent: 2, slot: 5, data: [1, 2]),
        TrainResponse(to: place, subevent: 3, slot: 5, data: [1, 2]),
      ])
    #expect(try second.error(PeriodicRespond.self, response)?.data?.name == "unknownHandle")
    world.adapter.responseRefusal = BluetoothError(domain: .hci, code: 0x46, name: "packetTooLate", message: "late")
    #expect(try refusal(PeriodicRespond.self, response).data?.name == "packetTooLate")
    world.adapter.onEvent?(.periodic(train, .lost))
    world.settle()
    #expect(try refusal(PeriodicRespond.self, response).data?.name == "unknownHandle")
  }

  @Test("A session has one response to a train in progress, and the sessions of a user have 16")
  func responsesInProgress() throws {
    try client.call(PeriodicSync.self, params([2]))
    find()
    hear(7, 2)
    let peripheral = try #require(try client.notifications(PeriodicReport.self).last).peripheral
    let response = PeriodicRespond.Params(peripheral: peripheral, event: 7, subevent: 2, slot: 5, data: HexBytes([1]))
    let calls = try (0..<2).map { _ in try client.call(PeriodicRespond.self, response) }
    world.settle()
    #expect(try client.answer(to: calls[0], PeriodicRespond.self)?.get() != nil)
    #expect(try client.error(of: calls[1], PeriodicRespond.self)?.data?.name == "alreadyInProgress")
    #expect(world.adapter.trainResponses.count == 1)
    _ = try done(PeriodicRespond.self, response)
    let others = (0..<17).map { _ in world.client() }
    for other in others { _ = try done(PeriodicSync.self, params([2]), by: other) }
    let more = try others.map { try $0.call(PeriodicRespond.self, response) }
    let foreign = world.client(user: 1000)
    _ = try foreign.call(PeriodicSync.self, params([2]))
    let theirs = try foreign.call(PeriodicRespond.self, response)
    world.settle()
    let errors = try zip(others, more).compactMap { try $0.error(of: $1, PeriodicRespond.self)?.data?.name }
    #expect(errors == ["limitReached"])
    #expect(try foreign.answer(to: theirs, PeriodicRespond.self)?.get() != nil)
  }

  @Test func responsesThatDoNotFitAreRefused() throws {
    try client.call(PeriodicSync.self, params([2]))
    find()
    hear(7, 2)
    let peripheral = try #require(try client.notifications(PeriodicReport.self).last).peripheral
    let good = PeriodicRespond.Params(peripheral: peripheral, event: 7, subevent: 2, slot: 5, data: HexBytes([]))
    let wrong: [(inout PeriodicRespond.Params) -> Void] = [
      { $0.event = -1 }, { $0.event = 65536 }, { $0.event = .max }, { $0.subevent = 4 }, { $0.subevent = .min },
      { $0.responseSubevent = 4 }, { $0.responseSubevent = -1 }, { $0.slot = 255 }, { $0.slot = -1 },
      { $0.data = HexBytes([UInt8](repeating: 0, count: 248)) },
    ]
    for change in wrong {
      var params = good
      change(&params)
      #expect(try refusal(PeriodicRespond.self, params).data?.name == "invalidParameter")
    }
    #expect(world.adapter.trainResponses.isEmpty)
    // A train without subevents, and one without slots.
    var bare = Self.subevents
    (bare.slotDelay, bare.slotSpacing) = (.zero, .zero)
    _ = try done(PeriodicStop.self, .init())
    for subevents in [nil, bare] {
      let call = try client.call(PeriodicSync.self, params())
      find(subevents)
      #expect(try client.answer(to: call, PeriodicSync.self)?.get().responses?.slotDelay == nil)
      #expect(try refusal(PeriodicRespond.self, good).data?.name == "invalidParameter")
      _ = try done(PeriodicStop.self, .init())
    }
  }

  @Test func aLaggingSessionKeepsTheNewestReportOfEachSubevent() throws {
    try client.call(PeriodicSync.self, params())
    find()
    client.reads = false
    for event in UInt16(0)..<5000 {
      for subevent in UInt8(0)...3 {
        world.adapter.onEvent?(
          .periodic(
            train,
            .received(
              PeriodicPacket(
                data: [UInt8](repeating: 1, count: 200), rssi: nil,
                place: SubeventPlace(event: event, subevent: subevent)))))
      }
    }
    client.reads = true
    world.settle()
    let last = try client.notifications(PeriodicReport.self).suffix(4)
    #expect(Set(last.map(\.subevent)) == [0, 1, 2, 3] && last.allSatisfy { $0.event == 4999 })
  }
}
