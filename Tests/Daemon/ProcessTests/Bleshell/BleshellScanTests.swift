import BledRPC
import Glibc
import Testing

/// `bleshell scan` with the filters of a scan, on simulated devices.
@Suite(.serialized) struct BleshellScanTests {
  private static let scenario = """
    { devices: [
        { name: "Beacon", address: "C0:DE:00:00:00:41", addressType: "random", connectable: false, rssi: -50,
          advertising: { manufacturerData: "4c000215aabb" } },
        { name: "Eddy", address: "00:DE:00:00:00:42", addressType: "public", rssi: -60,
          advertising: { name: "Eddy", serviceData: { "FEAA": "10eb" } } },
        { name: "Fading", address: "40:DE:00:00:00:43", addressType: "random", rssi: -70,
          advertising: { name: "Fading" } } ] }
    """

  /// True if a scan with these options shows the devices with addresses that end with these octets.
  private func shows(_ devices: Set<String>, _ daemon: DaemonProcess, _ options: String...) throws -> Bool {
    func shown(_ scan: BleshellRun) throws -> Set<String> {
      Set(
        try scan.objects().compactMap { object in
          guard case .text(let address)? = object["address"] else { return nil }
          return String(address.suffix(2))
        })
    }
    let scan = try longEnough(for: { (try? shown($0))?.isSuperset(of: devices) == true }) {
      try daemon.bleshell(arguments: ["scan", "--time", $0, "--json"] + options)
    }
    #expect(scan.status == 0, "\(scan.errors)")
    return try shown(scan) == devices
  }

  @Test("each filter shows the devices that it is for")
  func filters() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    #expect(try shows(["43"], daemon, "--name", "fad", "--ignore-case"))
    #expect(try shows(["41"], daemon, "--manufacturer", "0x004C"))
    #expect(try shows(["41"], daemon, "--manufacturer", "76=0200/FF00"))
    #expect(try shows([], daemon, "--manufacturer", "0x004C=0216"))
    #expect(try shows(["42"], daemon, "--service-data", "FEAA=10"))
    #expect(try shows(["41"], daemon, "--pattern", "0xFF@2=0215"))
    #expect(try shows(["42"], daemon, "--name", "EDDY", "--whole-name", "--ignore-case"))
    #expect(try shows([], daemon, "--name", "Edd", "--whole-name"))
    #expect(try shows(["41", "42"], daemon, "--address-kind", "public", "--address-kind", "randomStatic"))
    #expect(try shows(["42", "43"], daemon, "--connectable", "--passive"))
  }

  @Test("a device that vanishes is reported as lost")
  func lost() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario, adapters: 2)
    let client = try daemon.client()
    let advertising = try client.call(
      AdvertisingStart.self, .init(adapter: daemon.adapter(1), name: "Leaving", interval: 0.1))
    let scan = try daemon.start(["scan", "--time", "0", "--lost", "1", "--name", "Leav", "--duplicates"])
    try eventually("it is heard") { scan.output.contains("Leaving") }
    try client.call(AdvertisingStop.self, .init(advertising: advertising.advertising))
    try eventually("it is lost") { scan.output.contains("is lost; it was last heard at") }
    scan.send(signal: SIGINT)
    #expect(try scan.exitStatus() == 0, "\(scan.errors)")
    let lines = scan.output.split(separator: "\n")
    #expect(lines.last?.contains("is lost") == true && lines.first?.contains("Leaving") == true, "\(lines)")
    // Lost devices are not in the table.
    let eddy = try longEnough(for: { $0.output.contains("Eddy") }) {
      try daemon.bleshell("scan", "--time", $0, "--lost", "100", "--rssi", "-65", "--rssi-out", "-90")
    }
    #expect(eddy.lines.contains { $0.contains("Eddy") } && !eddy.output.contains("lost"))
  }

  @Test("with --presence a line for each device that comes and goes, and a table of both")
  func presence() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let addresses = ["--address", "00:de:00:00:00:42", "--address", "C0:DE:00:00:00:FF"]
    let scan = try daemon.start(["scan", "--presence", "--lost", "1"] + addresses)
    try eventually("it is there") { scan.output.contains("Eddy is there (-60 dBm)") }
    try daemon.vanish("Eddy")
    try eventually("it is away") { scan.output.contains("Eddy is away; it was last heard at") }
    try daemon.comeBack("Eddy")
    try eventually("it is back") { scan.output.matches(of: /is there/).count == 2 }
    scan.send(signal: SIGINT)
    #expect(try scan.exitStatus() == 0, "\(scan.errors)")
    let lines = scan.output.split(separator: "\n").suffix(3)
    #expect(lines.first?.hasPrefix("NAME") == true && lines.last?.hasSuffix("away") == true, "\(lines)")
    let json = try daemon.bleshell(arguments: ["scan", "--presence", "--time", "1", "--json", "--expect"] + addresses)
    #expect(json.status == 0 && json.output.contains("\"kind\":\"found\""), "\(json.output)")
    #expect(try daemon.bleshell("scan", "--presence").status == 64)
    #expect(try daemon.bleshell("scan", "--presence", "--address", "C0:DE:00:00:00:FF", "--duplicates").status == 64)
  }

  @Test("the table is printed in full, the strongest device first")
  func order() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let scan = try longEnough(for: { $0.lines.count == 4 }) { try daemon.bleshell("scan", "--time", $0) }
    #expect(scan.lines.dropFirst().map { $0.prefix(4) } == ["-   ", "Eddy", "Fadi"], "\(scan.output)")
  }

  @Test("a scan says which devices are connected here, and by which program")
  func connectedDevices() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let client = try daemon.client()
    try client.call(PeripheralConnect.self, .init(name: "Fading"))
    let scan = try daemon.bleshell("scan", "--time", "1", "--name", "Fad")
    #expect(scan.lines.count == 1, "\(scan.output)")
    #expect(scan.errors.contains("Fading is connected here (") && scan.errors.contains("process"), "\(scan.errors)")
    #expect(!scan.errors.contains("no device was heard"))
    let others = try daemon.bleshell("scan", "--time", "1", "--name", "Nobody")
    #expect(others.errors == "bleshell: no device was heard\n")
    // With other filters, if nothing was received.
    #expect(try daemon.bleshell("scan", "--time", "1", "--service", "180F").errors.contains("Fading is connected here"))
  }

  @Test func optionsThatCannotBeMeant() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    for options in [
      ["--manufacturer", "Nonsense"], ["--manufacturer", "76=0"], ["--manufacturer", "76=00/x"],
      ["--service-data", "=00"],
      ["--pattern", "0xFF"], ["--pattern", "0xFF@=00"], ["--pattern", "@1=00"], ["--pattern", "1=00/00"],
      ["--whole-name"], ["--address-kind", "static"],
    ] {
      #expect(try daemon.bleshell(arguments: ["scan"] + options).status == 64, "\(options)")
    }
    let mistyped = try daemon.bleshell("scan", "--manufacturer", "Aplpe")
    #expect(mistyped.errors.contains("did you mean Apple?"), "\(mistyped.errors)")
    let several = try daemon.bleshell("scan", "--manufacturer", "Micro")
    #expect(several.errors.contains("companies begin with Micro, among them Micro"), "\(several.errors)")
    let refused = try daemon.bleshell("scan", "--rssi-out", "-80")
    #expect(refused.status == 1 && refused.errors.contains("\"rssi\", too"), "\(refused.errors)")
    let session = try daemon.bleshell("scan", "--pattern", "256=00")
    #expect(session.status == 1 && session.errors.contains("0 to 255"), "\(session.errors)")
  }
}
