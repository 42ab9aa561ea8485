import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Trains of periodic advertisements that sessions follow.
@Suite struct PeriodicBrokerTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let address = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
  private var train: PeriodicTrain { PeriodicTrain(address: address, sid: 3) }

  init() {
    client = world.client()
    world.adapter.information.canSynchronise = true
  }

  /// A device announces a train.
  private func announce() throws -> String {
    var report = AdvertisingReport(
      address: address, isConnectable: false, isScannable: false, primaryPHY: .le1M, sid: 3, rssi: -50, data: [],
      time: world.scheduler.now)
    report.periodicInterval = .milliseconds(500)
    try client.call(ScanStart.self, .init())
    world.adapter.hear(report)
    world.settle()
    try client.call(ScanStop.self, .init())
    world.settle()
    return try #require(try client.notifications(ScanReport.self).last).peripheral
  }

  private func establish() {
    world.adapter.onEvent?(.periodic(train, .synchronised(interval: .milliseconds(500), phy: .le2M)))
    world.settle()
  }

  @Test func aReportTellsTheTrainAndTheCallNeedsNoMore() throws {
    let peripheral = try announce()
    let call = try client.call(PeriodicSync.self, .init(peripheral: peripheral))
    world.settle()
    #expect(world.adapter.syncs == [train: SyncParameters(timeout: .seconds(5))])
    #expect(world.adapter.scan?.isActive == false, "it is found while the adapter scans")
    establish()
    let result = try #require(try client.answer(to: call, PeriodicSync.self)).get()
    #expect(result == .init(peripheral: peripheral, adapter: "hci0", sid: 3, interval: 0.5, phy: "2M"))
    #expect(world.adapter.scan == nil, "nothing is sought any more")
    let packet = PeriodicPacket(data: [2, 10, 4], rssi: -44, txPower: 8)
    world.adapter.onEvent?(.periodic(train, .received(packet)))
    world.settle()
    let report = try #require(try client.notifications(PeriodicReport.self).last)
    #expect(report.peripheral == peripheral && report.sid == 3 && report.data == HexBytes([2, 10, 4]))
    #expect(report.rssi == -44 && report.txPower == 8 && report.truncated == nil)
  }

  @Test func sessionsShareATrainUntilTheLastOneStops() throws {
    let peripheral = try announce()
    let second = world.client()
    let params = PeriodicSync.Params(peripheral: peripheral)
    try client.call(PeriodicSync.self, params)
    establish()
    let result = try done(PeriodicSync.self, params, by: second)
    #expect(result.interval == 0.5)
    #expect(try refusal(PeriodicSync.self, params).data?.name == "alreadyInProgress")
    world.adapter.onEvent?(.periodic(train, .received(PeriodicPacket(data: [1], rssi: nil))))
    world.settle()
    #expect(try client.notifications(PeriodicReport.self).count == 1)
    #expect(try second.notifications(PeriodicReport.self).count == 1)
    _ = try done(PeriodicStop.self, .init(peripheral: peripheral, sid: 3))
    #expect(!world.adapter.syncs.isEmpty)
    _ = try done(PeriodicStop.self, .init(), by: second)
    #expect(world.adapter.syncs.isEmpty)
  }

  /// A program that names a device by its address stops to wait for its train by it, too.
  @Test func aTrainIsStoppedByTheAddressOfItsDevice() throws {
    let address = "\(train.address)"
    try client.call(PeriodicSync.self, .init(peripheral: address, addressType: train.address.kind, sid: 3))
    world.settle()
    #expect(world.adapter.scan != nil)
    #expect(try refusal(PeriodicStop.self, .init(peripheral: "C0:00:00:00:00:99")).data?.name == "unknownDevice")
    _ = try done(PeriodicStop.self, .init(peripheral: address, sid: 4))
    #expect(world.adapter.scan != nil)
    _ = try done(PeriodicStop.self, .init(peripheral: address, sid: 3))
    #expect(world.adapter.scan == nil && world.adapter.syncs.isEmpty)
  }

  @Test func aTrainThatIsLostIsToldAndFoundAgain() throws {
    let peripheral = try announce()
    try client.call(PeriodicSync.self, .init(peripheral: peripheral))
    establish()
    world.adapter.onEvent?(.periodic(train, .lost))
    world.settle()
    #expect(world.adapter.scan != nil)
    establish()
    let changes = try client.notifications(PeriodicChanged.self)
    #expect(changes.map(\.synced) == [false, true] && changes.last?.phy == "2M")
    world.adapter.change(to: .off)
    world.settle()
    #expect(try client.notifications(PeriodicChanged.self).last?.synced == false)
  }

  @Test func whatCannotBeFollowedIsAnError() throws {
    let peripheral = try announce()
    #expect(try refusal(PeriodicSync.self, .init(peripheral: peripheral, sid: 16)).message.contains("0 to 15"))
    #expect(try refusal(PeriodicSync.self, .init(peripheral: "C0:00:00:00:00:09")).message.contains("give \"sid\""))
    #expect(try refusal(PeriodicSync.self, .init(peripheral: peripheral, timeout: 0)).message.contains("timeout"))
    let call = try client.call(PeriodicSync.self, .init(peripheral: peripheral))
    world.adapter.onEvent?(.periodic(train, .failed(GAPError.notSupported.error("full"))))
    world.settle()
    #expect(try client.error(of: call, PeriodicSync.self)?.message == "full")
    #expect(world.adapter.syncs.isEmpty)
    world.adapter.information.canSynchronise = false
    #expect(try refusal(PeriodicSync.self, .init(peripheral: peripheral)).data?.name == "notSupported")
  }

  @Test func aCallEndsWithItsTimeAndLetsTheTrainGo() throws {
    let peripheral = try announce()
    let call = try client.call(PeriodicSync.self, .init(peripheral: peripheral, timeout: 2))
    world.scheduler.advance(by: .seconds(3))
    #expect(try client.error(of: call, PeriodicSync.self)?.data?.name == "timeout")
    #expect(world.adapter.syncs.isEmpty && world.adapter.scan == nil)
  }
}
