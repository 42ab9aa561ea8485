import Adapter
import Bluetooth
import Testing

@testable import SimulatedAdapter

/// Advertisements beside the usual ones, between two adapters.
@Suite(.onBothAirs) struct SimulatedExtendedAdvertisingTests {
  private let scheduler = VirtualScheduler()
  private let sender: AdapterStage
  private let listener: AdapterStage
  private let set = AdvertisingSetID(1)
  private let own = DeviceAddress(value: 0xC011_2233_4455, kind: .random)

  init() throws {
    let air = Airs.make(scheduler: scheduler, seed: 3)
    sender = try AdapterStage(
      "{ adapter: { advertisingDataLength: 1650 } }", id: "sender", air: air, scheduler: scheduler)
    listener = try AdapterStage(
      "{ adapter: { advertisingDataLength: 1650 } }", id: "listener", air: air, scheduler: scheduler)
    for world in [sender, listener] { world.adapter.start() }
    scheduler.advance(by: .seconds(1))
    listener.adapter.setScan(ScanParameters(interval: .milliseconds(10), window: .milliseconds(10)))
    for world in [sender, listener] { world.forget() }
  }

  private func send(_ kind: AdvertisingParameters.Kind, _ change: (inout AdvertisingParameters) -> Void) {
    var parameters = AdvertisingParameters(kind: kind, data: [2, 1, 6])
    change(&parameters)
    sender.adapter.setAdvertising(set, parameters)
    scheduler.advance(by: .seconds(3))
  }

  @Test func aLongAnonymousOneIsHeardWhole() throws {
    let data = [UInt8](repeating: 0, count: 1650)
    send(.nonconnectable) { ($0.isExtended, $0.isAnonymous, $0.data) = (true, true, data) }
    let report = try #require(listener.reports.first)
    #expect(report.address == nil && report.data == data && report.secondaryPHY == .le1M && !report.isConnectable)
  }

  @Test func anAddressOfItsOwnIsConnectedTo() throws {
    send(.connectable) { $0.ownAddress = own }
    #expect(Set(listener.reports.map(\.address)) == [own])
    listener.adapter.connect(to: own, ConnectionParameters())
    scheduler.advance(by: .seconds(3))
    #expect(listener.trace.last == "connected \(own) central 1")
  }

  @Test func oneThatIsDirectedIsForOneDeviceAndEndsWithTheLink() throws {
    send(.directed(own, isHighDuty: false)) { $0.data = [] }
    #expect(listener.reports.isEmpty)
    sender.adapter.setAdvertising(set, nil)
    let target = listener.adapter.information.address
    sender.adapter.setAdvertising(
      AdvertisingSetID(2), AdvertisingParameters(kind: .directed(target, isHighDuty: false), data: []))
    scheduler.advance(by: .seconds(1))
    #expect(listener.reports.first?.isDirected == true)
    listener.adapter.connect(to: sender.adapter.information.address, ConnectionParameters())
    scheduler.advance(by: .seconds(3))
    #expect(sender.trace.contains("advertising 2 ended connected"))
  }

  @Test func theHighDutyCycleIsOverWithoutAListenerToo() {
    listener.adapter.setScan(nil)
    send(.directed(own, isHighDuty: true)) { $0.data = [] }
    #expect(sender.trace == ["advertising 1 on 0.1 seconds", "advertising 1 ended duration"])
  }

  @Test func oneThatIsCountedIsSentSoOften() {
    send(.nonconnectable) { $0.maximumEvents = 12 }
    #expect(sender.trace == ["advertising 1 on 0.1 seconds", "advertising 1 ended count"])
    #expect(listener.reports.count == 12)
  }

  @Test func aTrainIsFoundFollowedLostAndFoundAgain() throws {
    func told() -> [String] { listener.trace.filter { $0.hasPrefix("periodic") } }
    let train = PeriodicTrain(address: sender.adapter.information.address, sid: Airs.firstSID)
    let periodic = PeriodicAdvertising(interval: .milliseconds(500), data: [2, 10, 4], includesTxPower: true)
    listener.adapter.setSync(train, SyncParameters(timeout: .seconds(2)))
    send(.nonconnectable) { ($0.isExtended, $0.periodic, $0.txPower) = (true, periodic, 8) }
    let report = try #require(listener.reports.first)
    #expect(report.sid == Airs.firstSID && report.periodicInterval == .milliseconds(500))
    #expect(told().first?.contains("synchronised") == true)
    listener.adapter.setScan(nil)
    listener.forget()
    scheduler.advance(by: .seconds(2))
    #expect(told().count == 4 && told().allSatisfy { $0.contains("data: [2, 10, 4]") })
    sender.adapter.setAdvertising(set, nil)
    scheduler.advance(by: .seconds(3))
    #expect(told().last?.hasSuffix("lost") == true)
    listener.adapter.setScan(ScanParameters(interval: .milliseconds(10), window: .milliseconds(10)))
    listener.forget()
    send(.nonconnectable) { ($0.isExtended, $0.periodic) = (true, periodic) }
    #expect(told().contains { $0.contains("synchronised") })
    listener.adapter.setSync(train, nil)
    listener.forget()
    scheduler.advance(by: .seconds(2))
    #expect(told().isEmpty)
  }

  @Test(arguments: [nil, LinkPHY.Coding.s8])
  func aCodedOneIsHeardByThoseThatListenThere(_ coding: LinkPHY.Coding?) throws {
    send(.nonconnectable) {
      ($0.isExtended, $0.primaryPHY, $0.secondaryPHY, $0.primaryCoding) = (true, .leCoded, .leCoded, coding)
    }
    #expect(listener.reports.isEmpty)
    listener.adapter.setScan(
      ScanParameters(interval: .milliseconds(10), window: .milliseconds(10), phys: [.leCoded]))
    scheduler.advance(by: .seconds(1))
    #expect(listener.reports.first?.primaryPHY == .leCoded)
  }

  @Test func anAdapterWithoutExtendedAdvertisingSaysSo() throws {
    let world = try AdapterStage.on("{ adapter: { advertisingSets: 1 } }")
    var parameters = AdvertisingParameters(data: [2, 1, 6])
    parameters.isExtended = true
    world.adapter.setAdvertising(set, parameters)
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.last == "advertising 1 failed notSupported")
  }

  @Test func aTrainDoesNotShareTheOnlySet() throws {
    let world = try AdapterStage.on("{ adapter: { advertisingDataLength: 1650, advertisingSets: 1 } }")
    world.forget()
    var train = AdvertisingParameters(kind: .nonconnectable, data: [])
    train.isExtended = true
    train.periodic = PeriodicAdvertising(interval: .milliseconds(100), data: [2, 10, 4])
    world.adapter.setAdvertising(set, train)
    world.adapter.setAdvertising(AdvertisingSetID(2), AdvertisingParameters(data: [2, 1, 6]))
    world.scheduler.advance(by: .seconds(3))
    let told = world.trace.filter { $0.hasPrefix("advertising") }
    #expect(Set(told) == ["advertising 1 on 0.1 seconds", "advertising 2 failed advertisingSetsExhausted"])
  }
}
