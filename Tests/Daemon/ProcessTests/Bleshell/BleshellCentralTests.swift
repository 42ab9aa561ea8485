import BledRPC
import Bluetooth
import Glibc
import TestSupport
import Testing

/// `bleshell` as a process of its own: the central role.
@Suite(.serialized) struct BleshellCentralTests {
  private let long = "B1ED0003-5EED-4B1E-8D00-000000000000"

  @Test("adapters, as a table and as JSON, without colour in a pipe")
  func adapters() throws {
    let daemon = try DaemonProcess()
    let observer = try daemon.client()
    if try observer.call(AdapterList.self, Empty()).adapters.first?.state == "starting" {
      try observer.next(AdapterChanged.self) { $0.state == "on" }
    }
    let table = try daemon.bleshell("adapters")
    #expect(table.status == 0)
    try #require(table.lines.count == 3)
    #expect(table.lines[0].hasPrefix("ADAPTER"))
    #expect(table.lines[1].hasPrefix("\(daemon.adapter(0)) ") && table.lines[1].contains(" on "))
    let kind = TestAir.isVirtual ? "host" : "simulated"
    #expect(table.lines[2] == "  \(kind), PHYs 1M 2M coded, packets of up to 251 octets")
    #expect(!table.output.contains("\u{1B}"))
    let features = try daemon.bleshell("adapters", "--features").lines.dropFirst(3)
    let first = TestAir.isVirtual ? "  features: LE Encryption, " : "  features: unknown"
    #expect(features.first?.hasPrefix(first) == true)
    let objects = try daemon.bleshell("adapters", "--json").objects()
    #expect(objects.map { $0["state"] } == ["on"])
    #expect(objects.map { $0["kind"] } == [.text(kind)])
    #expect(objects.map { $0["phys"] } == [["1M", "2M", "coded"]] && objects.map { $0["longestPacket"] } == [251])
    #expect(objects.map { $0["company"] } == [0x05F1])
    #expect(objects.map { $0["version"] } == [13])
  }

  @Test("a scan shows devices with their names and services, aligned; filters apply")
  func scan() throws {
    let daemon = try DaemonProcess()
    let all = try longEnough(for: { $0.output.contains("Heart Belt") && $0.output.contains("Echo") }) {
      try daemon.bleshell("scan", "--time", $0)
    }
    #expect(all.status == 0)
    let belt = try #require(all.lines.first { $0.hasPrefix("Heart Belt") })
    #expect(belt.contains("C0:DE:00:00:00:01 random") && belt.contains("Heart Rate"))
    let echo = try #require(all.lines.first { $0.hasPrefix("Echo") })
    #expect(belt.firstRange(of: "C0:DE")?.lowerBound == echo.firstRange(of: "C0:DE")?.lowerBound)
    let filtered = try longEnough(for: { !$0.output.isEmpty }) {
      try daemon.bleshell("scan", "--time", $0, "--service", "1809", "--json")
    }.objects()
    #expect(!filtered.isEmpty && filtered.allSatisfy { $0["name"] == "Thermometer" })
    let named = try longEnough(for: { !$0.output.isEmpty }) {
      try daemon.bleshell("scan", "--time", $0, "--name", "Heart", "--json")
    }.objects()
    #expect(!named.isEmpty && named.allSatisfy { $0["name"] == "Heart Belt" })
    let every = try daemon.bleshell("scan", "--time", "0", "--name", "Heart", "--duplicates") { output in
      output.count { $0 == "\n" } >= 4
    }
    #expect(every.lines.allSatisfy { $0.contains("dBm") })
    let strong = try daemon.bleshell("scan", "--time", "0.5", "--rssi", "-20")
    #expect(strong.status == 0 && strong.errors.contains("no device was heard"))
  }

  @Test("the tree of services has names, handles and properties")
  func services() throws {
    let daemon = try DaemonProcess()
    let tree = try daemon.bleshell("services", "Heart Belt")
    #expect(tree.status == 0, "\(tree.errors)")
    #expect(tree.lines.contains { $0.hasPrefix("Heart Rate (180D)") })
    let rate = try #require(tree.lines.first { $0.hasPrefix("  Heart Rate Measurement (2A37)") })
    #expect(rate.contains("0x00") && rate.hasSuffix("notify"))
    #expect(tree.lines.contains { $0.hasPrefix("    Client Characteristic Configuration (2902)") })
    let objects = try daemon.bleshell("services", "C0:DE:00:00:00:01/random", "--json").objects()
    #expect(objects.contains { $0["uuid"] == "180D" })
  }

