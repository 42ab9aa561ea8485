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
