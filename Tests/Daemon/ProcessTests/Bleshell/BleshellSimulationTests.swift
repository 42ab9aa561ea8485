import BledRPC
import Testing

/// `bleshell simulation` commands the devices of a test.
@Suite(.serialized) struct BleshellSimulationTests {
  private let scenario = """
    { clock: "manual", devices: [{ name: "Belt", address: "C0:DE:00:00:00:01", addressType: "random",
        services: [{ uuid: "180D", characteristics: [{ uuid: "2A38", value: "01" }] }] }] }
    """

  @Test("the clock moves, devices come and go and change; lists are tables, and JSON with --json")
  func commands() throws {
    let daemon = try DaemonProcess(scenario: scenario)
    let moved = try daemon.bleshell("simulation", "advance", "1.5", "--json")
    #expect(try moved.objects().first?["time"] == .number(1_700_000_001.5))
    #expect(try daemon.bleshell("simulation", "vanish", "Belt").status == 0)
    let gone = try daemon.bleshell("simulation", "devices", "--json")
    #expect(try gone.objects().first?["present"] == .bool(false))
    for words in [
      ["come-back", "Belt"], ["disconnect", "Belt", "--reason", "8"], ["set-value", "Belt", "2A38", "02"],
      ["change", "Belt", "{ rssi: -90 }"], ["adapter", "off"], ["adapter", "on"],
      ["add", #"{ devices: [{ name: "Lamp", address: "C0:DE:00:00:00:02" }] }"#], ["written"],
    ] {
      let run = try daemon.bleshell(arguments: ["simulation"] + words)
      #expect(run.status == 0, "\(words): \(run.errors)")
    }
    let devices = try daemon.bleshell("simulation", "devices")
    #expect(devices.lines.count == 3 && devices.output.contains("Lamp") && devices.output.contains("present"))
  }

  @Test("the devices of a file are added, and an error names the file and the place")
  func addedFile() throws {
    let daemon = try DaemonProcess(scenario: scenario)
    let lamp = #"{ devices: [{ name: "Lamp", address: "C0:DE:00:00:00:02" }] }"#
    let path = "\(daemon.folder.path)/zoo.json5"
    try ChildProcess.write("// Two of them.\n" + lamp, to: path)
    let added = try daemon.bleshell("simulation", "add", path)
    #expect(added.status == 0, "\(added.errors)")
    let typed = try daemon.bleshell(
      "simulation", "add", "-", input: #"{ devices: [{ name: "Bulb", address: "C0:DE:00:00:00:03" }] }"#)
    #expect(typed.status == 0, "\(typed.errors)")
    let names = try daemon.bleshell("simulation", "devices", "--json").objects().map { $0["name"] }
    #expect(names == ["Belt", "Lamp", "Bulb"])
    try ChildProcess.write("{\n  devices: [{ name: 5 }]\n}", to: path)
    let wrong = try daemon.bleshell("simulation", "add", path)
    #expect(wrong.status == 1 && wrong.errors.contains("\(path):2:21: devices[0].name"), "\(wrong.errors)")
    try ChildProcess.write("{", to: path)
    let cut = try daemon.bleshell("simulation", "add", path)
    #expect(cut.status == 1 && cut.errors.contains("\(path):1:1: not valid JSON5"), "\(cut.errors)")
    let typedCut = try daemon.bleshell("simulation", "add", "-", input: "{")
    #expect(typedCut.status == 1 && typedCut.errors.contains("-:1:1: not valid JSON5"), "\(typedCut.errors)")
    let missing = try daemon.bleshell("simulation", "add", "zoo")
    #expect(missing.status == 1 && missing.errors.contains("there is no such file"), "\(missing.errors)")
  }

  @Test("a file of any length is added, in parts, and an error names the place in the file")
  func longFile() throws {
    let daemon = try DaemonProcess(scenario: scenario)
    func file(_ count: Int, _ padding: Int, last: String = "") throws -> String {
      let text = String(repeating: "00", count: padding)
      let devices = (0..<count).map { number in
        let digits = String(0x10000 + number, radix: 16).suffix(4)
        return "{ name: 'Lamp \(number)', address: 'C0:DE:01:00:\(digits.prefix(2)):\(digits.suffix(2))', services: ["
          + "{ uuid: '180F', characteristics: [{ uuid: '2A19', value: '\(text)' }] }]\(number == count - 1 ? last : "") }"
      }
      let path = "\(daemon.folder.path)/zoo.json5"
      try ChildProcess.write("{ devices: [\n\(devices.joined(separator: ",\n"))\n] }", to: path)
      return path
    }
    // One call of more than 64 KiB, then two calls.
    for (count, padding) in [(200, 300), (1200, 500)] {
      let added = try daemon.bleshell("simulation", "add", try file(count, padding))
      #expect(added.status == 0, "\(added.errors)")
      #expect(try daemon.bleshell("simulation", "devices", "--json").lines.count == count + 1)
    }
    let path = try file(1300, 500, last: ", rssi: 'x'")
    let wrong = try daemon.bleshell("simulation", "add", path)
    #expect(wrong.status == 1 && wrong.errors.contains("\(path):1301:1: devices[1299]: rssi: "), "\(wrong.errors)")
    let names = try daemon.bleshell("simulation", "vanish", "Bulb")
    #expect(names.errors.contains("\"Lamp 6\" and ") && names.errors.contains(" more, which simulation.devices lists"))
  }

  @Test("a value that changes by a rule is not set, and the error says so")
  func ruledValue() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [{ name: "Belt", address: "C0:DE:00:00:00:01", services: [{ uuid: "180D", characteristics: [
            { uuid: "2A38", rule: { kind: "counter" } }] }] }] }
        """)
    let ruled = try daemon.bleshell("simulation", "set-value", "Belt", "2A38", "02")
    #expect(ruled.status == 1 && ruled.errors.contains("2A38 changes by its \"rule\""), "\(ruled.errors)")
    let missing = try daemon.bleshell("simulation", "set-value", "Belt", "2A37", "02")
    #expect(missing.status == 1 && missing.errors.contains("\"Belt\" has no characteristic 2A37"), "\(missing.errors)")
  }

  @Test("commands that cannot be followed say why")
  func errors() throws {
    let daemon = try DaemonProcess(scenario: scenario)
    for words in [
      ["vanish", "Lamp"], ["change", "Belt", "{ rssi: 100 }"], ["set-value", "Belt", "2A38", "0"],
      ["adapter", "broken"], ["visit", "{}"], ["advance", "-1"],
    ] {
      let run = try daemon.bleshell(arguments: ["simulation"] + words)
      #expect(run.status != 0 && !run.errors.isEmpty && run.output.isEmpty, "\(words): \(run.errors)")
    }
  }
}