  @Test("info shows what is in force on a link, parameters asks for others")
  func link() throws {
    let daemon = try DaemonProcess()
    let info = try daemon.bleshell("info", "Heart Belt")
    #expect(info.status == 0, "\(info.errors)")
    #expect(info.lines.first?.hasPrefix("Heart Belt") == true)
    #expect(info.lines.contains("  supervision timeout: 4 s") && info.lines.contains("  latency: 0 events"))
    #expect(info.lines.contains("  MTU: 247 octets") && info.lines.contains { $0.hasPrefix("  PHY: ") })
    let asked = try daemon.bleshell(
      "parameters", "Heart Belt", "--interval", "60-75", "--latency", "2", "--supervision", "5", "--subrate", "2-4",
      "--continuation", "1", "--json"
    ).objects()
    #expect(asked.first?["subrate"] == 2 && asked.first?["continuation"] == 1)
    #expect(asked.first?["interval"] == .number(0.06) && asked.first?["latency"] == 2 && asked.first?["timeout"] == 5)
    let refused = try daemon.bleshell("parameters", "Heart Belt", "--interval", "0.3")
    #expect(refused.status != 0 && refused.errors.contains("it must be 0.000375 to 4.0 s"), "\(refused.errors)")
    let short = try daemon.bleshell("parameters", "Heart Belt", "--interval", "0.375")
    #expect(short.lines.contains("  interval: 0.375 ms"), "\(short.output)\(short.errors)")
    for wrong in [["--interval", "quick"], ["--subrate", "2.5"], ["--subrate", "2-3-4"]] {
      #expect(try daemon.start(["parameters", "Heart Belt"] + wrong).exitStatus() == 64)
    }
  }

  @Test("a device is connected by a service that it advertises")
  func connectByService() throws {
    let daemon = try DaemonProcess()
    let run = try daemon.bleshell("connect", "--service", "180D")
    #expect(run.status == 0 && run.output.contains("Heart Belt (C0:DE:00:00:00:01 random)"), "\(run.errors)")
    let none = try daemon.bleshell("connect", "--service", "1811", "--timeout", "0.5")
    #expect(none.status == 1 && none.errors.contains("the service 1811"), "\(none.errors)")
    for wrong in [["connect"], ["connect", "Echo", "--service", "180D"], ["connect", "--service", "nonsense"]] {
      let run = try daemon.start(wrong)
      #expect(try run.exitStatus() == 64)
    }
    let unknown = try daemon.bleshell("read", "Heart Belt", "180D/2A39")
    #expect(unknown.status == 1 && unknown.errors.contains("no characteristic 180D/2A39"), "\(unknown.errors)")
  }

  @Test("a value is read by UUID, by name, with its service and by handle; the output is text or JSON")
  func read() throws {
    let daemon = try DaemonProcess()
    let byUUID = try daemon.bleshell("read", "Heart Belt", "2A38")
    #expect(byUUID.status == 0, "\(byUUID.errors)")
    #expect(byUUID.output.lowercased().contains("body sensor location (2a38): chest  01"), "\(byUUID.output)")
    let object = try #require(try daemon.bleshell("read", "heart belt", "body sensor", "--json").objects().first)
    #expect(object["value"] == "01" && object["uuid"] == "2A38" && object["name"] == "Body Sensor Location")
    guard case .integer(let handle)? = object["handle"], case .text(let identifier)? = object["peripheral"] else {
      Issue.record("no handle or peripheral")
      return
    }
    let byHandle = try daemon.bleshell("read", identifier, "0x" + String(handle, radix: 16), "--json").objects()
    #expect(byHandle.first?["value"] == "01")
    let text = try daemon.bleshell("read", String(identifier.prefix(8)), "180A/2A29")
    #expect(text.output.contains("bled"), "\(text.output)\(text.errors)")
    let octets = try #require(try daemon.bleshell("read", "Echo", long, "--json").objects().first?["value"])
    guard case .text(let hex) = octets else {
      Issue.record("no value")
      return
    }
    #expect(hex.count == 1024)
  }

  @Test("a read that fails says why, with status 1")
  func refusals() throws {
    let daemon = try DaemonProcess()
    let unknown = try daemon.bleshell("read", "Heart Belt", "2A19")
    #expect(unknown.status == 1 && unknown.errors.contains("no characteristic 2A19"))
    #expect(unknown.output.isEmpty)
    let notReadable = try daemon.bleshell("read", "Heart Belt", "2A37")
    #expect(notReadable.status == 1 && notReadable.errors.contains("0x"), "\(notReadable.errors)")
    let nobody = try daemon.bleshell("read", "Nobody", "2A19", "--timeout", "0.5")
    #expect(nobody.status == 1 && nobody.errors.contains("Nobody was not heard within 0.5 s. Is it on"))
    let absent = try daemon.bleshell("services", "C0:DE:00:00:99:99/random", "--timeout", "0.5")
    #expect(absent.status == 1 && absent.errors.contains("timeout"), "\(absent.errors)")
    #expect(try daemon.bleshell("write", "a", "b", "c", "d").status == 64)
    #expect(try daemon.bleshell("scan", "--service", "nonsense").status == 64)
    #expect(try daemon.bleshell("nonsense").status == 64)
  }

