import Adapter
import Bluetooth
import HCI
import Testing

@testable import VirtualController

/// Trains of periodic advertisements, command by command.
@Suite struct TrainTests {
  let scheduler = VirtualScheduler()
  let air: Air
  let sender: RawHost
  let follower: RawHost

  init() throws {
    air = Air(scheduler: scheduler, seed: 1)
    sender = try RawHost(1, on: air, scheduler)
    follower = try RawHost(2, on: air, scheduler)
  }

  // MARK: - Parts

  /// A set that can announce a train, of 100 ms.
  private func describe(_ properties: LESetExtendedAdvertisingParameters.Properties = []) {
    let status = sender.ask(
      LESetExtendedAdvertisingParameters {
        ($0.properties, $0.intervalMin, $0.intervalMax, $0.sid) = (properties, 160, 160, 3)
      })
    #expect(status == .success)
  }

  private func train(_ interval: UInt16 = 80) -> LESetPeriodicAdvertisingParameters {
    LESetPeriodicAdvertisingParameters { ($0.intervalMin, $0.intervalMax) = (interval, interval) }
  }

  private func advertise(_ isOn: Bool = true) -> HCIErrorCode? {
    sender.ask(
      LESetExtendedAdvertisingEnable {
        $0.isEnabled = isOn
        $0.sets = [.init()]
      })
  }

  private func enable(_ isOn: Bool = true) -> HCIErrorCode? {
    sender.ask(LESetPeriodicAdvertisingEnable { $0.isEnabled = isOn })
  }

  private func send(_ data: [UInt8]) {
    describe()
    #expect(sender.ask(train()) == .success)
    for fragment in LESetPeriodicAdvertisingData.fragments(of: data, advertisingHandle: 0) {
      #expect(sender.ask(fragment) == .success)
    }
    #expect(enable() == .success && advertise() == .success)
  }

  private func scan(_ isOn: Bool = true, by host: RawHost? = nil) {
    let host = host ?? follower
    if isOn {
      let scan = LESetExtendedScanParameters.Scan { ($0.interval, $0.window) = (16, 16) }
      host.ask(LESetExtendedScanParameters { ($0.phys, $0.scans) = (1, [scan]) })
    }
    host.ask(LESetExtendedScanEnable { $0.isEnabled = isOn })
  }

  private func search(by host: RawHost? = nil, timeout: UInt16 = 100) -> HCIErrorCode? {
    (host ?? follower).ask(
      LEPeriodicAdvertisingCreateSync { ($0.sid, $0.advertiser, $0.timeout) = (3, sender.address, timeout) })
  }

  /// A host follows the train.
  private func follow(by host: RawHost? = nil) {
    scan(by: host)
    #expect(search(by: host) == .success)
    scheduler.advance(by: .seconds(1))
    scan(false, by: host)
  }

  /// The outcomes of searches.
  private func outcomes(of host: RawHost) -> [HCIErrorCode?] {
    host.events.compactMap { event -> HCIErrorCode?? in
      guard case .lePeriodicAdvertisingSyncEstablishedV2(let event) = event else { return nil }
      return event.established.status.code
    }
  }

  private func reports(of host: RawHost) -> [LEPeriodicAdvertisingReportV2] {
    host.events.compactMap { if case .lePeriodicAdvertisingReportV2(let report) = $0 { report } else { nil } }
  }

  private func losses(of host: RawHost) -> Int {
    host.events.count { if case .lePeriodicAdvertisingSyncLost = $0 { true } else { false } }
  }

  // MARK: - Sending and following

  @Test("A train is found in a scan, and received in pieces without one")
  func pieces() throws {
    let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
    send(data)
    follow()
    #expect(outcomes(of: follower) == [.success])
    follower.forget()
    scheduler.advance(by: .milliseconds(500))
    let reports = reports(of: follower)
    #expect(reports.map(\.dataStatus) == (0..<5).flatMap { _ in [1, 1, 0] })
    #expect(reports.prefix(3).flatMap(\.data) == data && reports.allSatisfy { $0.rssi == -60 && $0.txPower == 127 })
    let first = try #require(reports.first).event
    #expect(reports.map { $0.event &- first } == (0..<5).flatMap { [$0, $0, $0] })
    // Other data on the air; a part of them is refused.
    #expect(sender.ask(LESetPeriodicAdvertisingData { $0.data = [7] }) == .success)
    #expect(sender.ask(LESetPeriodicAdvertisingData { $0.operation = .first }) == .commandDisallowed)
    follower.forget()
    scheduler.advance(by: .milliseconds(100))
    #expect(self.reports(of: follower).map(\.data) == [[7]])
  }

  @Test("A host that does not want the newer events has the older ones, and a masked event never comes")
  func olderEvents() {
    send([1])
    follower.ask(LESetEventMask { $0.mask = 1 << 12 | 1 << 13 | 1 << 14 })
    follow()
    #expect(follower.events.contains { if case .lePeriodicAdvertisingSyncEstablished = $0 { true } else { false } })
    #expect(follower.events.contains { if case .lePeriodicAdvertisingReport = $0 { true } else { false } })
    #expect(enable(false) == .success)
    scheduler.advance(by: .seconds(5))
    #expect(losses(of: follower) == 0)
  }

