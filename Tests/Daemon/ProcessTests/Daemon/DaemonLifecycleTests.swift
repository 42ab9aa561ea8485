import BledRPC
import Bluetooth
import Glibc
import Testing

/// Start and end of a real daemon.
@Suite(.serialized) struct DaemonLifecycleTests {
  @Test("SIGTERM: clients are notified and the socket is removed, whoever does not read", arguments: [SIGTERM, SIGINT])
  func orderlyStop(signal: CInt) throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    let pending = try client.start(
      PeripheralConnect.self, .init(address: "C0:FF:EE:00:00:01", addressType: "random"))
    try client.call(AdvertisingStart.self, .init(name: "bled"))
    let mute = try daemon.client()
    daemon.process.send(signal: signal)
    guard case .failure(let error) = try client.finish(pending, PeripheralConnect.self) else {
      Issue.record("a connect to a device that does not exist succeeded")
      return
    }
    #expect(error.data?.name == "shuttingDown")
    try client.waitForEnd()
    #expect(try daemon.process.exitStatus() == 0)
    #expect(daemon.notification() == "STOPPING=1")
    #expect(access(daemon.socketPath, F_OK) != 0)
    mute.close()
  }

  @Test("Clients for which no descriptor is left are told so, the log says it once, and nothing else slows down")
  func openFiles() throws {
    let daemon = try DaemonProcess()
    let first = try daemon.client()
    try first.call(AdapterList.self, Empty())
    // There is room for one more.
    let second = (0..<1024).filter { access("/proc/\(daemon.process.pid)/fd/\($0)", F_OK) != 0 }[1]
    let limit = try ChildProcess(
      "/usr/bin/prlimit", ["--pid", "\(daemon.process.pid)", "--nofile=\(second):"], folder: daemon.folder)
    #expect(try limit.exitStatus() == 0)
    let last = try daemon.client()
    try last.call(AdapterList.self, Empty())
    for _ in 0..<20 {
      let refused = try daemon.client()
      let error = try refused.nextError()
      #expect(error.data?.name == "limitReached" && error.message.contains("LimitNOFILE"))
      try refused.waitForEnd()
    }
    for _ in 0..<3 { try first.call(AdapterList.self, Empty()) }
    last.close()
    try first.call(AdapterList.self, Empty())
    #expect(throws: Never.self) { try daemon.client().call(AdapterList.self, Empty()) }
    #expect(daemon.process.errors.split(separator: "\n").count { $0.contains("no more clients can be accepted") } == 1)
  }

  @Test("A client for which no descriptor is left reads why and an orderly end, also if it wrote first")
  func openFilesWritingFirst() throws {
    let daemon = try DaemonProcess()
    let first = try daemon.client()
    try first.call(AdapterList.self, Empty())
    let free = (0..<1024).first { access("/proc/\(daemon.process.pid)/fd/\($0)", F_OK) != 0 } ?? 0
    let limit = try ChildProcess(
      "/usr/bin/prlimit", ["--pid", "\(daemon.process.pid)", "--nofile=\(free):"], folder: daemon.folder)
    #expect(try limit.exitStatus() == 0)
    for _ in 0..<5 {
      // Stopped, so that the line is waiting when the daemon accepts.
      daemon.process.send(signal: SIGSTOP)
      let client = try daemon.client()
      _ = try client.start(AdapterList.self, Empty())
      daemon.process.send(signal: SIGCONT)
      let error = try client.nextError()
      #expect(error.data?.name == "limitReached" && error.message.contains("LimitNOFILE"))
      try client.waitForEnd()
    }
    try first.call(AdapterList.self, Empty())
  }

  @Test("Many SIGHUPs among calls leave the daemon able to stop")
  func manySignals() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    for round in 0..<2000 {
      daemon.process.send(signal: SIGHUP)
      if round % 4 == 0 { try client.call(AdapterList.self, Empty()) }
      // The daemon waits for room in the service manager's socket.
      daemon.skipNotifications()
    }
    daemon.process.send(signal: SIGTERM)
    #expect(try daemon.process.exitStatus() == 0)
  }

  @Test(
    "One adapter in two ways is an error that says what to leave out",
    arguments: [
      (["hci1", "all"], "leave out \"hci1\", or \"all\""),
      (["user:hci1", "hci1"], "\"hci1\" and \"user:hci1\" are the same controller: leave out one"),
    ])
  func oneAdapterTwice(_ adapters: [String], _ words: String) throws {
    let folder = try TemporaryFolder()
    let daemon = try ChildProcess("bled", adapters.flatMap { ["--adapter", $0] }, folder: folder)
    #expect(try daemon.exitStatus() == 64)
    #expect(daemon.errors.contains(words), "\(daemon.errors)")
  }

  @Test("SIGTERM, SIGINT and SIGHUP are not lost, however soon after the start they come")
  func signalsAtOnce() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/early.sock"
    // Its progress is measured by the pages that it has touched, which no other program changes.
    let all = try DaemonProcess().process.pagesTouched
    for round in 0..<90 {
      let daemon = try ChildProcess("bled", ["--adapter", "simulated", "--socket", path], folder: folder)
      while daemon.pagesTouched < all * round / 90, access(path, F_OK) != 0, !daemon.hasEnded { sched_yield() }
      if round % 3 == 2 { daemon.send(signal: SIGHUP) }
      daemon.send(signal: round % 2 == 0 ? SIGTERM : SIGINT)
      let status = try daemon.exitStatus()
      // Before its first instruction the signal ends it by default.
      #expect([0, 128 + SIGTERM, 128 + SIGINT, 128 + SIGHUP].contains(status), "\(round): \(daemon.errors)")
      #expect(access(path, F_OK) != 0, "round \(round) left its socket behind")
    }
  }

  @Test func aStaleSocketIsReplacedAndALiveOneIsNot() throws {
    let folder = try TemporaryFolder()
    try UnixSocket.leaveStale("\(folder.path)/bled.sock")
    let daemon = try DaemonProcess(folder: folder)
    let second = try ChildProcess(
      "bled", ["--adapter", "simulated", "--socket", daemon.socketPath], folder: folder)
    #expect(try second.exitStatus() != 0)
    #expect(second.errors.contains("another bled is listening on \(daemon.socketPath)"))
    _ = try daemon.client().call(AdapterList.self, Empty())
  }

  @Test func aFileThatIsNotASocketIsLeftAlone() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/precious"
    try UnixSocket.touch(path)
    let process = try ChildProcess("bled", ["--adapter", "simulated", "--socket", path], folder: folder)
    #expect(try process.exitStatus() != 0)
    #expect(process.errors.contains("is not a socket"))
    #expect(access(path, F_OK) == 0)
  }

  @Test("Clients need only the socket, which its owner and group may use (P25)")
  func theSocketIsForOwnerAndGroup() throws {
    let daemon = try DaemonProcess()
    var status = stat()
    #expect(stat(daemon.socketPath, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o660)
  }

  @Test("Socket activation: the inherited socket is served, and its file stays")
  func socketActivation() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/activated.sock"
    let descriptor = try UnixSocket.listen(path)
    defer { close(descriptor) }
    let client = try SocketClient(path)
    let call = try client.start(AdapterList.self, Empty())
    let process = try ChildProcess(
      "/bin/sh", ["-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \(ChildProcess.products)/bled --adapter simulated"],
      descriptors: [(descriptor, as: 3)], folder: folder)
    #expect(try client.finish(call, AdapterList.self).get().adapters.count == 1)
    process.send(signal: SIGTERM)
    #expect(try process.exitStatus() == 0)
    #expect(access(path, F_OK) == 0)
  }

  @Test func mistakesOnTheCommandLineSayWhatToDo() throws {
    let folder = try TemporaryFolder()
    let config = "\(folder.path)/bled.json"
    let file = try #require(fopen(config, "w"))
    fputs("{ \"adaptors\": [] }", file)
    fclose(file)
    let adapters = "\(folder.path)/adapters.json"
    try ChildProcess.write("{\n  adapters: ['simulated',\n    'wlan0'] }", to: adapters)
    for (arguments, word) in [
      (["--config", adapters], "adapters.json:3:5: adapters[1]: \"wlan0\" is not an adapter"),
      (["--adapter", "wlan0"], "give hci0"), (["--adapter", "user:1"], "such as user:hci1"),
      (["--adapter", "simulated:/nowhere"], "/nowhere"),
      (["--config", "/nowhere"], "there is no such file"), (["--config", config], "adaptors"),
      (["--socket", "bled.sock"], "--socket: give an absolute path"), (["--state-directory", ""], "--state-directory"),
      (["--socket", "/" + String(repeating: "s", count: 107)], "107 octets"),
      (["--socket", "/tmp/bled-test.sock", "--adapter", "simulated"], "other users may write to /tmp"),
      (["--log-level", "loud"], "give one of trace"), (["--frobnicate"], "frobnicate"),
      (["--ready-fd", "1"], "1 is a standard stream: give a descriptor from 3"),
      (["--ready-fd", "-1"], "--ready-fd"), (["--ready-fd", "1000000"], "descriptor 1000000 is not open"),
    ] {
      let process = try ChildProcess("bled", arguments, folder: folder)
      #expect(try process.exitStatus() != 0)
      #expect(process.errors.contains(word), "\(arguments): \(process.errors)")
    }
  }

  @Test("A program that passes a descriptor reads one line when it can connect, and then the end")
  func readyDescriptor() throws {
    let folder = try TemporaryFolder()
    var ends: [CInt] = [0, 0]
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    #expect(socketpair(AF_UNIX, type, 0, &ends) == 0)
    defer { close(ends[0]) }
    let process = try ChildProcess(
      "bled", ["--adapter", "simulated", "--socket", "\(folder.path)/bled.sock", "--ready-fd", "100"],
      descriptors: [(ends[1], as: 100)], folder: folder)
    close(ends[1])
    var text = ""
    var octets = [UInt8](repeating: 0, count: 64)
    while case let count = read(ends[0], &octets, octets.count), count > 0 {
      text += String(decoding: octets.prefix(count), as: UTF8.self)
    }
    #expect(text == "READY=1\n", "\(process.errors)")
    #expect(access("\(folder.path)/bled.sock", R_OK | W_OK) == 0)
    process.send(signal: SIGTERM)
    #expect(try process.exitStatus() == 0)
  }

  @Test("A descriptor for reading only is refused")
  func unwritableReadyDescriptor() throws {
    let folder = try TemporaryFolder()
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(null) }
    let process = try ChildProcess("bled", ["--ready-fd", "100"], descriptors: [(null, as: 100)], folder: folder)
    #expect(try process.exitStatus() != 0)
    #expect(process.errors.contains("descriptor 100 is open for reading only"), "\(process.errors)")
  }

  @Test func theBuiltInScenarioCanBePrintedAndUsed() throws {
    let folder = try TemporaryFolder()
    let printing = try ChildProcess("bled", ["--print-scenario"], folder: folder)
    #expect(try printing.exitStatus() == 0)
    let daemon = try DaemonProcess(scenario: printing.output)
    _ = try daemon.client().call(AdapterList.self, Empty())
  }

  @Test("A standard error that is not the journal's, as JOURNAL_STREAM says, has lines for people")
  func notTheJournal() throws {
    let folder = try TemporaryFolder()
    let process = try ChildProcess(
      "bled", ["--adapter", "simulated", "--socket", "\(folder.path)/none/deep/bled.sock"],
      environment: ["JOURNAL_STREAM": "1:2"], folder: folder)
    #expect(try process.exitStatus() != 0)
    #expect(!process.errors.split(separator: "\n").contains { $0.hasPrefix("<") })
    #expect(process.errors.contains(" critical "))
  }
}

extension ChildProcess {
  /// The number of pages touched for the first time (minflt of proc(5)), a measure of progress.
  fileprivate var pagesTouched: Int {
    let fields = Self.read("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 7 ? Int(fields[7]) ?? 0 : 0
  }
}
