import BledRPC
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
    #expect(csv.lines.first == "time,peripheral,address,addressType,rssi,connectable,name,services,data")
    #expect(
      csv.lines.count > 1 && csv.lines.dropFirst().allSatisfy { $0.contains(",Heart Belt,180D,") }, "\(csv.output)")
    #expect(try daemon.bleshell("scan", "--manufacturer", "Nonsense Inc").status == 64)
    let values = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--count", "2", "--csv").lines
    #expect(values.count == 3 && values.last?.contains(",2A37,") == true && values.last?.contains(",bpm,") == true)
    let object = try daemon.bleshell("subscribe", "Heart Belt", "2A37", "--count", "1", "--json").objects().first
    #expect(object?["unit"] == "bpm")
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
    #expect(run.errors.contains("connecting again"), "\(run.errors)")
  }
}
