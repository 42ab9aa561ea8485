import BledRPC
import Glibc
import Testing

/// Output of `bleshell`: notes, errors, values for other programs.
@Suite(.serialized) struct BleshellOutputTests {
  @Test("services shows descriptions, notifications that are on, and what is protected")
  func notes() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [ { name: "Noted", address: "C0:DE:00:00:00:0B", addressType: "random",
            advertising: { name: "Noted" }, services: [ { uuid: "180F", characteristics: [
              { uuid: "2A19", properties: ["read", "notify"], value: "64",
                descriptors: [ { uuid: "2901", text: "Left cell" } ] },
              { uuid: "2A6E", properties: ["read"], value: "3408", security: "authenticated" } ] } ] } ] }
        """)
    let run = try daemon.bleshell(
      input: """
        connect Noted
        read 2A6E
        listen 2A19
        services

        """)
    #expect(run.lines.contains { $0.contains("(2901)") && $0.hasSuffix("\"Left cell\"") || $0.hasSuffix("Left cell") })
    #expect(run.lines.contains { $0.contains("(2902)") && $0.hasSuffix("notifications on") }, "\(run.output)")
    #expect(run.lines.contains { $0.contains("2A6E") && $0.contains("protected (insufficient") }, "\(run.output)")
  }

  @Test("errors are JSON with --json, and a time limit holds for the whole command")
  func errors() throws {
    let daemon = try DaemonProcess()
    let refused = try daemon.bleshell("read", "Heart Belt", "2A37", "--json")
    #expect(refused.status == 1 && refused.output.isEmpty)
    #expect(
      refused.errors.hasPrefix(#"{"error":{"code":"#) && refused.errors.contains(#""domain":"#), "\(refused.errors)")
    let usage = try daemon.bleshell("raed", "--json")
    #expect(usage.errors.contains(#""domain":"bleshell""#) && usage.errors.contains(#""name":"usage""#))
    for words in [["scan", "--tiem", "3", "--json"], ["--json", "sacn"], ["power", "of", "--json"]] {
      let run = try daemon.bleshell(arguments: words)
      #expect(run.status == 64 && run.errors.hasPrefix(#"{"error":{"code":64,"#), "\(words): \(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1 && !run.errors.contains("Usage:"), "\(run.errors)")
    }
    let slow = try DaemonProcess(
      scenario: """
        { devices: [ { name: "Slow", address: "C0:DE:00:00:00:0C", addressType: "random", responseDelay: 20,
            advertising: { name: "Slow" } } ] }
        """)
    let late = try slow.bleshell("services", "Slow", "--timeout", "1")
    #expect(late.status == 1 && !late.errors.isEmpty, "\(late.errors)")
  }

  @Test("an invalid command line has one heading, the usage, and what may have been meant")
  func invalid() throws {
    let daemon = try DaemonProcess()
    for words in ["scan --tiem 3", "power of"] {
      let run = try daemon.bleshell(arguments: words.split(separator: " ").map(String.init))
      #expect(
        run.status == 64 && run.errors.hasPrefix("bleshell: ") && run.errors.contains("\nUsage: "), "\(run.errors)")
      #expect(!run.errors.contains("Error:"), "\(run.errors)")
      let line = try daemon.bleshell(input: words + "\n")
      #expect(line.status == 64 && !line.errors.contains("Error:"), "\(line.errors)")
    }
    let help = try daemon.bleshell("help", "sacn")
    #expect(help.status == 64 && help.errors.contains("did you mean scan?"), "\(help.errors)")
    #expect(try daemon.bleshell("help", "scan").status == 0)
    #expect(try daemon.bleshell("scan", "--help").output.hasPrefix("OVERVIEW: "))
  }

  @Test("shells complete files where a file is meant", arguments: ["serve", "run", "capture"])
  func files(command: String) throws {
    let script = try DaemonProcess().bleshell("--generate-completion-script", "bash").output
    let function = try #require(script.split(separator: "_bleshell_\(command)() {\n", maxSplits: 1).last)
    let body = try #require(function.split(separator: "\n}\n", maxSplits: 1).first)
    #expect(body.contains("__bleshell_add_completions -f"), "\(body)")
  }

  @Test("tables have 80 columns at most", arguments: ["adapters", "peripherals", "sessions", "metrics", "doctor"])
  func narrow(command: String) throws {
    let daemon = try DaemonProcess()
    #expect(try daemon.bleshell("read", "Heart Belt", "2A38").status == 0)
    let lines = try daemon.bleshell(command).lines
    #expect(lines.count > 1 && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
  }

  @Test("scan: --expect, a positive level, names of services and companies, comma-separated values")
  func scan() throws {
    let daemon = try DaemonProcess()
    #expect(try daemon.bleshell("scan", "--time", "0.3", "--name", "Nobody", "--expect").status == 1)
    let expected = try longEnough(for: { $0.status == 0 }) { try daemon.bleshell("scan", "--time", $0, "--expect") }
    #expect(expected.status == 0)
    let positive = try daemon.bleshell("scan", "--rssi", "70")
    #expect(positive.status == 64 && positive.errors.contains("do you mean --rssi -70?"), "\(positive.errors)")
    let csv = try longEnough(for: { $0.lines.count > 1 }) {
      try daemon.bleshell("scan", "--time", $0, "--service", "heart rate", "--csv")
    }
    #expect(
      csv.lines.first
        == "time,date,peripheral,address,addressType,rssi,connectable,name,services,manufacturerData,serviceData,data,"
        + "scanResponse,kind,temperature,humidity,pressure,battery,voltage,decoded")
    #expect(
      csv.lines.count > 1 && csv.lines.dropFirst().allSatisfy { $0.contains(",Heart Belt,180D,") }, "\(csv.output)")
    #expect(try daemon.bleshell("scan", "--manufacturer", "Nonsense Inc").status == 64)
    let values = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--count", "2", "--csv").lines
    #expect(values.count == 3 && values.last?.contains(",2A37,") == true && values.last?.contains(",bpm,") == true)
    let object = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--count", "1", "--json").objects().first
    #expect(object?["unit"] == "bpm")
  }

  private static let sensors = """
    { devices: [
        { name: "Ruuvi", address: "C0:DE:00:00:00:51", addressType: "random", connectable: false,
          advertising: { serviceData: { "FCD2": "4002ca0903bf13" } } },
        { name: "Gauge", address: "C0:DE:00:00:00:52", addressType: "random", advertising: { name: "Gauge, big" },
          services: [{ uuid: "180F", characteristics: [
            { uuid: "2A19", properties: ["read", "notify"], notifyEvery: 0.1, value: "5f" },
            { uuid: "2A26", properties: ["read"], value: "312e30" }] }] }] }
    """

  @Test("comma-separated values have dates, the device, and decoded quantities as columns")
  func data() throws {
    let daemon = try DaemonProcess(scenario: Self.sensors)
    let scan = try longEnough(for: { $0.lines.contains { $0.contains("bthome") } }) {
      try daemon.bleshell("scan", "--time", $0, "--csv", "--address", "C0:DE:00:00:00:51")
    }
    let names = try #require(scan.lines.first).split(separator: ",").map(String.init)
    let fields = try #require(scan.lines.last).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    #expect(names.count == fields.count, "\(scan.output)")
    let row = Dictionary(zip(names, fields)) { first, _ in first }
    #expect(row["kind"] == "bthome" && row["temperature"] == "25.06" && row["humidity"] == "50.55", "\(row)")
    #expect(row["serviceData"] == "FCD2=4002ca0903bf13" && row["battery"] == "", "\(row)")
    #expect(row["decoded"] == "humidity=50.55; temperature=25.06", "\(row)")
    #expect(row["date"]?.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(row)")
    let values = try daemon.bleshell("subscribe", "Gauge", "2A19", "--count", "1", "--csv").lines
    #expect(values.first == "time,date,peripheral,device,handle,uuid,number,unit,value,text")
    #expect(values.last?.hasSuffix(",\"Gauge, big\",0x000e,2A19,95,%,5f,95 %") == true, "\(values)")
  }

  @Test("objects say what they are and when they were, and text is plain")
  func objects() throws {
    let daemon = try DaemonProcess(scenario: Self.sensors)
    let read = try #require(try daemon.bleshell("read", "Gauge", "2A26", "--json").objects().first)
    #expect(read["kind"] == "value" && read["text"] == "1.0" && read["device"] == "Gauge, big", "\(read)")
    #expect(read["time"] != nil && read["date"] != nil)
    let inspected = try daemon.bleshell("inspect", "Gauge", "--json").objects().compactMap { $0["kind"] }
    #expect(inspected.first == "link" && inspected.contains("service") && inspected.last == "value", "\(inspected)")
    let heard = try longEnough(for: { !$0.lines.isEmpty }) { try daemon.bleshell("scan", "--time", $0, "--json") }
    #expect(try heard.objects().allSatisfy { $0["kind"] == "report" && $0["date"] != nil })
  }

  @Test("four hex digits are a UUID or the beginning of one, of a characteristic or a descriptor, also before services")
  func words() throws {
    let daemon = try DaemonProcess()
    for word in ["2901", "B1ED"] {
      let alone = try daemon.bleshell("read", "Echo", word)
      let later = try daemon.bleshell(input: "connect Echo\nservices\nread \(word)\n")
      #expect(alone.status == 1 && alone.errors.contains("\(word) is ambiguous; give the handle of one of these"))
      // Names that the device gives are known after `services` only, so the handles are compared.
      let handles = alone.errors.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("0x") }
      #expect(!handles.isEmpty && handles.allSatisfy(later.errors.contains), "\(later.errors)")
    }
    let below = try daemon.bleshell("read", "Heart Belt", "2A37/2902")
    #expect(below.status == 0 && below.output.contains("Client Characteristic Configuration (2902)"), "\(below)")
    #expect(try daemon.bleshell("read", "Heart Belt", "180D/2A37/2902").output == below.output)
    let wrong = try daemon.bleshell("read", "Heart Belt", "2A99")
    #expect(wrong.errors.contains("\"services\" lists its attributes"), "\(wrong.errors)")
  }

  @Test("small mistakes are answered with what helps")
  func mistakes() throws {
    let daemon = try DaemonProcess()
    let folder = daemon.folder.path
    for (words, answer) in [
      (["beacon", "--uuid", "E2C5"], "must have 128 bits"),
      (["pair", "Heart Belt", "--passkey", "12"], "six digits"),
      (["run", "\(folder)/nothing"], "No such file"),
      (["scna"], "; did you mean scan? \"help\" lists the commands"),
      (["pairing", "import", "--from", "\(folder)/nothing"], "cannot be read (No such file or directory): run this"),
    ] {
      let run = try daemon.bleshell(arguments: words)
      #expect(run.status != 0 && run.errors.contains(answer), "\(words): \(run.errors)")
      #expect(!run.errors.contains("Foundation"))
    }
    #expect(!(try daemon.bleshell("foo").errors.contains("did you mean")))
    #expect(!(try daemon.bleshell("advertise", "--manufacturer-data", "xx").errors.contains("--text")))
    let refused = try daemon.bleshell("write", "Heart Belt", "2A38", "01")
    #expect(refused.errors.contains("0x0011"), "\(refused.errors)")
    #expect(try daemon.bleshell("connect", "C0-DE-00-00-00-01").status == 0)
    #expect(try daemon.bleshell("list").output == daemon.bleshell("adapters").output)
    #expect(try daemon.bleshell("pairing").output == "this machine has paired with no device\n")
    // A recording is not replaced by mistake.
    let file = "\(folder)/a.pcapng"
    try ChildProcess.write("something", to: file)
    let kept = try daemon.bleshell("capture", file, "--time", "0.1")
    #expect(kept.status == 64 && kept.errors.contains("--replace") && ChildProcess.read(file) == "something")
    #expect(try daemon.bleshell("capture", file, "--time", "0.1", "--replace").status == 0)
  }

  private static let fragile = """
    { devices: [{ name: "Fragile", address: "C0:DE:00:00:00:31", addressType: "random", disconnectAfter: 1.5,
      advertising: { name: "Fragile" }, services: [
        { uuid: "180D", characteristics: [
          { uuid: "2A37", properties: ["notify"], notifyEvery: 0.2, value: "0648" }] }] }] }
    """

  @Test("subscribe --keep goes on after a lost connection")
  func keep() throws {
    let daemon = try DaemonProcess(scenario: Self.fragile)
    let run = try daemon.bleshell("subscribe", "Fragile", "2A37", "--keep", "--count", "15")
    #expect(run.status == 0 && run.lines.count == 15, "\(run.errors)")
    #expect(
      run.errors.contains(
        /\d\.\d{3} the device ended the connection; trying again\n.*\d\.\d{3} connected to Fragile\n/
          .dotMatchesNewlines()),
      "\(run.errors)")
  }

  @Test("subscribe --keep goes on when the device has removed the service and serves it again")
  func keepOverServices() throws {
    let daemon = try DaemonProcess(adapters: 2)
    let file = daemon.folder.path + "/served.json"
    let services = """
      { "advertise": { "name": "Mine" }, "services": [{ "uuid": "180F", "characteristics": [
        { "uuid": "2A19", "properties": ["notify"], "value": "48", "changes": { "every": 0.2, "values": ["47"] } }] }] }
      """
    try ChildProcess.write(services, to: file)
    let serve = ["serve", file, "--adapter", daemon.adapter(1)]
    let first = try daemon.start(serve)
    let kept = try daemon.start(["subscribe", "Mine", "2A19", "--keep", "--adapter", daemon.adapter(0)])
    try eventually("a value") { kept.output.contains("\n") || kept.hasEnded }
    first.send(signal: SIGINT)
    #expect(try first.exitStatus() == 0)
    try eventually("the loss is told") { kept.errors.contains("; trying again") || kept.hasEnded }
    let before = kept.output.count
    let second = try daemon.start(serve)
    try eventually("it is back") { kept.output.count > before || kept.hasEnded }
    #expect(!kept.hasEnded, "\(kept.errors)")
    kept.send(signal: SIGINT)
    #expect(try kept.exitStatus() == 0, "\(kept.errors)")
    second.send(signal: SIGINT)
    _ = try second.exitStatus()
  }

  @Test("help has the most important commands on one screen, and leads to all")
  func shortHelp() throws {
    let daemon = try DaemonProcess()
    let short = try daemon.bleshell("help")
    #expect(short.status == 0 && short.lines.count < 22, "\(short.output)")
    #expect(short.output.utf8.split(separator: 10).allSatisfy { $0.count <= 78 })
    #expect(short.output.contains("subscribe DEVICE") && short.output.contains("\"help all\""))
    let all = try daemon.bleshell("help", "all")
    #expect(all.status == 0 && all.output.contains("SUBCOMMANDS") && all.output.contains("scenario"))
    #expect(try daemon.bleshell(input: "help\n").output.contains("subscribe DEVICE"))
    #expect(try daemon.bleshell("help", "scan").output.contains("COMMON OPTIONS"))
  }

  @Test("commands of other tools name the one that does the same")
  func otherTools() throws {
    let daemon = try DaemonProcess()
    let scan = try daemon.bleshell(input: "scan on\nnotify on\n")
    #expect(scan.status == 64)
    #expect(scan.errors.contains("scan has no \"on\" here: it runs until Ctrl-C"), "\(scan.errors)")
    #expect(scan.errors.contains("there is no command notify: \"listen CHARACTERISTIC\""), "\(scan.errors)")
  }

  @Test("an adapter that is absent says why, in the log and in each command, with its remedy")
  func absentAdapters() throws {
    let (line, port) = ("h4:/dev/ttyNOPE", "h4:unix:/nowhere/controller")
    let daemon = try DaemonProcess(arguments: ["--adapter", line, "--adapter", port])
    let reasons = [
      "\(line) cannot be opened: No such file or directory; plug the controller in, or correct the path",
      "\(port) cannot be reached: No such file or directory; start the controller that listens there",
    ]
    try eventually("both were looked for") {
      try reasons.allSatisfy { try daemon.bleshell("adapters").output.contains($0) }
    }
    for reason in reasons { #expect(daemon.process.errors.contains(reason), "\(daemon.process.errors)") }
    let scan = try daemon.bleshell("scan", "--adapter", line, "--time", "1")
    #expect(scan.status == 1 && scan.errors.contains(reasons[0]), "\(scan.errors)")
  }
}
