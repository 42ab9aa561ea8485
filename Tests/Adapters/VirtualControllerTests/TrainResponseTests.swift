import Adapter
import Bluetooth
import HCI
import Testing

@testable import VirtualController

/// Trains with subevents: data at their requests, and responses in slots.
@Suite struct TrainResponseTests {
  let scheduler = VirtualScheduler()
  let air: Air
  let sender: RawHost
  let labels: [RawHost]

  /// Four subevents in 100 ms, and in each six slots of 2.5 ms after 5 ms.
  init() throws {
    let air = Air(scheduler: scheduler, seed: 1)
    self.air = air
    sender = try RawHost(1, on: air, scheduler)
    labels = try [2, 3].map { [scheduler] in try RawHost($0, on: air, scheduler) }
    sender.ask(LESetExtendedAdvertisingParameters { ($0.intervalMin, $0.intervalMax) = (160, 160) })
    #expect(sender.ask(Self.train) == .success)
    sender.ask(
      LESetExtendedAdvertisingEnable {
        $0.isEnabled = true
        $0.sets = [.init()]
      })
  }

  private static let train = LESetPeriodicAdvertisingParametersV2 {
    ($0.parameters.intervalMin, $0.parameters.intervalMax) = (80, 80)
    ($0.subevents, $0.subeventInterval, $0.slotDelay, $0.slotSpacing, $0.slots) = (4, 20, 4, 20, 6)
  }

  /// The train is on the air, and the labels follow these subevents of it.
  private func begin(_ subevents: UInt8...) {
    #expect(sender.ask(LESetPeriodicAdvertisingEnable { $0.isEnabled = true }) == .success)
    for label in labels {
      let scan = LESetExtendedScanParameters.Scan { ($0.interval, $0.window) = (16, 16) }
      label.ask(LESetExtendedScanParameters { ($0.phys, $0.scans) = (1, [scan]) })
      label.ask(LESetExtendedScanEnable { $0.isEnabled = true })
      label.ask(LEPeriodicAdvertisingCreateSync { ($0.advertiser, $0.timeout) = (sender.address, 100) })
    }
    scheduler.advance(by: .seconds(1))
    for label in labels {
      label.ask(LESetExtendedScanEnable())
      if !subevents.isEmpty { #expect(label.ask(LESetPeriodicSyncSubevent { $0.subevents = subevents }) == .success) }
      label.forget()
    }
  }

  /// Waits for the next request for data.
  private func awaitRequest() {
    sender.forget()
    scheduler.run(for: .seconds(1)) {
      sender.events.contains { if case .lePeriodicAdvertisingSubeventDataRequest = $0 { true } else { false } }
    }
  }

  private func send(_ number: UInt8, _ data: [UInt8], slots: Range<UInt8> = 0..<6) -> HCIErrorCode? {
    sender.ask(
      LESetPeriodicAdvertisingSubeventData {
        $0.subevents = [
          .init {
            ($0.number, $0.firstSlot, $0.slots, $0.data) = (number, slots.lowerBound, UInt8(slots.count), data)
          }
        ]
      })
  }

  private func received(by label: RawHost) -> [LEPeriodicAdvertisingReportV2] {
    label.events.compactMap { if case .lePeriodicAdvertisingReportV2(let report) = $0 { report } else { nil } }
  }

  /// Sends data in a subevent.
  /// - Returns: the report of a label that received them.
  private func exchange(_ number: UInt8, _ data: [UInt8], slots: Range<UInt8> = 0..<6) throws
    -> LEPeriodicAdvertisingReportV2
  {
    for label in labels { label.forget() }
    awaitRequest()
    #expect(send(number, data, slots: slots) == .success)
    scheduler.run(for: .seconds(1)) { !received(by: labels[0]).isEmpty }
    return try #require(received(by: labels[0]).first)
  }

  private func respond(
    _ label: RawHost, to report: LEPeriodicAdvertisingReportV2, in subevent: UInt8, _ slot: UInt8, _ data: [UInt8]
  ) -> HCIErrorCode? {
    label.ask(
      LESetPeriodicAdvertisingResponseData {
        ($0.requestEvent, $0.requestSubevent, $0.responseSubevent) = (report.event, report.number, subevent)
        ($0.slot, $0.data) = (slot, data)
      })
  }

  /// The responses so far, by slot.
  private var responses: [UInt8: [UInt8]] {
    var found: [UInt8: [UInt8]] = [:]
    for case .lePeriodicAdvertisingResponseReport(let report) in sender.events {
      for response in report.responses { found[response.slot] = response.data }
    }
    return found
  }

  @Test("The longest response is reported in two pieces")
  func longest() throws {
    sender.ask(
      LESetPeriodicAdvertisingParametersV2 {
        ($0.parameters.intervalMin, $0.parameters.intervalMax) = (80, 80)
        ($0.subevents, $0.subeventInterval, $0.slotDelay, $0.slotSpacing, $0.slots) = (1, 80, 4, 40, 2)
      })
    begin(0)
    let report = try exchange(0, [1], slots: 0..<2)
    let data = Array(repeating: UInt8(7), count: 247)
    #expect(respond(labels[0], to: report, in: 0, 1, data) == .success)
    scheduler.advance(by: .milliseconds(100))
    var pieces: [LEPeriodicAdvertisingResponseReport.Response] = []
    for case .lePeriodicAdvertisingResponseReport(let report) in sender.events { pieces += report.responses }
    #expect(pieces.map(\.dataStatus) == [1, 0] && pieces.flatMap(\.data) == data)
  }

  @Test("Data are asked for each event, sent once, and received by those that chose the subevent")
  func data() throws {
    begin(1, 2)
    let report = try exchange(1, [7, 8])
    #expect(report.data == [7, 8] && report.number == 1)
    #expect(received(by: labels[1]).map(\.data) == [[7, 8]])
    awaitRequest()
    #expect(send(3, [9]) == .success)
    for label in labels { label.forget() }
    scheduler.advance(by: .seconds(1))
    #expect(labels.allSatisfy { received(by: $0).isEmpty })
    #expect(
      sender.events.count { if case .lePeriodicAdvertisingSubeventDataRequest = $0 { true } else { false } } == 11)
  }

