import BledRPC
import Testing

/// What `bleshell` prints: notes, errors, values for other programs.
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
    let slow = try DaemonProcess(
      scenario: """
        { devices: [ { name: "Slow", address: "C0:DE:00:00:00:0C", addressType: "random", responseDelay: 20,
            advertising: { name: "Slow" } } ] }
        """)
    let start = ContinuousClock.now
    let late = try slow.bleshell("services", "Slow", "--timeout", "1")
    #expect(late.status == 1 && !late.errors.isEmpty && ContinuousClock.now - start < .seconds(15), "\(late.errors)")
  }

  @Test("scan: --expect, a positive level, names of services and companies, comma-separated values")
  func scan() throws {
    let daemon = try DaemonProcess()
    #expect(try daemon.bleshell("scan", "--time", "0.3", "--name", "Nobody", "--expect").status == 1)
    #expect(try daemon.bleshell("scan", "--time", "1", "--expect").status == 0)
    let positive = try daemon.bleshell("scan", "--rssi", "70")
    #expect(positive.status == 64 && positive.errors.contains("do you mean --rssi -70?"), "\(positive.errors)")
    let csv = try daemon.bleshell("scan", "--time", "1", "--service", "heart rate", "--csv")
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
