import BledRPC
import Testing

/// `bleshell run`: files with commands, for tests of devices.
@Suite(.serialized) struct BleshellRunTests {
  private static let echo = "B1ED0002-5EED-4B1E-8D00-000000000000"

  private func run(_ daemon: DaemonProcess, _ script: String) throws -> BleshellRun {
    let path = "\(daemon.folder.path)/script"
    try ChildProcess.write(script, to: path)
    return try daemon.bleshell("run", path)
  }

  @Test("what is expected happens: status 0, and each value is printed")
  func met() throws {
    let daemon = try DaemonProcess()
    let run = try run(
      daemon,
      """
      expect device "Heart Belt" within 600
      connect "Heart Belt"
      expect notification 2A37 within 600
      expect notification "heart rate m" within 600
      connect Echo      # a second device
      listen \(Self.echo)
      write \(Self.echo) 48656c6c6f
      expect notification \(Self.echo) 48656c6c6f within 600
      disconnect
      """)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.count { $0.contains(" bpm") } == 2 && run.output.contains("\"Hello\""), "\(run.output)")
  }

  @Test("it ends at the first line that fails, and the status says how")
  func unmet() throws {
    let daemon = try DaemonProcess()
    for (line, status, words) in [
      ("expect notification \(Self.echo) within 0.5", Int32(2), "not within 0.5 s: notification"),
      ("expect disconnected within 0.2", 2, "not within 0.2 s"), ("expect device Nobody within 0.5", 2, "Nobody"),
      ("expect nothing", 64, "within SECONDS"), ("raed 2A37", 64, "did you mean read?"),
      ("read 2A37", 1, "no characteristic 2A37"),
    ] {
      let run = try run(daemon, "connect Echo\n\(line)\nadapters\n")
      #expect(run.status == status && run.errors.contains(words), "\(line): \(run.status) \(run.errors)")
      #expect(run.errors.contains("script:2 failed: \(line)") && !run.output.contains("ADAPTER"))
    }
    let path = "\(daemon.folder.path)/script"
    #expect(try self.run(daemon, "run \(path)\n").errors.contains("files that run each other"))
    #expect(try daemon.bleshell("run", "\(daemon.folder.path)/none").errors.contains("cannot be read"))
  }

  @Test("a disconnection can be expected")
  func disconnected() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { "devices": [ { "name": "Shy", "address": "C0:DE:00:00:00:09", "addressType": "random", "disconnectAfter": 1,
            "advertising": { "name": "Shy" } } ] }
        """)
    let run = try run(daemon, "connect Shy\nexpect disconnected within 600\nexpect disconnected within 600\n")
    #expect(run.status == 1 && run.errors.contains("script:3 failed: expect disconnected"), "\(run.errors)")
    #expect(run.errors.contains("no device is connected"), "\(run.errors)")
  }

  @Test("a disconnection counts, also when another device disconnected after it")
  func bothDisconnected() throws {
    let daemon = try DaemonProcess()
    // An answer of the daemon follows the events before it.
    let run = try run(
      daemon,
      """
      connect Echo
      connect "Heart Belt"
      simulation disconnect "Heart Belt"
      adapters
      simulation disconnect Echo
      adapters
      expect disconnected within 600
      """)
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test("a disconnection is not met where nothing was connected, or the script itself disconnected")
  func notDisconnected() throws {
    let daemon = try DaemonProcess()
    for script in ["", "connect Echo\ndisconnect\n"] {
      let run = try run(daemon, script + "expect disconnected within 600\n")
      #expect(run.status == 1 && run.errors.contains("no device is connected: connect first"), "\(run.errors)")
    }
  }
}
