import BledRPC
import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// `bleshell capture` and `bleshell log`, and the output of programs with which people read recordings.
@Suite(.serialized) struct BleshellCaptureTests {
  /// Records one connection in which a value is read by its handle: btmon 5.66 crashes at the discovery of
  /// characteristics, also in recordings of its own.
  private func record(_ daemon: DaemonProcess, _ file: String) throws {
    let capture = try daemon.start(["capture", file])
    try eventually("it records") { access(file, F_OK) == 0 }
    let client = try daemon.client()
    let link = try client.call(PeripheralConnect.self, .init(name: "Heart Belt", timeout: 300))
    let read = try client.call(GATTRead.self, .init(peripheral: link.peripheral, attribute: .handle(0x11)))
    #expect(read.value == HexBytes([1]))
    _ = try client.call(PeripheralDisconnect.self, .init(peripheral: link.peripheral))
    try eventually("the link ends") { try client.call(AdapterList.self, Empty()).adapters.first?.links == 0 }
    kill(capture.pid, SIGINT)
    #expect(try capture.exitStatus() == 0, "\(capture.errors)")
    #expect(capture.errors.contains("packets recorded"), "\(capture.errors)")
  }

  private static func isInstalled(_ program: String) -> Bool { access("/usr/bin/\(program)", X_OK) == 0 }

