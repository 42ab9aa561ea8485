import BledRPC
import Testing

@testable import bleshell

/// The finding of doctor about the daemon's build.
@Suite struct DoctorCommandTests {
  private func finding(_ daemon: String, _ commit: String?, own: String?) -> (text: String, isNote: Bool) {
    let session = SessionOpen.Result(session: 1, daemon: daemon, commit: commit, protocol: 1, adapters: [])
    let finding = DoctorCommand.version(session, commit: own)
    return (finding.message, finding.remedy != nil)
  }

  @Test("a daemon of the same build, or of a build without a commit, is as it should be")
  func same() {
    let daemon = "bled \(Release.version)"
    #expect(finding(daemon, "0d8a", own: "0d8a") == ("\(daemon) (commit 0d8a) answers", false))
    #expect(finding(daemon, nil, own: "0d8a") == ("\(daemon) answers", false))
    #expect(finding(daemon, "0d8a", own: nil) == ("\(daemon) (commit 0d8a) answers", false))
  }

  @Test("a daemon of another release or commit was not restarted after an update")
  func other() {
    let daemon = "bled \(Release.version)"
    #expect(
      finding(daemon, "0d8a", own: "1111")
        == ("\(daemon) (commit 0d8a) answers; this bleshell is \(Release.version) (commit 1111).", true))
    #expect(
      finding("bled 0.0.1", nil, own: nil) == ("bled 0.0.1 answers; this bleshell is \(Release.version).", true))
  }

  @Test("a user learns which permissions the daemon grants, and which of the ordinary ones are missing")
  func permissions() {
    func findings(_ permissions: [Permission]) -> [String] {
      let session = SessionOpen.Result(
        session: 1, daemon: "bled", protocol: 1, adapters: [], permissions: permissions.words())
      return DoctorCommand.permissions(of: session).map { "\($0.verdict) \($0.message)" }
    }
    #expect(findings(Permission.allCases) == [])
    let ordinary: [Permission] = [.scan, .connect, .serve, .advertise, .pair]
    #expect(findings(ordinary) == ["ok permits you scan, connect, serve, advertise, pair"])
    #expect(findings([.scan]) == ["note The daemon permits you scan, not connect, serve, advertise, pair."])
    #expect(findings([]) == ["problem The daemon permits you nothing."])
  }

  @Test("the problem of an adapter names it once")
  func problemName() {
    func message(_ problem: String) -> String {
      let adapter = AdapterDescription(
        adapter: "h4:/dev/x", kind: "host", address: nil, addressType: nil, name: "", state: "absent",
        problem: .init(kind: "hardware", message: problem, remedy: "plug it in"), scanning: false, advertising: 0,
        links: 0)
      return DoctorCommand.finding(adapter).message
    }
    #expect(message("h4:/dev/x cannot be opened: No such file") == "h4:/dev/x cannot be opened: No such file")
    #expect(message("it does not answer") == "h4:/dev/x: it does not answer")
  }

  @Test("faults of a controller are notes with their reason, and the day on which they were learned")
  func quirks() {
    let adapter = AdapterDescription(
      adapter: "hci0", kind: "kernel", address: nil, addressType: nil, name: "", state: "on", problem: nil,
      scanning: false, advertising: 0, links: 0,
      quirks: [
        .init(quirk: "extendedScanning", reason: "it hears nothing"),
        .init(quirk: "silence", reason: "it fell silent", learned: 1_795_800_000),
        .init(quirk: "x", reason: "y", learned: 1e300),
      ])
    let findings = DoctorCommand.quirks(of: adapter)
    #expect(
      findings.map(\.message) == [
        "hci0: it hears nothing", "hci0: it fell silent; learned on 2026-11-27",
        "hci0: y; learned on an unknown day",
      ])
  }
}