  @Test("five values are decoded; too few within the time are a failure")
  func subscribe() throws {
    let daemon = try DaemonProcess()
    let five = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--count", "5")
    #expect(five.status == 0, "\(five.errors)")
    #expect(five.lines.count == 5 && five.lines.allSatisfy { $0.contains(" bpm") })
    let few = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--count", "50", "--time", "1.5")
    #expect(few.status == 1 && few.errors.contains("fewer than 50"))
    let timed = try longEnough(for: { !$0.output.isEmpty }) {
      try daemon.bleshell("subscribe", "Thermometer", "2A1C", "--time", $0, "--json")
    }
    #expect(timed.status == 0)
    #expect(try timed.objects().allSatisfy { $0["uuid"] == "2A1C" } && !timed.lines.isEmpty)
  }

  private static let lossy = """
    { seed: 1, devices: [{ name: "Lossy", address: "C0:DE:00:00:00:32", addressType: "random",
      advertising: { name: "Lossy" }, losses: { value: 0.5 }, services: [
        { uuid: "180D", characteristics: [
          { uuid: "2A37", properties: ["notify"], notifyEvery: 0.02, value: "0648" }] }] }] }
    """

  @Test("dropped packets are reported on standard error (rule 6)")
  func lostValues() throws {
    let daemon = try DaemonProcess(scenario: Self.lossy)
    let some = try daemon.bleshell("subscribe", "Lossy", "2A37", "--count", "20", "--json")
    #expect(some.status == 0 && some.lines.count == 20)
    #expect(some.errors.contains("a buffer was full: 1; values may be missing here"), "\(some.errors)")
    let listening = try daemon.bleshell(
      input: "connect Lossy\nlisten 2A37\n" + String(repeating: "expect notification 2A37 within 60\n", count: 20))
    #expect(listening.status == 0, "\(listening.errors)")
    #expect(listening.errors.contains("Lossy: packets dropped because a buffer was full: 1"), "\(listening.errors)")
  }

