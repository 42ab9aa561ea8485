import BledRPC
import Glibc
import Testing

/// How long `bleshell` waits, and what it says at once.
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
    "--timeout is one time for looking, connecting and all that follows",
    arguments: [
      ["connect", "Slow"], ["subscribe", "Slow", "2A05"], ["pair", "Slow"], ["l2cap", "open", "Slow", "128"],
      // The connection is up in time, but not what follows.
      ["services", "Late"], ["subscribe", "Late", "2A05"],
    ])
  func deadline(words: [String]) throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let run = try daemon.bleshell(arguments: words + ["--timeout", "2"])
    #expect(run.status == 1 && run.errors.contains("within"), "\(run)")
  }

  @Test("tables fit 80 columns, also with long names")
  func tables() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { "devices": [{ "name": "A device with a rather long name", "address": "C0:DE:00:00:02:01",
          "addressType": "random", "advertising": { "name": "A device with a rather" } }] }
        """)
    let run = try daemon.bleshell(
      input: "connect 'A device'\nperipherals\nsessions\nadvertise --name x\nsessions\n")
    #expect(run.status == 0, "\(run.errors)")
    let wide = run.lines.filter { $0.count > 80 && !$0.hasPrefix("connected to") }
    #expect(wide.isEmpty, "\(wide)")
    #expect(run.output.contains("A device with a…") || run.output.contains("A device with"), "\(run.output)")
    #expect(run.output.contains("connected, current"))
    let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("; connected: A device with a rather"), "\(run.output)")
  }
}
