import BledRPC
import Bluetooth
import MQTTGateway
import Testing

struct PublishPolicyTests {
  private func report(_ peripheral: Int, data: [UInt8] = [2, 1, 6], rssi: Int = -60) throws -> RPCMessage {
    var report = ScanReport.Params(
      peripheral: "\(peripheral)", adapter: "hci0", address: "C0:DE:00:00:00:01", addressType: "random",
      connectable: true, data: HexBytes(data), time: 0)
    report.rssi = rssi
    return try RPCMessage(line: RPCEncoding.notification(ScanReport.self, report).dropLast())
  }

  private func octets(_ reports: [RPCMessage]) throws -> [UInt8] {
    try reports.compactMap { try $0.params(ScanReport.Params.self).data.octets.last }
  }

  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func aSignalStrengthAloneIsPublishedAfterAWhile() throws {
    var policy = PublishPolicy(PublishPolicy.Limits(), at: at(0))
    var published: [Int64] = []
    for second in 0..<130 as Range<Int64> {
      if try policy.received(report(1, rssi: -60 - Int(second) % 40), at: at(second * 1000)) {
        published.append(second)
      }
    }
    #expect(published == [0, 60, 120])
  }

  @Test func withoutATimeOnlyChangesArePublished() throws {
    var limits = PublishPolicy.Limits()
    limits.every = nil
    var policy = PublishPolicy(limits, at: at(0))
    let first = try policy.received(report(1), at: at(0))
    let same = try policy.received(report(1), at: at(100_000_000))
    let other = try policy.received(report(1, data: [2, 1, 4]), at: at(100_000_001))
    #expect(first && !same && other)
  }

  @Test func aFloodOfChangesBecomesOneMessageASecondAndTheLastIsNotMissed() throws {
    var policy = PublishPolicy(PublishPolicy.Limits(), at: at(0))
    var published: [UInt8] = []
    for step in 0..<100 as Range<Int64> {
      let now = at(step * 100)
      published += try octets(policy.due(at: now))
      if try policy.received(report(1, data: [2, 1, UInt8(step)]), at: now) { published.append(UInt8(step)) }
    }
    // Four at once, then one in a second.
    #expect(published.count <= 15 && published.prefix(4) == [0, 1, 2, 3])
    #expect(published == published.sorted())
    let last = try octets(policy.due(at: at(20_000)))
    #expect(last == [99] || published.last == 99)
    #expect(policy.deadline == nil)
  }

  @Test func theTableIsBounded() throws {
    var limits = PublishPolicy.Limits()
    limits.devices = 100
    var policy = PublishPolicy(limits, at: at(0))
    for number in 0..<1000 {
      _ = try policy.received(report(number), at: at(Int64(number)))
      // A device that is received all the time stays.
      _ = try policy.received(report(5000), at: at(Int64(number)))
    }
    #expect(policy.count <= 100)
    #expect(policy.forgotten > 800)
    let isNew = try policy.received(report(5000), at: at(1001))
    #expect(!isNew)
  }

  @Test func allDevicesTogetherAreBoundedAndNoneIsForgotten() throws {
    var limits = PublishPolicy.Limits()
    limits.total = 10
    var policy = PublishPolicy(limits, at: at(0))
    var published = 0
    for number in 0..<1000 {
      if try policy.received(report(number), at: at(Int64(number))) { published += 1 }
      published += policy.due(at: at(Int64(number))).count
    }
    #expect(published == 29)
    var now = at(999)
    while let deadline = policy.deadline {
      now = max(now, deadline)
      published += policy.due(at: now).count
    }
    #expect(published == 1000 && policy.dropped == 0)
    #expect(now >= at(97_000) && now <= at(98_000))
  }

  @Test func aHeldReportOfAForgottenDeviceIsCounted() throws {
    var limits = PublishPolicy.Limits()
    (limits.total, limits.devices) = (1, 4)
    var policy = PublishPolicy(limits, at: at(0))
    for number in 0..<5 { _ = try policy.received(report(number), at: at(Int64(number))) }
    // Two had a message, and one of them and of the others is forgotten.
    #expect(policy.forgotten == 2 && policy.dropped == 0)
    for number in 5..<8 { _ = try policy.received(report(number), at: at(Int64(number))) }
    #expect(policy.forgotten == 4 && policy.dropped == 2)
  }

  @Test func whatDidNotArriveIsPublishedAgain() throws {
    var limits = PublishPolicy.Limits()
    limits.every = nil
    var policy = PublishPolicy(limits, at: at(0))
    let first = try policy.received(report(1), at: at(0))
    policy.publishAgain()
    let (again, same) = (try policy.received(report(1), at: at(1)), try policy.received(report(1), at: at(2)))
    #expect(first && again && !same)
  }
}

extension PublishPolicy {
  fileprivate mutating func received(_ report: RPCMessage, at now: Instant) throws -> Bool {
    received(try #require(report.concerned(ScanReport.Outline.self)), report, at: now)
  }
}
