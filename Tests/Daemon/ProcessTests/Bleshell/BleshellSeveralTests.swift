import BledRPC
import Testing

/// One command for several characteristics, several times, or a whole file.
@Suite(.serialized) struct BleshellSeveralTests {
  private static let scenario = """
    { devices: [ {
        name: "Unit", address: "C0:DE:00:00:00:67", addressType: "random", advertising: { name: "Unit" },
        services: [ { uuid: "FFF0", characteristics: [
          { uuid: "FFF1", value: "01", properties: ["read", "notify"],
            rule: { kind: "recording", sent: [ { after: 0.1, value: "01" } ] } },
          { uuid: "FFF2", value: "02", properties: ["read", "notify"],
            rule: { kind: "recording", sent: [ { after: 0.1, value: "02" } ] } },
          { uuid: "FFF3", value: "", properties: ["read", "write", "writeWithoutResponse"] } ] } ] } ] }
    """

  @Test("values of several characteristics come as they are sent, in one table")
  func subscribe() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let run = try daemon.bleshell(
      "subscribe", "Unit", "FFF1", "FFF2", "--csv", "--as", "u8", "--count", "40", "--time", "600")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.count == 41 && run.output.contains(",FFF1,1,,01,1") && run.output.contains(",FFF2,2,,02,2"))
    let unknown = try daemon.bleshell("subscribe", "Unit", "FFF1", "FFF9", "--time", "600")
    #expect(unknown.status == 1 && unknown.errors.contains("no characteristic FFF9"), "\(unknown.errors)")
  }

  @Test("characteristics and signal strength are read again and again")
  func every() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let run = try daemon.bleshell("read", "Unit", "FFF1", "FFF2", "--every", "0.1", "--count", "3", "--csv")
    #expect(run.status == 0 && run.lines.count == 7, "\(run.output) \(run.errors)")
    let lines = run.lines.dropFirst().map { $0.contains(",FFF1,") }
    #expect(lines == [true, false, true, false, true, false])
    #expect(try daemon.bleshell("read", "Unit", "FFF1", "FFF2").lines.count == 2)
    let rssi = try daemon.bleshell("rssi", "Unit", "--every", "0.1", "--count", "2")
    #expect(rssi.status == 0 && rssi.lines.count == 2 && rssi.lines.allSatisfy { $0.hasSuffix(" dBm") })
    #expect(try daemon.bleshell("rssi", "Unit", "--every", "0").status == 64)
  }

  @Test("a file is written in pieces, from a file or a pipe")
  func file() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let path = "\(daemon.folder.path)/firmware"
    let text = String(repeating: "0123456789", count: 5000)
    try ChildProcess.write(text, to: path)
    let run = try daemon.bleshell("write", "Unit", "FFF3", "--file", path)
    #expect(run.status == 0 && run.output.hasPrefix("wrote 50 kB to FFF3 in "), "\(run.output) \(run.errors)")
    let piped = try daemon.bleshell(
      "write", "Unit", "FFF3", "--file", "-", "--chunk", "7", "--no-response", "--json", input: "abcdefghij")
    #expect(try piped.objects().first?["octets"] == 10, "\(piped.errors)")
    #expect(try daemon.bleshell("read", "Unit", "FFF3", "--value", "text").output == "hij\n")
    #expect(try daemon.bleshell("write", "Unit", "FFF3", "--file", "\(path).none").errors.contains("No such file"))
    #expect(try daemon.bleshell("write", "Unit", "FFF3", "--file", path, "--chunk", "600").status == 64)
  }

  @Test("expect says what came instead, and the lines of a file become test cases")
  func outcomes() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    func run(_ line: String) throws -> (run: BleshellRun, report: String) {
      let (script, report) = ("\(daemon.folder.path)/script", "\(daemon.folder.path)/report.xml")
      try ChildProcess.write("# a test\nconnect Unit\n\(line)\nrssi\n", to: script)
      return (try daemon.bleshell("run", script, "--junit", report), ChildProcess.read(report))
    }
    let good = try run("expect value FFF1 01 within 600")
    #expect(good.run.status == 0 && good.report.contains("tests=\"3\" failures=\"0\" skipped=\"0\""), "\(good.report)")
    let read = try run("expect value FFF1 07 within 5")
    #expect(read.run.status == 2 && read.run.errors.contains("value FFF1 07; it was 01"), "\(read.run.errors)")
    #expect(read.report.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "\(read.report)")
    #expect(read.report.contains("<failure message=\"not within 5 s: value FFF1 07; it was 01\"/>"), "\(read.report)")
    let none = try run("expect notification FFF1 07 within 5")
    #expect(none.run.errors.contains("other values came, the last 01") || none.run.errors.contains("it was 01"))
  }

  /// A device that sends a value, and one with two fields in a value.
  private static let two = """
    { devices: [
        { name: "Left", address: "C0:DE:00:00:00:68", addressType: "random", advertising: { name: "Left" },
          services: [ { uuid: "FFF0", characteristics: [
            { uuid: "FFF1", value: "01", properties: ["read", "notify"],
              rule: { kind: "recording", sent: [ { after: 0.1, value: "01" } ] } } ] } ] },
        { name: "Right", address: "C0:DE:00:00:00:69", addressType: "random", advertising: { name: "Right" },
          services: [ { uuid: "180F", characteristics: [
            { uuid: "2A19", value: "40", properties: ["read", "notify"],
              rule: { kind: "recording", sent: [ { after: 0.1, value: "41" } ] } },
            { uuid: "FFF2", value: "03d408", properties: ["read"],
              descriptors: [ { uuid: "2901", text: "State" } ] } ] } ] } ] }
    """

  @Test("one command follows several devices: in lines, objects and a table with a column for each value")
  func devices() throws {
    let daemon = try DaemonProcess(scenario: Self.two)
    let words = ["subscribe", "Left", "FFF1", "+", "Right", "2A19", "--count", "40", "--time", "600"]
    let lines = try daemon.bleshell(arguments: words)
    #expect(lines.status == 0 && lines.lines.count == 40, "\(lines.output) \(lines.errors)")
    #expect(lines.output.contains("  Left  FFF1: 01") && lines.output.contains("  Right  Battery Level (2A19): 65 %"))
    let objects = try daemon.bleshell(arguments: words + ["--json"]).objects()
    #expect(Set(objects.map { $0["device"] }) == ["Left", "Right"])
    let table = try daemon.bleshell(arguments: words + ["--columns"])
    #expect(table.lines.first == "time,date,Left: FFF1,Right: Battery Level (%)", "\(table.output) \(table.errors)")
    let cells = Set(
      table.lines.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false).suffix(2) })
    #expect(cells == [["01", ""], ["", "65"]], "\(table.output)")
    let kept = try daemon.bleshell(arguments: words + ["--columns", "--keep"])
    #expect(kept.status == 0 && kept.lines.count == 41, "\(kept.errors)")
    let lonely = try daemon.bleshell("subscribe", "Left", "FFF1", "+", "Right")
    #expect(lonely.status == 64 && lonely.errors.contains("each device needs a characteristic"), "\(lonely.errors)")
  }

  @Test("several devices are read into one table, with a column for each field")
  func table() throws {
    let daemon = try DaemonProcess(scenario: Self.two)
    #expect(try daemon.bleshell("name", "FFF2", "--as", "u8 state, i16 temperature*0.01 °C").status == 0)
    let words = ["read", "Left", "FFF1", "+", "Right", "2A19", "State"]
    let table = try daemon.bleshell(arguments: words + ["--every", "0.1", "--count", "2", "--columns"])
    #expect(
      table.lines.first == """
        time,date,Left: FFF1,Right: Battery Level (%),Right: State state,Right: State temperature (°C)
        """,
      "\(table.output) \(table.errors)")
    #expect(table.lines.count == 3 && table.lines.dropFirst().allSatisfy { $0.hasSuffix(",01,64,3,22.6") })
    let lines = try daemon.bleshell(arguments: words)
    #expect(lines.lines.first == "Left  FFF1: 01" && lines.lines.count == 3, "\(lines.output) \(lines.errors)")
  }

  @Test("the time for values begins when all devices are subscribed: one that never comes is a failure")
  func absent() throws {
    let daemon = try DaemonProcess(scenario: Self.two)
    let both = try daemon.bleshell("subscribe", "Left", "FFF1", "+", "Right", "2A19", "--time", "0.5")
    #expect(both.status == 0, "\(both.errors)")
    let one = try daemon.bleshell(
      "subscribe", "Left", "FFF1", "+", "Nobody", "FFF1", "--time", "0.2", "--timeout", "5")
    #expect(one.status == 1 && one.errors.contains("within 5 s"), "\(one.output) \(one.errors)")
  }

  @Test("a device that disconnects while the table waits for another one ends the command")
  func lostBefore() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [ {
            name: "Shy", address: "C0:DE:00:00:00:6A", addressType: "random", disconnectAfter: 1,
            advertising: { name: "Shy" },
            services: [ { uuid: "FFF0", characteristics: [ { uuid: "FFF1", properties: ["notify"] } ] } ] } ] }
        """)
    let run = try daemon.bleshell("subscribe", "Shy", "FFF1", "+", "Nobody", "FFF1", "--columns", "--timeout", "0")
    #expect(run.status == 1 && run.errors.contains("Shy disconnected"), "\(run.output) \(run.errors)")
  }

  @Test("a device is named once, and a + at the end wants another one")
  func refused() throws {
    let daemon = try DaemonProcess(scenario: Self.two)
    for command in ["read", "subscribe"] {
      let twice = try daemon.bleshell(command, "Left", "FFF1", "+", "Left", "FFF1")
      #expect(twice.status == 64 && twice.errors.contains("Left is named twice: name it once"), "\(twice.errors)")
      let open = try daemon.bleshell(command, "Left", "+")
      #expect(open.status == 64 && open.errors.contains("each device needs a characteristic"), "\(open.errors)")
    }
  }
}
