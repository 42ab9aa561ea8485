import BledRPC
import Testing

/// Names and formats for values of one's own.
@Suite(.serialized) struct BleshellValuesTests {
  private static let torque = "6F3C0002-0000-4000-8000-000000000000"
  private static let status = "6F3C0003-0000-4000-8000-000000000000"
  private static let scenario = """
    { devices: [ {
        name: "Custom", address: "C0:DE:00:00:00:66", addressType: "random", advertising: { name: "Custom" },
        services: [ { uuid: "6F3C0001-0000-4000-8000-000000000000", characteristics: [
          { uuid: "\(torque)", value: "4900", properties: ["read", "notify"],
            rule: { kind: "recording", sent: [ { after: 0.1, value: "4900" }, { after: 0.1, value: "5700" } ] },
            descriptors: [ { uuid: "2901", text: "Torque" }, { uuid: "2904", value: "0effad27010000" } ] },
          { uuid: "\(status)", value: "03d40802", properties: ["read", "write"] } ] } ] } ] }
    """

  @Test("the name and the format that a device tells are applied by themselves")
  func told() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let named = try daemon.bleshell("read", "Custom", "torque")
    #expect(named.lines == ["Torque (\(Self.torque)): 7.3 %  4900"], "\(named.errors)")
    #expect(try daemon.bleshell("read", "Custom", Self.torque, "--value", "number").output == "7.3\n")
    let csv = try daemon.bleshell("subscribe", "Custom", "6F3C0002", "--csv", "--count", "1")
    #expect(csv.lines.last?.contains(",\(Self.torque),7.3,%,4900,7.3 %") == true, "\(csv.output)")
    // Two octets are rather a number than a text.
    let unknown = try daemon.bleshell("read", "Custom", "6F3C0003", "--json").objects()
    #expect(unknown.first?["text"] == nil && unknown.first?["value"] == "03d40802", "\(unknown)")
    let services = try daemon.bleshell("services", "Custom")
    #expect(services.output.contains("Torque (\(Self.torque))"), "\(services.output)")
  }

  @Test("several characteristics are found by the names that the device tells")
  func severalTold() throws {
    let recording = """
      rule: { kind: "recording", sent: [ { after: 0.1, value: "4900" }, { after: 0.1, value: "5700" } ] }
      """
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [ {
            name: "Custom", address: "C0:DE:00:00:00:66", addressType: "random", advertising: { name: "Custom" },
            services: [ { uuid: "6F3C0001-0000-4000-8000-000000000000", characteristics: [
              { uuid: "\(Self.torque)", value: "4900", properties: ["read", "notify"], \(recording),
                descriptors: [ { uuid: "2901", text: "Torque" } ] },
              { uuid: "\(Self.status)", value: "4900", properties: ["read", "notify"], \(recording),
                descriptors: [ { uuid: "2901", text: "Speed" } ] } ] } ] } ] }
        """)
    let run = try daemon.bleshell("subscribe", "Custom", "Torque", "Speed", "--count", "2")
    #expect(run.status == 0 && run.lines.count == 2, "\(run.output) \(run.errors)")
  }

  @Test("--as reads numbers, fields and flags")
  func formats() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let format = "u8 state, i16le temperature*0.01 °C, flags8(low|full) battery"
    let people = try daemon.bleshell("read", "Custom", "6F3C0003", "--as", format)
    let text = "state 3, temperature 22.60 °C, battery full"
    #expect(people.output.contains(": \(text)  03d40802"), "\(people.output) \(people.errors)")
    let json = try daemon.bleshell("read", "Custom", Self.status, "--as", format, "--json")
    let object = try #require(try json.objects().first)
    #expect(object["text"] == .text(text))
    #expect(object["fields"] == ["state": 3, "temperature": .number(22.6), "battery": ["full"]])
    let bad = try daemon.bleshell("read", "Custom", Self.status, "--as", "u99")
    #expect(bad.status == 64 && bad.errors.contains("\"u99\" is not a type"), "\(bad.errors)")
    let script = try daemon.bleshell(
      input: """
        connect Custom
        expect notification Torque 8.5..9 within 60 --as "i16*0.1 Nm"

        """)
    #expect(script.status == 0 && script.output.contains("8.7 Nm"), "\(script.output) \(script.errors)")
  }

  @Test("names and formats are given once, and hold in all commands")
  func names() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    #expect(try daemon.bleshell("name", Self.status, "State", "--as", "u8 state, i16 temperature*0.01 °C").status == 0)
    let refused = try daemon.bleshell("name", Self.status, "State", "--as", "u99")
    #expect(refused.status == 64 && refused.errors.contains("\"u99\" is not a type"), "\(refused.errors)")
    #expect(try daemon.bleshell("name", "C0:DE:00:00:00:66", "Test stand").status == 0)
    let read = try daemon.bleshell("read", "Test stand", "State")
    #expect(read.lines == ["State (\(Self.status)): state 3, temperature 22.60 °C  03d40802"], "\(read.errors)")
    let scan = try longEnough(for: { $0.output.contains("Test stand") }) { try daemon.bleshell("scan", "--time", $0) }
    #expect(scan.output.contains("Test stand"), "\(scan.output)")
    #expect(try daemon.bleshell("devices").output.contains("Test stand"))
    let inspected = try daemon.bleshell("inspect", "Test stand")
    #expect(inspected.output.contains("state 3, temperature 22.60 °C") && inspected.output.contains("7.3 %"))
    let list = try daemon.bleshell("name")
    #expect(list.lines.count == 3 && list.output.contains("u8 state, i16 temperature*0.01 °C"), "\(list.output)")
    #expect(try daemon.bleshell("name", "Test stand", "--remove").status == 0)
    #expect(try daemon.bleshell("name").lines.count == 2)
  }

  @Test("a name or a format that is given alone keeps the other one, and a name has no colon and no line feed")
  func halves() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    #expect(try daemon.bleshell("name", "2A19", "Cell").lines == ["2A19 = Cell"])
    #expect(try daemon.bleshell("name", "2A19", "--as", "u8 %").lines == ["2A19 = Cell: u8 %"])
    #expect(try daemon.bleshell("name", "2A19", "Battery").lines == ["2A19 = Battery: u8 %"])
    for name in ["a: b", "a\n2A1A = b"] {
      let run = try daemon.bleshell("name", "2A19", name)
      #expect(run.status == 64 && run.errors.contains("a name cannot have a colon or a line feed"), "\(run.errors)")
    }
    #expect(try daemon.bleshell("name").lines.count == 2)
  }

  @Test("a name and a format for a service count for its characteristics")
  func ofService() throws {
    let daemon = try DaemonProcess(
      scenario: """
        { devices: [ {
            name: "Custom", address: "C0:DE:00:00:00:66", addressType: "random", advertising: { name: "Custom" },
            services: [ { uuid: "180F", characteristics: [ { uuid: "2A19", value: "40" } ] } ] } ] }
        """)
    #expect(try daemon.bleshell("name", "180F/2A19", "Cell", "--as", "u8*2 %").status == 0)
    for text in ["2A19", "180F/2A19", "Cell"] {
      let read = try daemon.bleshell("read", "Custom", text)
      #expect(read.lines == ["Cell (2A19): 128 %  40"], "\(read.output) \(read.errors)")
    }
  }

  @Test("a file that cannot be read is a warning that names the line, and an error of name")
  func fault() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    #expect(try daemon.bleshell("name", Self.torque, "Torque").status == 0)
    try ChildProcess.write("# mine\nTorque\n", to: "\(daemon.folder.path)/config/bleshell/names")
    let run = try daemon.bleshell("read", "Custom", Self.torque)
    #expect(run.status == 0 && run.lines == ["Torque (\(Self.torque)): 7.3 %  4900"], "\(run.output) \(run.errors)")
    let warnings = run.errors.split(separator: "\n").filter { $0.contains("bleshell/names:2: the = is missing") }
    #expect(warnings.count == 1, "\(run.errors)")
    let list = try daemon.bleshell("name")
    #expect(list.status == 1 && list.errors.contains("bleshell/names:2: the = is missing"), "\(list.errors)")
  }

  @Test("a clone tells the same names and formats")
  func clone() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let clone = try daemon.bleshell("clone", "Custom", "--watch", "0.1")
    #expect(clone.status == 0, "\(clone.errors)")
    let twin = try DaemonProcess(scenario: clone.output)
    #expect(try twin.bleshell("read", "Custom", "Torque").lines == ["Torque (\(Self.torque)): 7.3 %  4900"])
  }
}
