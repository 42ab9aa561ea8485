import BledRPC
import Glibc
import Testing

/// The timeouts of `bleshell`, and its immediate errors.
@Suite(.serialized) struct BleshellTimeoutTests {
  private static let scenario = """
    { "devices": [
        { "name": "Beacon", "address": "C0:DE:00:00:02:01", "addressType": "random", "connectable": false,
          "advertising": { "name": "Beacon" } },
        { "name": "Slow", "address": "C0:DE:00:00:02:02", "addressType": "random", "connectDelay": 3,
          "responseDelay": 3, "advertising": { "name": "Slow" } },
        { "name": "Late", "address": "C0:DE:00:00:02:03", "addressType": "random", "connectDelay": 0.1,
          "responseDelay": 1.2, "advertising": { "name": "Late" } } ] }
    """

  @Test("what does not accept connections is said at once, whether it is known or not; --keep waits for it")
  func notConnectable() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let unknown = try daemon.bleshell("connect", "Beacon")
    #expect(unknown.status == 1 && unknown.errors.contains("Beacon does not accept connections"), "\(unknown.errors)")
    for name in ["Beacon", "C0:DE:00:00:02:01"] {
      let known = try daemon.bleshell("read", name, "2A00")
      #expect(known.status == 1 && known.errors.contains("\(name) does not accept connections"), "\(known.errors)")
    }
    let kept = try daemon.start(["connect", "Beacon", "--keep", "--timeout", "1"])
    #expect(try kept.exitStatus() == 1 && !kept.errors.contains("does not accept"), "\(kept.errors)")
  }

  @Test(
    "--keep waits for a device from the beginning, says so with the time, and fails if it never came",
    arguments: [["connect", "Nobody"], ["subscribe", "Nobody", "2A37"], ["subscribe", "Beacon", "2A37"]])
  func neverBegan(words: [String]) throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let run = try daemon.bleshell(arguments: words + ["--keep", "--time", "3"])
    #expect(run.status == 1, "\(run)")
    let reports = run.errors.matches(of: /bleshell: \d\d:\d\d:\d\d\.\d{3} waiting for (Nobody|Beacon)\n/)
    #expect(reports.count == 1 || run.errors.contains("does not accept connections"), "\(run.errors)")
    #expect(run.errors.contains("no connection to \(words[1]) within 3 s"), "\(run.errors)")
    let limited = try daemon.bleshell(arguments: words + ["--keep", "--timeout", "1"])
    #expect(limited.status == 1, "\(limited)")
  }

  @Test("Ctrl-C is the regular end of --keep, also before the device has come", arguments: ["connect", "subscribe"])
  func interruptedWait(command: String) throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let kept = try daemon.start([command, "Nobody"] + (command == "subscribe" ? ["2A37"] : []) + ["--keep"])
    try eventually("it waits") { kept.errors.contains("waiting for") || kept.hasEnded }
    kept.send(signal: SIGINT)
    #expect(try kept.exitStatus() == 0, "\(kept.errors)")
  }

  @Test("--keep outlasts the daemon", arguments: [["connect", "Belt"], ["subscribe", "Belt", "2A37"]])
  func keepsOverTheDaemon(words: [String]) throws {
    let scenario = """
      { devices: [{ name: "Belt", address: "C0:DE:00:00:00:31", addressType: "random", advertising: { name: "Belt" },
        services: [{ uuid: "180D", characteristics: [
          { uuid: "2A37", properties: ["notify"], notifyEvery: 0.2, value: "0648" }] }] }] }
      """
    let folder = try TemporaryFolder()
    var daemon: DaemonProcess? = try DaemonProcess(scenario: scenario, folder: folder)
    let kept = try #require(try daemon?.start(words + ["--keep"]))
    try eventually("the first line") { kept.output.contains("\n") }
    daemon?.process.send(signal: SIGTERM)
    #expect(try daemon?.process.exitStatus() == 0)
    try eventually("the loss is told") { kept.errors.contains("; trying again") }
    let before = kept.output.count
    daemon = try DaemonProcess(scenario: scenario, folder: folder)
    try eventually("it is back") { kept.output.count > before }
    kept.send(signal: SIGINT)
    #expect(try kept.exitStatus() == 0, "\(kept.errors)")
    if words[0] == "subscribe" { #expect(kept.errors.contains(" connected to Belt\n"), "\(kept.errors)") }
  }

  @Test("sync without a train is a failure")
  func noTrain() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    for device in ["Late", "Nobody"] {
      let run = try daemon.bleshell("sync", device, "--time", "1")
      #expect(run.status == 1 && run.errors.contains("no periodic advertising of \(device)"), "\(run)")
    }
  }

  @Test(
    "--timeout is one time for looking, connecting and all that follows",
    arguments: [
      ["connect", "Slow"], ["subscribe", "Slow", "2A05"], ["pair", "Slow"], ["l2cap", "open", "Slow", "128"],
      // The connection is up in time, but the rest is not.
      ["services", "Late"], ["subscribe", "Late", "2A05"],
    ])
  func deadline(words: [String]) throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let run = try daemon.bleshell(arguments: words + ["--timeout", "2"])
    #expect(run.status == 1 && run.errors.contains("within"), "\(run)")
  }

  @Test("tables have names in full where they are not printed on a terminal")
  func tables() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { "devices": [{ "name": "A device with a rather long name", "address": "C0:DE:00:00:02:01",
          "addressType": "random", "advertising": { "name": "A device with a rather" } }] }
        """)
    let run = try daemon.bleshell(
      input: "connect 'A device'\nperipherals\nsessions\nadvertise --name x\nsessions\n")
    #expect(run.status == 0, "\(run.errors)")
    let rows = run.lines.filter { $0.hasPrefix("A device with a rather") }
    #expect(rows.count == 1 && rows.allSatisfy { $0.hasSuffix(daemon.adapter(0)) }, "\(run.output)")
    #expect(run.output.contains("connected, current"))
    let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("; connected: A device with a rather"), "\(run.output)")
  }
}
