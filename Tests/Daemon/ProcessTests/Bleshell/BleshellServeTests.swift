import BledRPC
import Bluetooth
import Glibc
import Testing

/// `bleshell` as a process of its own: the peripheral role. The simulated phone connects, reads, writes and subscribes.
@Suite(.serialized) struct BleshellServeTests {
  private let services = """
    {
      "services": [
        {
          "uuid": "180F",  // Battery Service
          "characteristics": [
            {
              "uuid": "2A19", "properties": ["read", "notify"], "value": "64",
              "changes": { "every": 0.2, "values": ["63", "62"] }
            },
            { "uuid": "2A29", "properties": ["read"], "text": "bled", "fixed": true },
            {
              "uuid": "B1ED1001-0000-4000-8000-00805F9B34FB", "properties": ["read", "write", "notify"], "text": "Note",
              "descriptors": [{ "uuid": "2901", "text": "A note" }],
            }
          ]
        }
      ]
    }
    """

  private func file(_ text: String, in folder: TemporaryFolder) throws -> String {
    let path = "\(folder.path)/services.json"
    guard let file = fopen(path, "w") else { throw ChildProcess.Failure(description: path) }
    fputs(text, file)
    fclose(file)
    return path
  }

  @Test("a visit of the phone: reads, a write that is notified, changes of the value, and the regular end")
  func visit() throws {
    let daemon = try DaemonProcess()
    let path = try file(services, in: daemon.folder)
    let run = try daemon.bleshell("serve", path, "--name", "Ours", "--visits", "1", "--time", "600", "--json")
    #expect(run.status == 0, "\(run.errors)")
    let objects = try run.objects()
    #expect(objects.first?["advertising"] != nil)
    let events = objects.dropFirst()
    func seen(_ event: JSONValue, _ uuid: JSONValue) -> [[String: JSONValue]] {
      events.filter { $0["event"] == event && $0["uuid"] == uuid }
    }
    let note: JSONValue = "B1ED1001-0000-4000-8000-00805F9B34FB"
    #expect(!seen("read", "2A19").isEmpty)
    #expect(seen("read", "2A29").isEmpty, "a fixed value is answered by the daemon")
    #expect(seen("read", note).first?["text"] == "Note")
    #expect(seen("write", note).first?["text"] == "Hello from the phone")
    #expect(seen("subscribed", "2A19").count == 1 && seen("unsubscribed", "2A19").count == 1)
    #expect(seen("notified", "2A19").contains { $0["value"] == "62" })
  }

