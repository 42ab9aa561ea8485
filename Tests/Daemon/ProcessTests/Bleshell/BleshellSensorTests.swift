import BledRPC
import Glibc
import Testing

/// `bleshell devices --sensors`.
@Suite(.serialized) struct BleshellSensorTests {
  private static let scenario = """
    { devices: [
        { name: "Balcony", address: "C0:DE:00:00:02:04", addressType: "random", connectable: false, rssi: -60,
          advertising: { serviceData: { "FCD2": "40015702ca0903bf13" } } },
        { name: "Cellar", address: "54:48:E6:8F:80:A5", connectable: false, rssi: -70,
          advertising: { name: "Cellar", serviceData: { "FCD2": "41a47266c95f730011223378237214" } } },
        { name: "Belt", address: "C0:DE:00:00:00:01", addressType: "random", advertising: { name: "Belt" } } ] }
    """

  @Test("in a pipe each sensor is an object with its values and units, and other devices are left out")
  func objects() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let run = try longEnough(for: { (try? $0.objects().count) == 2 }) {
      try daemon.bleshell("devices", "--sensors", "--time", $0)
    }
    #expect(run.status == 0, "\(run.errors)")
    let objects = try run.objects()
    #expect(objects.map { $0["kind"] } == ["sensor", "sensor"])
    // Sensors without a name come last.
    #expect(objects.first?["name"] == "Cellar" && objects.first?["values"] == [:])
    #expect(objects.first?["problem"] == "encrypted, the key is missing")
    let balcony = try #require(objects.last)
    #expect(balcony["address"] == "C0:DE:00:00:02:04" && balcony["format"] == "BTHome" && balcony["rssi"] == -60)
    let values: [String: JSONValue] = ["battery": 87, "humidity": .number(50.55), "temperature": .number(25.06)]
    #expect(balcony["values"] == .object(values))
    #expect(balcony["units"] == ["battery": "%", "humidity": "%", "temperature": "°C"])
  }

  @Test("a sensor that encrypts is read with its key")
  func keys() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let path = "\(daemon.folder.path)/keys.json"
    try ChildProcess.write(#"{ "54:48:E6:8F:80:A5": "231d39c1d7cc1ab1aee224cd096db932" }"#, to: path)
    let run = try longEnough(for: { (try? $0.objects().count) == 2 }) {
      try daemon.bleshell("devices", "--sensors", "--keys", path, "--time", $0)
    }
    let cellar = try #require(try run.objects().first)
    #expect(cellar["problem"] == nil && cellar["name"] == "Cellar", "\(cellar)")
    #expect(cellar["values"] == ["humidity": .number(50.55), "temperature": .number(25.06)])
  }

  @Test("--time and --keys go with --sensors")
  func arguments() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    #expect(try daemon.bleshell("devices", "--time", "1").status == 64)
    #expect(try daemon.bleshell("devices", "--keys", "keys.json").status == 64)
    #expect(try daemon.bleshell("devices", "--sensors", "--time", "-1").status == 64)
  }
}