  @Test("watch shows the connected devices, and the links of other programs as they come up and end")
  func watch() throws {
    let daemon = try DaemonProcess()
    let holder = try daemon.client()
    try holder.call(ScanStart.self, .init())
    for name in ["Heart Belt", "Echo", "Thermometer"] { try holder.next(ScanReport.self) { $0.name == name } }
    try holder.call(ScanStop.self, .init())
    let belt = try holder.call(
      PeripheralConnect.self, .init(address: "C0:DE:00:00:00:01", addressType: "random"))
    let objects = try daemon.bleshell("watch", "--json") { !$0.isEmpty }.objects()
    let link = try #require(objects.first)
    #expect(objects.count == 1 && link["peripheral"] == .text(belt.peripheral) && link["linked"] == true, "\(link)")
    #expect(link["name"] == "Heart Belt" && link["kind"] == "link" && link["time"] != nil && link["date"] != nil)
    func connections(_ run: BleshellRun) -> [String] {
      run.lines.filter { $0.hasSuffix("connected") && $0.contains(":") }
    }
    let lines = connections(
      try longEnough(for: { connections($0).count >= 3 }) {
        try daemon.bleshell(input: "connect Echo\nwatch --time \($0)\ndisconnect\nwatch --time \($0)\n")
      })
    #expect(lines.count { $0.contains("  Heart Belt  ") && $0.hasSuffix("  connected") } == 2, "\(lines)")
    #expect(lines.count { $0.contains("  Echo  ") && $0.hasSuffix("  connected") } == 1, "\(lines)")
    let watcher = try daemon.start(["watch", "--json"])
    try eventually("bleshell watches: session.open, peripheral.watch, peripheral.list") {
      let sessions = try holder.call(SessionList.self, .init()).sessions
      return sessions.first { $0.program == "bleshell" }?.costs.requests ?? 0 >= 3
    }
    let thermometer = try holder.call(
      PeripheralConnect.self, .init(address: "C0:DE:00:00:00:02", addressType: "random"))
    try holder.call(PeripheralDisconnect.self, .init(peripheral: thermometer.peripheral))
    for linked in ["true", "false"] {
      try eventually("the Thermometer is shown") {
        watcher.output.contains(#""linked":\#(linked),"name":"Thermometer""#)
      }
    }
    watcher.send(signal: SIGINT)
    #expect(try watcher.exitStatus() == 0, "\(watcher.errors)")
  }

  @Test("Ctrl-C is the regular end without --count, and a failure with it")
  func interrupt() throws {
    let daemon = try DaemonProcess()
    for (count, status) in [("", Int32(0)), ("--count 1000", 130)] {
      let pipe = "\(daemon.folder.path)/pipe\(status)"
      guard mkfifo(pipe, 0o600) == 0 else { throw ChildProcess.Failure(description: "mkfifo: \(errno)") }
      let command = "exec \(ChildProcess.products)/bleshell subscribe 'Heart Belt' 2A37 \(count) >\(pipe)"
      let process = try ChildProcess(
        "/bin/sh", ["-c", command], environment: ["BLED_SOCKET": daemon.socketPath], folder: daemon.folder)
      // Its first output shows that it has subscribed.
      let output = open(pipe, O_RDONLY)
      defer { close(output) }
      var octets = [UInt8](repeating: 0, count: 256)
      #expect(Glibc.read(output, &octets, octets.count) > 0)
      process.send(signal: SIGINT)
      #expect(try process.exitStatus() == status, "\(process.errors)")
    }
  }

  @Test("without a daemon it says what to do, with status 1")
  func noDaemon() throws {
    let folder = try TemporaryFolder()
    for socket in ["\(folder.path)/none.sock", "\(folder.path)/stale.sock"] {
      if socket.hasSuffix("stale.sock") { try UnixSocket.leaveStale(socket) }
      let process = try ChildProcess("bleshell", ["adapters", "--socket", socket], folder: folder)
      #expect(try process.exitStatus() == 1)
      #expect(process.errors.contains("bled is not running") && process.errors.contains("systemctl start bled.socket"))
    }
  }

  private static let fragile = """
    { seed: 1, devices: [{ name: "Fragile", address: "C0:DE:00:00:00:31", addressType: "random",
      advertising: { name: "Fragile" }, losses: { connect: 0.5, link: 0.5 } }] }
    """

  @Test("connect --keep reconnects whenever the connection is lost, and reports it (P6)")
  func keep() throws {
    let daemon = try DaemonProcess(scenario: Self.fragile)
    // Each connection is lost after half a second plus the supervision timeout of 4 s.
    let kept = try daemon.bleshell("connect", "Fragile", "--keep", "--json") { output in
      output.count { $0 == "\n" } >= 2
    }
    #expect(kept.status == 0 && kept.errors.contains("lost the connection to Fragile"), "\(kept.errors)")
    let links = try kept.objects()
    #expect(links.count >= 2 && links.allSatisfy { $0["address"] == "C0:DE:00:00:00:31" })
  }

  @Test("failed attempts are repeated, and the number of attempts is reported (P6)")
  func attempts() throws {
    let daemon = try DaemonProcess(scenario: Self.fragile)
    // One attempt in two fails.
    for _ in 0..<40 {
      let connected = try daemon.bleshell("connect", "Fragile")
      #expect(connected.status == 0, "\(connected.errors)")
      if connected.output.contains(" attempts") { return }
    }
    Issue.record("every connection succeeded at the first attempt")
  }

  @Test("the error for an adapter that is off names it and says what to do")
  func adapterOff() throws {
    let daemon = try DaemonProcess(scenario: #"{ "events": [{ "at": 0.1, "action": "powerOff" }] }"#)
    let watcher = try daemon.client()
    if try watcher.call(AdapterList.self, Empty()).adapters.first?.state != "off" {
      try watcher.next(AdapterChanged.self) { $0.state == "off" }
    }
    for arguments in [["scan"], ["read", "Heart Belt", "2A38"], ["advertise", "--name", "x"]] {
      let process = try daemon.start(arguments)
      #expect(try process.exitStatus() == 1)
      #expect(process.errors.contains("adapter \(daemon.adapter(0)) is off: switch it on"), "\(process.errors)")
    }
    let adapters = try daemon.bleshell("adapters")
    #expect(
      adapters.status == 0 && adapters.lines.contains { $0.hasPrefix("\(daemon.adapter(0)) ") && $0.contains(" off ") })
  }

  @Test("raw lines are sent and printed unchanged")
  func raw() throws {
    let daemon = try DaemonProcess()
    let list = try daemon.bleshell("raw", #"{"jsonrpc":"2.0","id":"a","method":"adapter.list"}"#)
    #expect(list.status == 0)
    // An adapter that is just starting may cause a notification first.
    #expect(try list.objects().contains { $0["id"] == "a" })
    let unknown = try daemon.bleshell("raw", #"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#)
    #expect(unknown.status == 1 && unknown.output.contains("-32601"))
    let nonsense = try daemon.bleshell("raw", "nonsense")
    #expect(nonsense.status == 1 && nonsense.output.contains("-32700"))
    let scan = try longEnough(for: { $0.output.contains("scan.report") }) {
      try daemon.bleshell("raw", #"{"jsonrpc":"2.0","id":1,"method":"scan.start"}"#, "--time", $0)
    }
    #expect(scan.status == 0 && scan.output.contains("\"scan.report\""))
  }
}
