import Testing

@testable import ESPHome

/// The one line about two connections.
@Suite struct ProxyReportTests {
  private let ready = Self.line(false, "ready")
  private let lost = Self.line(true, "lost")
  private let connected = Self.line(false, "connected")
  private let refused = Self.line(true, "refused")

  private static func line(_ isProblem: Bool, _ text: String) -> ProxyReport.Line {
    ProxyReport.Line(isProblem: isProblem, text)
  }

  @Test func theWorseIsReported() {
    var report = ProxyReport()
    #expect(report.line == nil)
    report.bled = ready
    #expect(report.line == ready)
    report.homeAssistant = refused
    #expect(report.line == refused)
    report.bled = lost
    #expect(report.line == lost)
    report.homeAssistant = connected
    #expect(report.line == lost)
    report.bled = ready
    #expect(report.line == connected)
    // bled is back, and the problem of Home Assistant is still there.
    (report.bled, report.homeAssistant) = (lost, refused)
    report.bled = ready
    #expect(report.line == refused)
  }
}
