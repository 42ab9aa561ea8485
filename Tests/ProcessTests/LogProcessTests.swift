import BledRPC
import Bluetooth
import Glibc
import Testing

/// The log of a real daemon: who floods it, and who does not read it.
@Suite(.serialized) struct LogProcessTests {
  @Test("A standard error that nobody reads does not stop the daemon", .timeLimit(.minutes(10)))
  func nobodyReads() throws {
    var ends: [CInt] = [-1, -1]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let folder = try TemporaryFolder()
    let socket = "\(folder.path)/bled.sock"
    let process = try ChildProcess(
      "bled", ["--adapter", "simulated", "--socket", socket, "--log-level", "trace"],
      descriptors: [(ends[1], as: 2)], folder: folder)
    try eventually("the daemon listens") { access(socket, F_OK) == 0 && (try? SocketClient(socket)) != nil }
    // Two lines for each, where a pipe has room for a thousand.
    for _ in 0..<3000 { try SocketClient(socket).close() }
    _ = try SocketClient(socket).call(AdapterList.self, Empty())
    process.send(signal: SIGTERM)
    #expect(try process.exitStatus() == 0)
  }

  /// Root always gets a session.
  @Test(
    "Thousands of refused sessions are a few lines, and how many there were is told",
    .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0, "needs root and setpriv"),
    .timeLimit(.minutes(10)))
  func refusedSessions() throws {
    let daemon = try DaemonProcess(
      configuration: "{ limits: { sessions: 1 }, socket: { mode: '0666' } }", arguments: ["--log-level", "info"])
    chmod(daemon.folder.path, 0o755)
    let client = try daemon.client()
    _ = try client.call(AdapterList.self, Empty())
    let connect = """
      import socket, sys
      for _ in range(5000):
          with socket.socket(socket.AF_UNIX) as client:
              client.connect(sys.argv[1])
      """
    let flood = try ChildProcess(
      "/usr/bin/setpriv",
      ["--reuid", "54321", "--regid", "54321", "--clear-groups", "/usr/bin/python3", "-c", connect, daemon.socketPath],
      folder: daemon.folder)
    #expect(try flood.exitStatus(within: 60) == 0, "\(flood.errors)")
    _ = try client.call(AdapterList.self, Empty())
    try eventually("the refusals are told") { daemon.process.errors.contains("a session was refused") }
    daemon.process.send(signal: SIGTERM)
    #expect(try daemon.process.exitStatus() == 0)
    let lines = daemon.process.errors.split(separator: "\n").filter { $0.contains("a session was refused") }
    #expect((2...60).contains(lines.count), "\(lines.count)")
    #expect(lines.contains { $0.contains("(repeated ") }, "\(lines)")
  }
}
