import BledRPC
import Bluetooth
import Glibc
import TestSupport
import Testing

/// The log of a real daemon: programs that flood it, and programs that do not read it.
@Suite(.serialized) struct DaemonLogTests {
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
    #expect(try flood.exitStatus() == 0, "\(flood.errors)")
    _ = try client.call(AdapterList.self, Empty())
    try eventually("the refusals are told") { daemon.process.errors.contains("a session was refused") }
    daemon.process.send(signal: SIGTERM)
    #expect(try daemon.process.exitStatus() == 0)
    let lines = daemon.process.errors.split(separator: "\n").filter { $0.contains("a session was refused") }
    #expect((2...60).contains(lines.count), "\(lines.count)")
    #expect(lines.contains { $0.contains("(repeated ") }, "\(lines)")
  }

  @Test("A standard error that is the journal's gets entries with fields", .timeLimit(.minutes(10)))
  func journal() throws {
    let folder = try TemporaryFolder()
    let journal = try UnixSocket.bindDatagram("\(folder.path)/journal")
    var ends: [CInt] = [-1, -1]
    #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    defer { for descriptor in ends + [journal] { close(descriptor) } }
    var status = stat()
    fstat(ends[1], &status)
    let socket = "\(folder.path)/bled.sock"
    let process = try ChildProcess(
      "bled", ["--adapter", "simulated", "--socket", socket, "--log-level", "info"],
      environment: [
        "JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)", "BLED_JOURNAL_SOCKET": "\(folder.path)/journal",
      ], descriptors: [(ends[1], as: 2)], folder: folder)
    var entries: [[String: [String]]] = []
    /// The fields of the first entry whose message contains a text.
    func entry(with text: String) throws -> [String: [String]] {
      while true {
        if let entry = entries.first(where: { $0["MESSAGE"]?[0].contains(text) == true }) { return entry }
        try #require(Patience.wait(for: journal), "there is no entry with \(text)")
        var octets = [UInt8](repeating: 0, count: 65_536)
        let count = recv(journal, &octets, octets.count, 0)
        let lines = String(decoding: octets[..<max(0, count)], as: UTF8.self).split(separator: "\n")
        let fields = lines.compactMap { line -> (String, [String])? in
          let parts = line.split(separator: "=", maxSplits: 1)
          return parts.count == 2 ? (String(parts[0]), [String(parts[1])]) : nil
        }
        entries.append(Dictionary(fields, uniquingKeysWith: +))
      }
    }
    let on = try entry(with: "adapter simulated is on")
    #expect(on["ADAPTER"] == ["simulated"] && on["PRIORITY"] == ["6"] && on["SYSLOG_IDENTIFIER"] == ["bled"])
    #expect(on["SESSION"] == nil && on["PERIPHERAL"] == nil)
    _ = try entry(with: "is ready")
    let client = try SocketClient(socket)
    let id = try client.call(
      PeripheralConnect.self, .init(address: "C0:DE:00:00:00:01", addressType: "random", timeout: 300)
    ).peripheral
    let write = GATTWrite.Params(peripheral: id, handle: 0xFFF0, value: HexBytes([1]), response: false)
    #expect(try SocketClient(socket).error(GATTWrite.self, write) != nil, "another session is not connected")
    let refused = try entry(with: "a write without response of session 2")
    #expect(refused["SESSION"] == ["2"] && refused["PRIORITY"] == ["4"] && refused["ADAPTER"] == ["simulated"])
    #expect(refused["PERIPHERAL"] == [id, "C0:DE:00:00:00:01"])
    process.send(signal: SIGTERM)
    #expect(try process.exitStatus() == 0)
    var octets = [UInt8](repeating: 0, count: 1000)
    let text = String(decoding: octets[..<max(0, recv(ends[0], &octets, 1000, CInt(MSG_DONTWAIT)))], as: UTF8.self)
    #expect(text == "", "all went to the journal")
  }
}
