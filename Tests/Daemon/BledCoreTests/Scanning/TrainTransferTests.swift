import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Trains that sessions give to devices over links, and get from them.
@Suite struct TrainTransferTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let train = PeriodicTrain(address: DeviceAddress(value: 0xC011_2233_4455, kind: .random), sid: 3)
  private var received: ReceivedTrain {
    ReceivedTrain(train: train, interval: .milliseconds(500), phy: .le2M, serviceData: 7)
  }

  init() {
    client = world.client()
    world.adapter.information.canSynchronise = true
    world.adapter.information.hasExtendedAdvertising = true
    world.adapter.information.hasPeriodicAdvertising = true
  }

  /// A device to which clients are connected.
  private func device(_ clients: TestClient...) throws -> (peripheral: String, link: ScriptedLink) {
    let peer = world.peer()
    let connected = try [client].map { try world.connect($0, peer) } + clients.map { try world.connect($0, peer) }
    return (try #require(connected.first).peripheral, try #require(world.adapter.links.last))
  }

  @Test func aSessionGetsATrainAndItsReports() throws {
    let (peripheral, link) = try device()
    let call = try client.call(PeriodicReceive.self, .init(peripheral: peripheral))
    link.endReceiving(.success(received))
    world.settle()
    let result = try #require(try client.answer(to: call, PeriodicReceive.self)).get()
    #expect(result.sid == 3 && result.interval == 0.5 && result.phy == "2M" && result.serviceData == 7)
    #expect(result.peripheral != peripheral && world.adapter.scan == nil)
    world.adapter.onEvent?(.periodic(train, .received(PeriodicPacket(data: [9], rssi: -44))))
    world.settle()
    let report = try #require(try client.notifications(PeriodicReport.self).last)
    #expect(report.peripheral == result.peripheral && report.data == HexBytes([9]))
    // The train is one as any other.
    world.adapter.onEvent?(.periodic(train, .lost))
    world.settle()
    #expect(world.adapter.scan != nil)
    _ = try done(PeriodicStop.self, .init(peripheral: result.peripheral))
    #expect(world.adapter.scan == nil)
  }

  @Test func sessionsThatWaitForADeviceGetTheSameTrainAndOthersDoNot() throws {
    let (second, third) = (world.client(), world.client())
    let (peripheral, link) = try device(second, third)
    let params = PeriodicReceive.Params(peripheral: peripheral)
    let calls = try [client, second].map { try $0.call(PeriodicReceive.self, params) }
    #expect(try refusal(PeriodicReceive.self, params).data?.name == "alreadyInProgress")
    link.endReceiving(.success(received))
    world.settle()
    for (client, call) in zip([client, second], calls) {
      #expect(try client.answer(to: call, PeriodicReceive.self)?.get().sid == 3)
    }
    world.adapter.onEvent?(.periodic(train, .received(PeriodicPacket(data: [9], rssi: nil))))
    world.settle()
    #expect(try second.notifications(PeriodicReport.self).count == 1)
    #expect(try third.notifications(PeriodicReport.self).isEmpty)
    let named = PeriodicTransfer.Train(
      peripheral: try #require(try second.notifications(PeriodicReport.self).last).peripheral)
    let transfer = PeriodicTransfer.Params(peripheral: peripheral, train: named)
    #expect(try third.error(PeriodicTransfer.self, transfer)?.data?.name == "unknownHandle")
    _ = try done(PeriodicTransfer.self, transfer, by: second)
    #expect(link.transferred.map(\.train) == [.followed(train)])
  }

  @Test func aTrainThatComesWhenNobodyWaitsAnyMoreIsLetGo() throws {
    let (peripheral, link) = try device()
    world.adapter.setSync(train, .following(interval: nil))
    let call = try client.call(PeriodicReceive.self, .init(peripheral: peripheral))
    let done = try #require(link.trainReceiver)
    _ = try self.done(PeriodicStop.self, .init(peripheral: peripheral))
    #expect(try client.error(of: call, PeriodicReceive.self)?.data?.name == "cancelled")
    #expect(link.trainReceiver == nil)
    done(.success(received))
    world.settle()
    #expect(world.adapter.syncs.isEmpty)
  }

  @Test func aWaitEndsWithItsTimeTheLinkTheProgramAndAFailure() throws {
    let (peripheral, link) = try device()
    let late = try client.call(PeriodicReceive.self, .init(peripheral: peripheral, timeout: 2))
    world.scheduler.advance(by: .seconds(3))
    #expect(try client.error(of: late, PeriodicReceive.self)?.data?.name == "timeout")
    #expect(link.trainReceiver == nil)
    let failed = try client.call(PeriodicReceive.self, .init(peripheral: peripheral))
    link.endReceiving(.failure(GAPError.notSupported.error("not here")))
    world.settle()
    #expect(try client.error(of: failed, PeriodicReceive.self)?.message == "not here")
    let ended = try client.call(PeriodicReceive.self, .init(peripheral: peripheral))
    link.end(reason: 0x08)
    world.settle()
    #expect(try client.error(of: ended, PeriodicReceive.self)?.data?.name == "notConnected")
    #expect(try refusal(PeriodicReceive.self, .init(peripheral: peripheral)).data?.name == "notConnected")
    let again = try device()
    let never = PeriodicReceive.Params(peripheral: again.peripheral, timeout: 0)
    #expect(try refusal(PeriodicReceive.self, never).data?.name == "invalidParameter")
    _ = try client.call(PeriodicReceive.self, .init(peripheral: again.peripheral))
    #expect(again.link.trainReceiver != nil)
    client.die()
    world.settle()
    #expect(again.link.trainReceiver == nil)
  }

  @Test func anAdvertisementIsTransferredByItsSessionAlone() throws {
    let second = world.client()
    let (peripheral, link) = try device(second)
    var params = AdvertisingStart.Params()
    (params.extended, params.connectable, params.periodic) = (true, false, .init())
    let call = try client.call(AdvertisingStart.self, params)
    let id = try #require(world.adapter.advertisements.keys.first)
    world.adapter.onEvent?(.advertising(id, .on(interval: .milliseconds(100))))
    world.settle()
    let number = try #require(try client.answer(to: call, AdvertisingStart.self)).get().advertising
    let transfer = PeriodicTransfer.Params(peripheral: peripheral, advertising: number, serviceData: 9)
    _ = try done(PeriodicTransfer.self, transfer)
    #expect(link.transferred.map(\.train) == [.own(id)] && link.transferred.map(\.serviceData) == [9])
    #expect(try second.error(PeriodicTransfer.self, transfer)?.data?.name == "unknownHandle")
    link.refusal = GAPError.notSupported.error("the device lacks it")
    #expect(try refusal(PeriodicTransfer.self, transfer).message == "the device lacks it")
    let wrong: [PeriodicTransfer.Params] = [
      .init(peripheral: peripheral), .init(peripheral: peripheral, advertising: number, serviceData: 65536),
      .init(peripheral: peripheral, advertising: number, train: .init(peripheral: peripheral)),
    ]
    for params in wrong { #expect(try refusal(PeriodicTransfer.self, params).data?.name == "invalidParameter") }
  }
}
