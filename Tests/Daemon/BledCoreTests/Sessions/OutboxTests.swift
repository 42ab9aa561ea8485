import FoundationEssentials
import Testing

@testable import BledCore

/// Rule 6: the behaviour at each bound of a client's queue.
@Suite struct OutboxTests {
  private static let limits = {
    var limits = Outbox.Limits()
    (limits.coalescing, limits.reports, limits.values, limits.everything) = (100, 200, 300, 400)
    return limits
  }()
  private var outbox = Outbox(limits: limits)

  private func line(_ letter: Character, _ count: Int = 50) -> Data {
    Data(String(repeating: letter, count: count).utf8)
  }

  @Test mutating func linesLeaveInOrderAsManyAsFit() {
    for letter in "abcd" { #expect(outbox.append(line(letter, 10), as: .event) == .queued) }
    #expect(outbox.remove(upTo: 35).lines == [line("a", 10), line("b", 10), line("c", 10)])
    #expect(outbox.remove(upTo: 1).lines == [line("d", 10)], "one line leaves whatever its length")
    #expect(outbox.isEmpty && outbox.waiting == 0)
  }

  @Test mutating func aReportReplacesTheOlderOneOfItsDeviceOnlyWhenTheClientLagsBehind() {
    #expect(outbox.append(line("a"), as: .report(device: 1)) == .queued)
    #expect(outbox.append(line("b"), as: .report(device: 1)) == .queued)
    #expect(outbox.append(line("c"), as: .report(device: 1)) == .queued)
    #expect(outbox.append(line("d", 20), as: .report(device: 1)) == .coalesced)
    #expect(outbox.coalescedReports == 1)
    #expect(outbox.remove(upTo: 1000).lines == [line("a"), line("b"), line("d", 20)])
    #expect(outbox.append(line("e"), as: .report(device: 1)) == .queued)
  }

  @Test mutating func reportsAreDroppedAndCountedAtTheirBound() {
    for device in 0..<4 { #expect(outbox.append(line("a"), as: .report(device: device)) == .queued) }
    #expect(outbox.append(line("b"), as: .report(device: 9)) == .dropped)
    #expect(outbox.droppedReports == 1)
    #expect(outbox.isCongested)
    #expect(outbox.append(line("c"), as: .report(device: 3)) == .coalesced, "a device that waits is kept up to date")
  }

  @Test mutating func valuesAreRefusedWhereEventsStillHaveRoom() {
    for _ in 0..<6 { #expect(outbox.append(line("v"), as: .value) == .queued) }
    #expect(outbox.append(line("v"), as: .value) == .refused)
    #expect(outbox.refusedValues == 1)
    #expect(outbox.append(line("e"), as: .event) == .queued)
    #expect(outbox.append(line("e"), as: .event) == .queued)
    #expect(outbox.append(line("e"), as: .event) == .overflow)
    #expect(outbox.waiting == 400)
  }
}