  @Test("tshark shows names, opcodes, handles and values, and who called", .enabled(if: isInstalled("tshark")))
  func tshark() throws {
    let daemon = try DaemonProcess()
    let file = "\(daemon.folder.path)/a.pcapng"
    try record(daemon, file)
    let process = try ChildProcess(
      "/usr/bin/tshark",
      [
        "-r", file, "-T", "fields", "-e", "btatt.opcode", "-e", "btatt.handle", "-e", "bthci_acl.src.name", "-e",
        "btatt.value", "-e", "frame.comment",
      ], environment: [:], folder: daemon.folder)
    #expect(try process.exitStatus() == 0, "\(process.errors)")
    let lines = process.output.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("0x0a\t0x0011") }, "\(process.output)")
    #expect(lines.contains("0x0b\t0x0011\tHeart Belt\t01\t"), "\(process.output)")
    #expect(lines.contains { $0.contains("user \(getuid())): gatt.read") && $0.hasSuffix("handle 0x0011") })
  }

  @Test("btmon shows names, opcodes, handles and values, and who called", .enabled(if: isInstalled("btmon")))
  func btmon() throws {
    let daemon = try DaemonProcess()
    let file = "\(daemon.folder.path)/a.btsnoop"
    try record(daemon, file)
    let process = try ChildProcess("/usr/bin/btmon", ["-r", file], environment: [:], folder: daemon.folder)
    #expect(try process.exitStatus() == 0, "\(process.errors)")
    for text in [
      "Name (complete): Heart Belt",
      TestAir.isVirtual ? "LE Enhanced Connection Complete (0x0a)" : "LE Connection Complete (0x01)",
      "ATT: Read Request (0x0a) len 2",
      "Handle: 0x0011", "ATT: Read Response (0x0b) len 1", "Value: 01", "peripheral.connect",
      "Disconnect Complete (0x05)",
    ] {
      #expect(process.output.contains(text), "no \(text) in \(process.output.suffix(3000))")
    }
  }

  @Test("bleshell log says who connected, what was read, and its value")
  func log() throws {
    let daemon = try DaemonProcess()
    let log = try daemon.start(["log"])
    let watch = try daemon.client()
    try eventually("it records") { try watch.call(SessionList.self, .init()).sessions.count > 1 }
    try eventually("a read is shown") {
      _ = try daemon.bleshell("read", "Heart Belt", "2A38")
      return log.output.contains("← Read Response")
    }
    kill(log.pid, SIGINT)
    #expect(try log.exitStatus() == 0, "\(log.errors)")
    let lines = log.output.split(separator: "\n")
    #expect(lines.contains { $0.contains("Heart Belt  connected as central") }, "\(log.output)")
    #expect(
      lines.contains {
        $0.contains("Heart Belt  ← Read Response  0x") && $0.hasSuffix("Body Sensor Location (2A38)  01  chest")
      }, "\(log.output)")
    let user = String(cString: try #require(getpwuid(getuid())).pointee.pw_name)
    #expect(lines.contains { $0.contains("bleshell, \(user)): peripheral.connect") }, "\(log.output)")
    #expect(lines.contains { $0.contains("gatt.read") && $0.contains("(\"Heart Belt\", C0:DE:00:00:00:01)") })
    let adapter = try #require(try watch.call(AdapterList.self, .init()).adapters.first).adapter
    #expect(lines.contains { $0.contains("  \(adapter)  the adapter") }, "\(log.output)")
  }

  @Test("a log of one device waits for it, and has the calls for it and no others, with the user's names and formats")
  func following() throws {
    let daemon = try DaemonProcess()
    #expect(try daemon.bleshell("name", "2A38", "Place", "--as", "enum8(other|breast)").status == 0)
    let unknown = try daemon.bleshell("log", "Heart Belt", "--time", "1")
    #expect(unknown.status == 1 && unknown.errors.contains("does not know the device"), "\(unknown.errors)")
    let log = try daemon.start(["log", "--follow", "Heart Belt"])
    let watch = try daemon.client()
    try eventually("it records") { try watch.call(SessionList.self, .init()).sessions.count > 1 }
    try eventually("a read is shown") {
      _ = try daemon.bleshell("read", "Echo", "B1ED0002")
      _ = try daemon.bleshell("read", "Heart Belt", "2A38")
      return log.output.contains("Place (2A38)  01  breast")
    }
    kill(log.pid, SIGINT)
    #expect(try log.exitStatus() == 0, "\(log.errors)")
    let lines = log.output.split(separator: "\n")
    #expect(lines.contains { $0.contains(": gatt.read ") && $0.contains("Heart Belt") }, "\(log.output)")
    #expect(lines.allSatisfy { $0.contains("Heart Belt") }, "\(log.output)")
  }

  @Test("an attribute has the name and the format that the device gives it, once they were read")
  func describedAttributes() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [{ name: "Custom", address: "C0:DE:00:00:00:66", addressType: "random",
            advertising: { name: "Custom" },
            services: [{ uuid: "6F3C0001-0000-4000-8000-000000000000", characteristics: [
              { uuid: "6F3C0002-0000-4000-8000-000000000000", value: "4900", properties: ["read"], descriptors: [
                { uuid: "2901", text: "Torque" }, { uuid: "2904", value: "0effad27010000" }] }] }] }] }
        """)
    let file = "\(daemon.folder.path)/d.pcapng"
    let capture = try daemon.start(["capture", file])
    try eventually("it records") { access(file, F_OK) == 0 }
    #expect(try daemon.bleshell("read", "Custom", "Torque").status == 0)
    kill(capture.pid, SIGINT)
    #expect(try capture.exitStatus() == 0, "\(capture.errors)")
    let log = try daemon.bleshell("log", file, "Custom")
    let lines = log.lines.filter { $0.contains("← Read Response") }
    #expect(
      lines.last?.hasSuffix("Torque (6F3C0002-0000-4000-8000-000000000000)  4900  7.3 %") == true, "\(log.output)")
  }

  @Test("a recording of one device has the calls for it, and the attributes that bled knew")
  func recordedCalls() throws {
    let daemon = try DaemonProcess()
    let link = try daemon.start(["connect", "Heart Belt", "--time", "600"])
    try eventually("it is connected") { link.output.contains("connected to") }
    let client = try daemon.client()
    let belt = try #require(try client.call(PeripheralList.self, .init()).peripherals.first { $0.name == "Heart Belt" })
    _ = try client.call(PeripheralConnect.self, .init(peripheral: belt.peripheral, timeout: 300))
    _ = try client.call(GATTDiscover.self, .init(peripheral: belt.peripheral))
    let file = "\(daemon.folder.path)/b.pcapng"
    let capture = try daemon.start(["capture", file])
    try eventually("it records") { access(file, F_OK) == 0 }
    _ = try client.call(AdapterList.self, .init())
    _ = try client.call(GATTRead.self, .init(peripheral: belt.peripheral, attribute: .handle(0x11)))
    kill(capture.pid, SIGINT)
    #expect(try capture.exitStatus() == 0, "\(capture.errors)")
    let log = try daemon.bleshell("log", file, "c0-de-00-00-00-01")
    #expect(log.status == 0, "\(log.errors)")
    #expect(log.output.contains("Body Sensor Location (2A38)  01  chest"), "\(log.output)")
    #expect(log.lines.contains { $0.contains("gatt.read") && $0.contains("handle 0x0011") }, "\(log.output)")
    #expect(!log.output.contains("adapter.list"))
    // The recording has its name in the notes of calls alone.
    let named = try daemon.bleshell("log", file, "Heart Belt")
    #expect(named.output == log.output && log.output.contains("Heart Belt  →"), "\(named.errors)\(named.output)")
  }

  /// The recording of a separate daemon with a stopped clock: a scan, a connection, discovery, a subscription, a device
  /// that goes out of range.
  private func recording() throws -> Data {
    let daemon = try DaemonProcess(
      scenario: """
        { clock: "manual", seed: 5, devices: [{ name: "Belt", address: "C0:DE:00:00:00:01", addressType: "random",
            advertising: { name: "Belt" }, rssi: { base: -60, noise: 5 }, losses: { report: 0.2 }, connectDelay: [0, 1],
            services: [{ uuid: "180D", characteristics: [{ uuid: "2A37", properties: ["notify"], notifyEvery: 0.5,
              rule: { kind: "randomWalk", minimum: 0, maximum: 255, step: 20 } }] }] }] }
        """)
    let file = "\(daemon.folder.path)/a.btsnoop"
    let capture = try daemon.start(["capture", file])
    // The recording names all present adapters in one turn, soon after its beginning.
    try eventually("it records") {
      FileManager.default.contents(atPath: file)?.range(of: Data(daemon.adapter(0).utf8.prefix(7))) != nil
    }
    let client = try daemon.client()
    func advance(_ seconds: Double) throws { _ = try client.call(SimulationAdvance.self, .init(seconds: seconds)) }
    func inTime<Method: RPCMethod>(_ method: Method.Type, _ params: Method.Params) throws -> Method.Result {
      let call = try client.start(method, params)
      try advance(30)
      return try client.finish(call, method).get()
    }
    _ = try client.call(ScanStart.self, .init(duplicates: true))
    try advance(5)
    let belt = try inTime(PeripheralConnect.self, .init(name: "Belt", timeout: 300)).peripheral
    _ = try inTime(GATTSubscribe.self, .init(peripheral: belt, attribute: .characteristic(0x2A37)))
    try advance(10)
    _ = try client.call(SimulationVanish.self, .init(device: "Belt"))
    try advance(30)
    kill(capture.pid, SIGINT)
    #expect(try capture.exitStatus() == 0, "\(capture.errors)")
    return try Data(contentsOf: URL(filePath: file))
  }

  @Test("equal seeds and calls give equal octets, in two processes")
  func deterministic() throws {
    let first = try recording()
    #expect(first.count > 5_000)
    #expect(try recording() == first)
  }

  @Test("what cannot be a recording is refused at once")
  func refusals() throws {
    let daemon = try DaemonProcess()
    let unknown = try daemon.bleshell("capture", "a.txt")
    #expect(unknown.status == 64 && unknown.errors.contains("give --format"), "\(unknown.errors)")
    let file = try daemon.bleshell("capture", "/nowhere/a.pcapng")
    #expect(file.status == 1 && file.errors.contains("/nowhere/a.pcapng: No such file"), "\(file.errors)")
  }
}