  @Test("the text output says which device did what")
  func text() throws {
    let daemon = try DaemonProcess()
    let path = try file(services, in: daemon.folder)
    let run = try daemon.bleshell("serve", path, "--name", "Ours", "--visits", "1", "--time", "600")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.first?.hasPrefix("advertising as \"Ours\" on ") == true)
    #expect(run.lines.contains { $0.contains("C0:DE:00:00:01:01  read  Battery Level (2A19): ") }, "\(run.output)")
    #expect(run.lines.contains { $0.contains("all subscribers  notified  Battery Level (2A19): 9") })
  }

  /// The daemon's side of `bleshell serve`, scripted, for messages that a real daemon sends rarely.
  private struct Script {
    let process: ChildProcess
    let peer: SocketClient
    private let listener: CInt
    private let folder: TemporaryFolder

    init(_ services: String, _ arguments: [String] = [], visits: Int = 1) throws {
      folder = try TemporaryFolder()
      let path = "\(folder.path)/services.json"
      try ChildProcess.write(services, to: path)
      listener = try UnixSocket.listen("\(folder.path)/bled.sock")
      process = try ChildProcess(
        "bleshell",
        ["serve", path, "--visits", "\(visits)", "--time", "600", "--socket", "\(folder.path)/bled.sock"] + arguments,
        folder: folder)
      peer = try SocketClient(acceptedBy: listener)
      try take(SessionOpen.self) {
        .init(session: 1, daemon: "script", protocol: 1, adapters: [], permissions: [], restored: nil)
      }
      let adapter = AdapterDescription(
        adapter: "hci0", kind: "script", address: nil, addressType: nil, name: "script", state: "on", problem: nil,
        scanning: false, advertising: 0, links: 1)
      try take(AdapterList.self) { .init(adapters: [adapter]) }
      let level = CharacteristicDescription(handle: 16, end: 17, uuid: 0x2A19, properties: ["read", "notify"])
      try take(ServiceAdd.self) {
        .init(service: .init(handle: 14, end: 17, uuid: 0x180F, primary: true, characteristics: [level]))
      }
      try take(AdvertisingStart.self) { .init(advertising: 1, adapter: "hci0", interval: 0.1, shortenedName: nil) }
    }

    /// Waits for a call and answers it.
    func take<Method: RPCMethod>(_ method: Method.Type, _ result: () -> Method.Result) throws {
      try peer.answer(try peer.nextCall(method).id, result())
    }

    func tell<Notification: RPCNotification>(_ type: Notification.Type, _ params: Notification.Params) throws {
      try peer.send(raw: try RPCEncoding.notification(type, params))
    }

    /// The end of the visit, and of the program.
    func finish(_ subscriber: Subscriber) throws -> BleshellRun {
      try tell(ServerUnsubscribed.self, subscriber)
      try take(AdvertisingStop.self) { Empty() }
      try take(ServiceRemove.self) { Empty() }
      let status = try process.exitStatus()
      close(listener)
      return BleshellRun(status: status, output: process.output, errors: process.errors)
    }
  }

  @Test("a value that was sent to no subscriber, or not to all, is not reported as notified", arguments: [false, true])
  func notNotified(json: Bool) throws {
    let text = """
      { "services": [{ "uuid": "180F", "characteristics": [{ "uuid": "2A19", "properties": ["read", "notify"],
        "changes": { "every": 0.05, "values": ["63", "62", "61"] } }] }] }
      """
    let script = try Script(text, json ? ["--json"] : [])
    let subscriber = Subscriber(central: "CC17", handle: 16, maximumLength: 20)
    try script.tell(ServerSubscribed.self, subscriber)
    if !json { try script.take(PeripheralList.self) { .init(peripherals: []) } }
    try script.take(ServerNotify.self) { .init(sent: true, receivers: 0, outOfSync: nil) }
    try script.take(ServerNotify.self) { .init(sent: true, receivers: 0, outOfSync: ["CC17"]) }
    try script.take(ServerNotify.self) { .init(sent: true, receivers: 1, outOfSync: nil) }
    let run = try script.finish(subscriber)
    #expect(run.status == 0, "\(run.errors)")
    guard json else {
      let said = run.lines.filter { $0.contains("Battery Level") && !$0.contains("ubscribed  Battery") }
      #expect(
        said.map { String($0.dropFirst(14)) } == [
          "CC17  is not notified until it has discovered the changed services  Battery Level (2A19): 98 %  62",
          "all subscribers  notified  Battery Level (2A19): 97 %  61",
        ])
      #expect(run.lines.contains { $0.hasSuffix("nobody  is subscribed  Battery Level (2A19): 99 %  63") })
      return
    }
    let events = try run.objects().compactMap { $0["event"] }
    #expect(events.prefix(3) == ["subscribed", "nobodySubscribed", "outOfSync"])
    // The answer to a call and an event are reported in any order.
    #expect(Set(events.dropFirst(3)) == ["notified", "unsubscribed"] && events.count == 5)
  }

  @Test("a subscriber that leaves while a value is sent to it does not end the service for the others")
  func leaving() throws {
    let scenario = """
      { devices: [{ name: "A", address: "C0:DE:00:00:00:66", services: [{ uuid: "180F", characteristics: [
          { uuid: "2A19", properties: ["read", "notify"], value: "63", notifyEvery: 0.05 }] }] }] }
      """
    let script = try Script(scenario, ["--json"], visits: 2)
    let first = Subscriber(central: "CC17", handle: 16, maximumLength: 20)
    try script.tell(ServerSubscribed.self, first)
    // This call has no answer.
    _ = try script.peer.nextCall(ServerNotify.self)
    try script.tell(ServerUnsubscribed.self, first)
    let second = Subscriber(central: "CC18", handle: 16, maximumLength: 20)
    try script.tell(ServerSubscribed.self, second)
    // Nor has this one: no other follows until the end.
    _ = try script.peer.nextCall(ServerNotify.self)
    let run = try script.finish(second)
    #expect(run.status == 0, "\(run.errors)")
    let events = try run.objects().compactMap { $0["event"] }
    #expect(events == ["subscribed", "unsubscribed", "subscribed", "unsubscribed"])
  }

  @Test("a late answer ends with the link of its device")
  func lateAnswer() throws {
    let scenario = """
      { devices: [{ name: "A", address: "C0:DE:00:00:00:66", responseDelay: 500, services: [{ uuid: "180F",
          characteristics: [{ uuid: "2A19", properties: ["write", "notify"], value: "63", notifyEvery: 0.05 }] }] }] }
      """
    let script = try Script(scenario, ["--json"])
    try script.take(PeripheralWatch.self) { Empty() }
    let write = try script.peer.start(
      ServerWrite.self, .init(central: "CC17", writes: [.init(handle: 16, offset: 0, value: HexBytes([1]))]))
    let subscriber = Subscriber(central: "CC17", handle: 16, maximumLength: 20)
    try script.tell(ServerSubscribed.self, subscriber)
    // Events are handled in order: with this call the write has been received.
    _ = try script.peer.nextCall(ServerNotify.self)
    try script.tell(PeripheralLinkChanged.self, .init(peripheral: "CC17", linked: false, name: nil))
    guard case .failure = try script.peer.finish(write, ServerWrite.self) else {
      Issue.record("the write was stored")
      return
    }
    let run = try script.finish(subscriber)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.objects().allSatisfy { $0["event"] != "write" })
  }

  @Test("too few visits within the time are a failure; the end of the time alone is not")
  func time() throws {
    let daemon = try DaemonProcess(scenario: "{}")
    let path = try file(services, in: daemon.folder)
    let run = try daemon.bleshell("serve", path, "--visits", "1", "--time", "0.5")
    #expect(run.status == 1 && run.errors.contains("fewer visits"))
    #expect(try daemon.bleshell("serve", path, "--time", "0.5").status == 0)
  }

  @Test("the error for an invalid file names the place")
  func badFile() throws {
    let daemon = try DaemonProcess(scenario: "{}")
    for (text, message) in [
      ("{", ":1:1: not valid JSON5: this bracket is never closed"), ("{}", ":1:1: \"services\" is missing"),
      (
        #"{"services":[{"uuid":"180F","characteristics":[{"uuid":"2A19"}]}]}"#,
        ":1:48: services[0].characteristics[0]: \"properties\" is missing"
      ),
      (#"{"services":[{"uuid":"18","characteristics":[]}]}"#, ":1:22: services[0].uuid: \"18\" is not a UUID"),
      ("{ services: [],\n  adverts: {} }", ":2:3: adverts: this name is not known: give one of advertise, services"),
      ("{ services: [], advertise: { interval: 20 } }", ":1:40: advertise.interval: 20.0 is out of range"),
    ] {
      let run = try daemon.bleshell("serve", try file(text, in: daemon.folder))
      #expect(run.status == 1 && run.errors.contains(message), "\(run.errors)")
    }
    let missing = try daemon.bleshell("serve", "/no/such/file.json")
    #expect(missing.status == 1 && missing.errors.contains("cannot be read"))
  }

  @Test("the advertisement has the requested content, and ends")
  func advertise() throws {
    let daemon = try DaemonProcess(scenario: "{}")
    let run = try daemon.bleshell(
      input: """
        advertise --name Behind --service 180D --service-data 180F=64
        adapters --json
        advertise --stop
        adapters --json
        advertise --name Timed --time 0.3
        advertise --stop

        """)
    #expect(run.status == 1, "nothing is left to stop")
    #expect(run.lines.first?.hasPrefix("advertising as \"Behind\" on ") == true)
    #expect(run.lines.filter { $0.contains("\"advertising\":1") }.count == 1)
    #expect(run.lines.filter { $0.contains("\"advertising\":0") }.count == 1)
    #expect(run.errors.contains("line 6 failed"))
    let tooLong = try daemon.bleshell("advertise", "--manufacturer-data", String(repeating: "00", count: 60))
    #expect(tooLong.status == 1 && tooLong.errors.contains("advertisingDataTooLong"))
  }

  @Test("a clone is served as it was: advertisement, values, descriptors of names and formats, sent values")
  func clone() throws {
    let custom = try DaemonProcess(
      scenario: """
        { devices: [ {
            name: "Custom", address: "C0:DE:00:00:00:66", addressType: "random",
            advertising: { name: "Custom", services: ["180F"] },
            services: [ { uuid: "180F", characteristics: [
              { uuid: "2A19", value: "64", properties: ["read", "notify"],
                rule: { kind: "recording", sent: [ { after: 0.1, value: "63" } ] } },
              { uuid: "FFF1", value: "4900",
                descriptors: [ { uuid: "2901", text: "Torque" }, { uuid: "2904", value: "0effad27010000" } ] } ] } ] } ] }
        """)
    let clone = try custom.bleshell("clone", "Custom", "--watch", "1")
    #expect(clone.status == 0 && clone.output.contains("2904"), "\(clone.errors)")
    let daemon = try DaemonProcess()
    let run = try daemon.bleshell("serve", "-", "--visits", "1", "--time", "600", "--json", input: clone.output)
    #expect(run.status == 0, "\(run.errors)")
    let events = try run.objects()
    #expect(events.contains { $0["event"] == "read" && $0["uuid"] == "FFF1" && $0["value"] == "4900" }, "\(run.output)")
    #expect(events.contains { $0["event"] == "notified" && $0["uuid"] == "2A19" && $0["value"] == "63" })
    let two = try daemon.bleshell(
      "serve", "-", input: "{ devices: [ { name: \"A\", services: [] }, { name: \"B\", services: [] } ] }")
    #expect(
      two.status == 1 && two.errors.contains("give one of the devices with --device: \"A\", \"B\""), "\(two.errors)")
  }

  @Test("a scenario's rules hold: numbers that move, values for a subscriber in their time, adopted ones, faults")
  func rules() throws {
    let scenario = """
      { seed: 5, devices: [ { name: "Custom", address: "C0:DE:00:00:00:66",
          faults: { answers: [ { characteristic: "FFF4", request: "read", error: 0x80, count: 1 } ] },
          services: [ { uuid: "FFF0", characteristics: [
            { uuid: "FFF1", properties: ["read", "notify"], notifyEvery: 0.05,
              rule: { kind: "counter", from: 100, to: 200, every: 0.01 } },
            { uuid: "FFF2", properties: ["write"] },
            { uuid: "FFF3", properties: ["read", "notify"], text: "before", rule: { kind: "echo", of: "FFF2" } },
            { uuid: "FFF4", text: "ab", length: 5 },
            { uuid: "FFF5", properties: ["write", "notify"], text: "quiet" } ] } ] } ] }
      """
    let daemon = try DaemonProcess()
    let run = try daemon.bleshell("serve", "-", "--visits", "2", "--time", "600", "--json", input: scenario)
    #expect(run.status == 0, "\(run.errors)")
    let events = try run.objects()
    func values(_ event: JSONValue, _ uuid: JSONValue) -> [JSONValue] {
      events.filter { $0["event"] == event && $0["uuid"] == uuid }.compactMap { $0["value"] }
    }
    #expect(Set(values("notified", "FFF1")).count > 1, "\(run.output)")
    let hello = JSONValue.text(Hex.encode(Array("Hello from the phone".utf8)))
    #expect(values("read", "FFF3").first == .text(Hex.encode(Array("before".utf8))))
    #expect(values("read", "FFF3").last == hello)
    // The first read of the first visit has an error.
    let visits = events.filter { $0["event"] == "subscribed" && $0["uuid"] == "FFF3" }.count
    #expect(values("read", "FFF4") == Array(repeating: "6162616261", count: visits - 1))
    #expect(values("write", "FFF5").contains(hello) && values("notified", "FFF5").isEmpty)
  }

  @Test("members of a scenario that no radio can have are refused, and security may be one word")
  func scenarioFaults() throws {
    let daemon = try DaemonProcess(scenario: "{}")
    func serve(_ members: String) throws -> BleshellRun {
      let device = "{ name: \"A\", address: \"C0:DE:00:00:00:66\", \(members) }"
      return try daemon.bleshell("serve", "-", "--time", "0.2", input: "{ devices: [ \(device) ] }")
    }
    let firmware = try serve("firmware: {}")
    #expect(firmware.status == 1 && firmware.errors.contains("for simulated devices only: remove it"))
    let echo = try serve(
      #"services: [{ uuid: "FFF0", characteristics: [{ uuid: "FFF1", rule: { kind: "echo", of: "FFF9" } }] }]"#)
    #expect(echo.status == 1 && echo.errors.contains("FFF9, which is no characteristic of this device"))
    let secured = try serve(
      #"services: [{ uuid: "FFF0", characteristics: [{ uuid: "FFF1", security: "authenticated" }] }]"#)
    #expect(secured.status == 0, "\(secured.errors)")
  }
}