  @Test("Responses arrive in their slots; two in one are lost, and so is one in a slot that is not left")
  func slots() throws {
    begin(0)
    let report = try exchange(0, [1], slots: 0..<4)
    for (index, label) in labels.enumerated() {
      #expect(respond(label, to: report, in: 0, UInt8(index), [UInt8(index)]) == .success)
      #expect(respond(label, to: report, in: 0, 3, [9]) == .success)
    }
    #expect(respond(labels[0], to: report, in: 0, 4, [9]) == .success)
    sender.forget()
    scheduler.advance(by: .milliseconds(30))
    #expect(responses == [0: [0], 1: [1]])
    #expect(sender.events.count { if case .lePeriodicAdvertisingResponseReport = $0 { true } else { false } } == 1)
  }

  @Test("A response in a later subevent has the slots of that one, of the next event if it comes before")
  func laterSubevent() throws {
    begin(2)
    let report = try exchange(2, [1])
    #expect(respond(labels[0], to: report, in: 1, 5, [5]) == .success)
    #expect(respond(labels[1], to: report, in: 3, 0, [3]) == .success)
    awaitRequest()
    #expect(send(1, [2]) == .success)
    scheduler.advance(by: .milliseconds(120))
    #expect(responses == [5: [5]], "subevent 3 of this event was not sent")
  }

  @Test("Long responses come in several reports")
  func longResponses() throws {
    #expect(sender.ask(Self.train) == .success)
    begin(0)
    let report = try exchange(0, [1])
    for (index, label) in labels.enumerated() {
      let data = [UInt8](repeating: UInt8(index), count: 200)
      #expect(respond(label, to: report, in: 0, UInt8(index), data) == .success)
    }
    sender.forget()
    scheduler.advance(by: .milliseconds(30))
    #expect(responses.mapValues(\.count) == [0: 200, 1: 200])
    #expect(sender.events.count { if case .lePeriodicAdvertisingResponseReport = $0 { true } else { false } } == 2)
  }

  @Test("Responses that are late, long, or for no slot are refused")
  func refusedResponses() throws {
    #expect(
      labels[0].ask(LESetPeriodicAdvertisingResponseData()) == .unknownAdvertisingIdentifier)
    begin(0)
    let report = try exchange(0, [1])
    #expect(respond(labels[0], to: report, in: 0, 6, []) == .invalidHCICommandParameters)
    #expect(respond(labels[0], to: report, in: 4, 0, []) == .invalidHCICommandParameters)
    let long = [UInt8](repeating: 0, count: 247)
    // 2.5 ms have room for 302 octets on LE 1M.
    #expect(respond(labels[0], to: report, in: 0, 0, long) == .success)
    scheduler.advance(by: .milliseconds(10))
    #expect(respond(labels[0], to: report, in: 0, 2, []) == .packetTooLate)
    #expect(respond(labels[0], to: report, in: 0, 3, []) == .success)
    for wrong in [[4], [0, 4]] as [[UInt8]] {
      #expect(labels[0].ask(LESetPeriodicSyncSubevent { $0.subevents = wrong }) == .invalidHCICommandParameters)
    }
  }

  @Test("A response longer than its slot is refused")
  func tooLong() throws {
    var train = Self.train
    train.slotSpacing = 8
    #expect(sender.ask(train) == .success)
    begin(0)
    let report = try exchange(0, [1])
    #expect(respond(labels[0], to: report, in: 0, 0, [UInt8](repeating: 0, count: 200)) == .packetTooLong)
    #expect(respond(labels[0], to: report, in: 0, 0, [UInt8](repeating: 0, count: 100)) == .success)
  }

  @Test("Data before the first request, after their time, or for no slot or subevent are refused")
  func refusedData() {
    #expect(send(0, []) == .commandDisallowed, "there is no train yet")
    #expect(sender.ask(LESetPeriodicAdvertisingEnable { $0.isEnabled = true }) == .success)
    #expect(send(0, []) == .packetTooEarly)
    awaitRequest()
    #expect(send(4, []) == .invalidHCICommandParameters)
    #expect(send(0, [], slots: 5..<7) == .invalidHCICommandParameters)
    // The request is 25 ms ahead, and the subevents are 25 ms apart.
    scheduler.advance(by: .milliseconds(30))
    #expect(send(0, []) == .packetTooLate && send(1, []) == .success)
  }

  @Test("Trains whose subevents do not fit are refused")
  func refusedTrains() {
    for change in [
      { $0.subevents = 5 }, { $0.subevents = 129 }, { $0.subeventInterval = 5 }, { $0.slotDelay = 20 },
      { $0.slots = 9 }, { $0.slotSpacing = 1 }, { $0.slotDelay = 0 },
    ] as [(inout LESetPeriodicAdvertisingParametersV2) -> Void] {
      var train = Self.train
      change(&train)
      #expect(sender.ask(train) == .invalidHCICommandParameters)
    }
  }
}
