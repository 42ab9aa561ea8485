import Testing

/// `Examples/python` against the daemon on the simulated adapter.
struct PythonExampleTests {
  /// The folder of the package, derived from the path of this file at compile time.
  private static let package = #filePath.split(separator: "/").dropLast(5).map { "/\($0)" }.joined()

  /// The package `bled` as it is in the source, and the socket.
  private static func environment(_ socket: String) -> [String: String] {
    ["BLED_SOCKET": socket, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "\(package)/python/src"]
  }

  @Test("the Python client scans, connects, reads and subscribes, without hardware (P30)", .timeLimit(.minutes(10)))
  func heartRate() throws {
    let daemon = try DaemonProcess()
    let program = try ChildProcess(
      "/usr/bin/env", ["python3", "\(Self.package)/Examples/python/heart_rate.py"],
      environment: Self.environment(daemon.socketPath), folder: daemon.folder)
    #expect(try program.exitStatus() == 0, "\(program.errors)")
    let lines = program.output.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("Found Heart Belt at -") })
    #expect(lines.contains("  180D: 2A37, 2A38"))
    #expect(lines.contains("Worn: chest."))
    #expect(lines.filter { $0.hasSuffix(" beats per minute") }.count == 5)
    #expect(lines.last == "Disconnected.")
  }

  @Test("without a daemon the Python client says so, and what to do")
  func daemonMissing() throws {
    let folder = try TemporaryFolder()
    let program = try ChildProcess(
      "/usr/bin/env", ["python3", "\(Self.package)/Examples/python/heart_rate.py"],
      environment: Self.environment("\(folder.path)/none.sock"), folder: folder)
    #expect(try program.exitStatus() == 1)
    #expect(program.errors.contains("bled is not running") && program.errors.contains("none.sock"), "\(program.errors)")
  }

  @Test("a method's own timeout goes to the daemon, which answers when it is over", .timeLimit(.minutes(10)))
  func timeout() throws {
    let daemon = try DaemonProcess()
    let text = """
      import bled, bled.sync
      with bled.sync.connect() as client:
          try:
              with client.link("C0:DE:00:00:00:99", address_type="random", timeout=1):
                  pass
          except bled.ConnectTimeout as failed:
              print(failed.domain, failed.name)
      """
    let program = try ChildProcess(
      "/usr/bin/env", ["python3", "-c", text],
      environment: Self.environment(daemon.socketPath), folder: daemon.folder)
    #expect(try program.exitStatus() == 0, "\(program.errors)")
    #expect(program.output == "gap timeout\n")
  }

  @Test("the Python client passes a thousand values over a descriptor, there and back", .timeLimit(.minutes(10)))
  func bulk() throws {
    let daemon = try DaemonProcess()
    let program = try ChildProcess(
      "/usr/bin/env", ["python3", "\(Self.package)/Examples/python/bulk.py"],
      environment: Self.environment(daemon.socketPath), folder: daemon.folder)
    #expect(try program.exitStatus() == 0, "\(program.errors)")
    let lines = program.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("1000 values of ") == true)
    #expect(lines.last == "The last one was 999.")
  }

  @Test("the Python client notifies a phone of hundreds of values over a descriptor", .timeLimit(.minutes(10)))
  func stream() throws {
    let daemon = try DaemonProcess()
    let program = try ChildProcess(
      "/usr/bin/env", ["python3", "\(Self.package)/Examples/python/stream.py"],
      environment: Self.environment(daemon.socketPath), folder: daemon.folder)
    #expect(try program.exitStatus() == 0, "\(program.errors)")
    #expect(program.output == "200 values of 182 octets went to the phone.\n")
  }

  @Test("the Python client carries octets over an L2CAP channel, by a descriptor", .timeLimit(.minutes(10)))
  func echo() throws {
    let daemon = try DaemonProcess()
    let program = try ChildProcess(
      "/usr/bin/env", ["python3", "\(Self.package)/Examples/python/l2cap_echo.py"],
      environment: Self.environment(daemon.socketPath), folder: daemon.folder)
    #expect(try program.exitStatus() == 0, "\(program.errors)")
    #expect(program.output.contains("32768 octets came back unchanged."), "\(program.output)")
  }

  @Test("without a daemon it says so in one line", .timeLimit(.minutes(10)))
  func noDaemon() throws {
    let folder = try TemporaryFolder()
    let program = try ChildProcess(
      "/usr/bin/env", ["python3", "\(Self.package)/Examples/python/heart_rate.py"],
      environment: Self.environment("\(folder.path)/none"), folder: folder)
    #expect(try program.exitStatus() == 1)
    #expect(program.errors.hasPrefix("heart_rate.py: ") && program.errors.split(separator: "\n").count == 1)
  }
}
