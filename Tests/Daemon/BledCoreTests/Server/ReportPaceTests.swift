import BledRPC
import FoundationEssentials
import TestSupport
import Testing

@testable import BledCore

/// Reports that wait for others, `ReportPace`, and the lines that do not wait.
@Suite struct ReportPaceTests {
  /// Records the times of notifications that lines wait.
  private final class Transport: SessionTransport {
    enum Wait { case lines, reports }
    var waits: [Wait] = []
    func linesWait() { waits.append(.lines) }
    func reportsWait() { waits.append(.reports) }
    func setReading(_: Bool) {}
    func close() {}
  }

  private static let line = Data("{}\n".utf8)

  @Test("The first report is due at once, the next ones together 20 ms after it, and one after a pause at once")
  func pace() {
    var pace = ReportPace()
    #expect(pace.due(at: 5) == nil)
    pace.wrote(at: 5)
    #expect(pace.due(at: 6) == 20_000_005)
    #expect(pace.due(at: 20_000_004) == 20_000_005)
    #expect(pace.due(at: 20_000_005) == nil)
    pace.wrote(at: 20_000_005)
    #expect(pace.due(at: 20_000_006) == 40_000_005)
  }

  @Test("Reports wait together; another line takes them along, and is the only one that is told then")
  func otherLines() throws {
    let world = World()
    let transport = Transport()
    let connection = world.daemon.open(transport, credentials: nil)
    let session = try #require(world.daemon.sessions.last)
    _ = connection.removeLines()
    transport.waits = []

    session.send(Self.line, as: .report(device: 1))
    session.send(Self.line, as: .report(device: 2))
    #expect(transport.waits == [.reports])
    session.send(Self.line, as: .event)
    session.send(Self.line, as: .value)
    session.send(Self.line, as: .report(device: 1))
    #expect(transport.waits == [.reports, .lines])
    #expect(connection.removeLines().lines.count == 5)
    session.send(Self.line, as: .value)
    session.send(Self.line, as: .report(device: 1))
    #expect(transport.waits == [.reports, .lines, .lines])
  }

  @Test("a report that waits is written although nothing follows it")
  func alone() throws {
    let wire = try Wire()
    let end = Patience.end
    for device in 1...2 {
      wire.session.send(Self.line, as: .report(device: device))
      // Real time: it ends the wait for events that never occur.
      while !wire.isReadable, ContinuousClock.now < end { try wire.loop.poll() }
      #expect(try wire.read().text == "{}\n")
    }
  }
}