  @Test("A train continues when its advertisements end, and is lost at its timeout when it ends")
  func end() {
    send([1])
    follow()
    #expect(advertise(false) == .success)
    follower.forget()
    scheduler.advance(by: .seconds(1))
    #expect(reports(of: follower).count == 10)
    #expect(sender.ask(LERemoveAdvertisingSet()) == .commandDisallowed)
    #expect(enable(false) == .success)
    scheduler.advance(by: .milliseconds(890))
    #expect(losses(of: follower) == 0)
    scheduler.advance(by: .milliseconds(120))
    #expect(losses(of: follower) == 1)
    #expect(follower.ask(LEPeriodicAdvertisingTerminateSync()) == .unknownAdvertisingIdentifier)
    #expect(sender.ask(LERemoveAdvertisingSet()) == .success)
  }

  @Test("A train that begins again is another one")
  func again() {
    send([1])
    follow()
    #expect(enable(false) == .success && enable() == .success)
    follower.forget()
    scheduler.advance(by: .seconds(2))
    #expect(reports(of: follower).isEmpty && losses(of: follower) == 1)
    follow()
    #expect(outcomes(of: follower) == [.success])
  }

  @Test("Lost packets are missed, and only a silence of the timeout ends it")
  func loss() {
    send([1])
    follow()
    air.setLoss(0.3, from: sender.controller, to: follower.controller)
    follower.forget()
    scheduler.advance(by: .seconds(10))
    #expect((50...90).contains(reports(of: follower).count) && losses(of: follower) == 0)
    follower.controller.isInReach = false
    scheduler.advance(by: .seconds(2))
    #expect(losses(of: follower) == 1)
  }

  @Test("A train that was heard of, and of which six packets are missed, is not established")
  func missed() {
    send([1])
    scan()
    #expect(search() == .success)
    scheduler.run(for: .seconds(1)) { follower.events.contains { $0.isReport } }
    air.setLoss(1, from: sender.controller, to: follower.controller)
    scheduler.advance(by: .seconds(1))
    #expect(outcomes(of: follower) == [.connectionFailedToBeEstablished])
    // The handle and the search are free again.
    air.setLoss(0, from: sender.controller, to: follower.controller)
    follow()
    #expect(outcomes(of: follower).last == .success)
  }

  @Test("A search is cancelled before and after the train was heard of")
  func cancellation() {
    send([1])
    #expect(follower.ask(LEPeriodicAdvertisingCreateSyncCancel()) == .commandDisallowed)
    #expect(search() == .success && search() == .commandDisallowed)
    #expect(follower.ask(LEPeriodicAdvertisingCreateSyncCancel()) == .success)
    #expect(outcomes(of: follower) == [.operationCancelledByHost])
    scan()
    #expect(search() == .success)
    scheduler.run(for: .seconds(1)) { follower.events.contains { $0.isReport } }
    #expect(follower.ask(LEPeriodicAdvertisingCreateSyncCancel()) == .success)
    scheduler.advance(by: .seconds(1))
    #expect(outcomes(of: follower) == [.operationCancelledByHost, .operationCancelledByHost])
    #expect(reports(of: follower).isEmpty)
  }

  @Test("A train without followers costs nothing")
  func cost() {
    send([1])
    scheduler.advance(by: .seconds(1))
    #expect(scheduler.advance(to: scheduler.now.advanced(by: .seconds(3600)), ringing: 10))
  }

  // MARK: - Refusals

  @Test("Sets that cannot announce a train, wrong times and unknown sets are refused")
  func refusedTrains() {
    #expect(sender.ask(train()) == .unknownAdvertisingIdentifier)
    #expect(enable() == .unknownAdvertisingIdentifier)
    for properties in [.connectable, .scannable, .anonymous, .legacyPDUs]
      as [LESetExtendedAdvertisingParameters.Properties]
    {
      describe(properties)
      #expect(sender.ask(train()) == .invalidHCICommandParameters)
    }
    describe()
    #expect(enable() == .commandDisallowed)
    #expect(sender.ask(LESetPeriodicAdvertisingData()) == .commandDisallowed)
    #expect(sender.ask(train(5)) == .invalidHCICommandParameters)
    #expect(sender.ask(train()) == .success && enable() == .success)
    #expect(sender.ask(train()) == .commandDisallowed)
    let connectable = LESetExtendedAdvertisingParameters { $0.properties = .connectable }
    #expect(sender.ask(connectable) == .invalidHCICommandParameters)
    #expect(sender.ask(LEClearAdvertisingSets()) == .commandDisallowed)
    #expect(enable(false) == .success && sender.ask(LEClearAdvertisingSets()) == .success)
    #expect(sender.ask(LEPeriodicAdvertisingTerminateSync()) == .unknownAdvertisingIdentifier)
  }

  @Test("A controller follows a train once, and as many as it has room for")
  func room() throws {
    let small = try RawHost(3, on: air, scheduler) { $0.trains = 1 }
    send([1])
    follow(by: small)
    #expect(outcomes(of: small) == [.success])
    #expect(search(by: small) == .connectionAlreadyExists)
    let other = LEPeriodicAdvertisingCreateSync { ($0.sid, $0.advertiser, $0.timeout) = (4, sender.address, 100) }
    #expect(small.ask(other) == .memoryCapacityExceeded)
    #expect(small.ask(LEPeriodicAdvertisingTerminateSync()) == .success && small.ask(other) == .success)
    let old = try RawHost(4, on: air, scheduler) { $0.features = .bluetooth40 }
    #expect(search(by: old) == .unknownHCICommand && old.ask(train()) == .unknownHCICommand)
  }
}

extension HCIEvent {
  fileprivate var isReport: Bool { if case .leExtendedAdvertisingReport = self { true } else { false } }
}
