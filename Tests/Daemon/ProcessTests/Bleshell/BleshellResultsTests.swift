import Testing

/// The lines of a file for `run` as results of the Test Anything Protocol.
@Suite(.serialized) struct BleshellResultsTests {
  /// The value of FFF2 is the text "Bail out!".
  private static let scenario = """
    { devices: [ {
        name: "Unit", address: "C0:DE:00:00:00:67", addressType: "random", advertising: { name: "Unit" },
        services: [ { uuid: "FFF0", characteristics: [
          { uuid: "FFF1", value: "01", properties: ["read"] },
          { uuid: "FFF2", value: "4261696c206f757421", properties: ["read"] } ] } ] } ] }
    """

  /// Runs lines, each a command.
  private func run(_ lines: String...) throws -> BleshellRun {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let script = "\(daemon.folder.path)/script"
    try ChildProcess.write(lines.joined(separator: "\n") + "\n", to: script)
    return try daemon.bleshell("run", script, "--tap")
  }

  private func results(_ run: BleshellRun) -> [String] { run.lines.filter { !$0.hasPrefix("# ") } }

  @Test("a line that fails has its message, and the lines behind it are skipped")
  func failure() throws {
    let run = try run("# a test", "connect Unit", "expect value FFF1 07 within 0.5", "rssi")
    #expect(run.status == 2, "\(run.errors)")
    #expect(
      results(run) == [
        "TAP version 13", "ok 1 - 2: connect Unit", "not ok 2 - 3: expect value FFF1 07 within 0.5",
        "ok 3 - 4: rssi # SKIP a line before it has failed", "1..3",
      ], "\(run.output)")
    #expect(run.lines.contains("# not within 0.5 s: value FFF1 07; it was 01"), "\(run.output)")
  }

  @Test("quit ends the results, and the lines behind it are not counted")
  func quit() throws {
    let run = try run("connect Unit", "quit", "rssi")
    #expect(run.status == 0, "\(run.errors)")
    #expect(results(run) == ["TAP version 13", "ok 1 - 1: connect Unit", "1..1"], "\(run.output)")
  }

  @Test("what commands print is a comment, also a value that looks like a result")
  func comments() throws {
    let run = try run(
      "connect Unit", "read FFF2 --value text", "read FFF2 --value raw", "read FFF2 --json", "help read", "adapters")
    #expect(run.status == 0, "\(run.errors)")
    #expect(results(run).count == 8 && results(run).last == "1..6", "\(run.output)")
    #expect(run.lines.count { $0 == "# Bail out!" } == 2, "\(run.output)")
    #expect(run.lines.contains { $0.hasPrefix("# {") } && run.lines.contains { $0.hasPrefix("# USAGE") })
  }

  @Test("octets that cannot be comments are refused")
  func octets() throws {
    let run = try run("capture - --format btsnoop")
    #expect(run.status == 64 && results(run).last == "1..1", "\(run.errors)")
    #expect(run.lines.contains { $0.hasPrefix("# standard output has the results of run --tap") }, "\(run.output)")
  }
}
