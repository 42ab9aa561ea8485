import BledRPC
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
          advertising: { name: "Fading" } } ],
      events: [{ at: 3, action: "vanish", device: "Fading" }] }
    """

  /// The addresses, by their last octet, that a scan with these options shows.
  private func shown(_ daemon: DaemonProcess, _ options: String...) throws -> Set<Substring> {
    let scan = try daemon.bleshell(arguments: ["scan", "--time", "0.7", "--json"] + options)
    #expect(scan.status == 0, "\(scan.errors)")
    return Set(
      try scan.objects().compactMap { object in
        guard case .text(let address)? = object["address"] else { return nil }
        return address.suffix(2)
      })
  }

  @Test("each filter shows the devices that it is for")
  func filters() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    #expect(try shown(daemon, "--name", "fad", "--ignore-case") == ["43"], "before it vanishes")
    #expect(try shown(daemon, "--manufacturer", "0x004C") == ["41"])
    #expect(try shown(daemon, "--manufacturer", "76=0200/FF00") == ["41"])
    #expect(try shown(daemon, "--manufacturer", "0x004C=0216") == [])
    #expect(try shown(daemon, "--service-data", "FEAA=10") == ["42"])
    #expect(try shown(daemon, "--pattern", "0xFF@2=0215") == ["41"])
    #expect(try shown(daemon, "--name", "EDDY", "--whole-name", "--ignore-case") == ["42"])
    #expect(try shown(daemon, "--name", "Edd", "--whole-name") == [])
    #expect(try shown(daemon, "--address-kind", "public", "--address-kind", "randomStatic") == ["41", "42"])
    #expect(try shown(daemon, "--connectable", "--passive") == ["42"])
  }

  @Test("a device that vanishes is reported as lost")
  func lost() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let scan = try daemon.bleshell("scan", "--time", "6", "--lost", "1", "--name", "Fad", "--duplicates")
    #expect(scan.lines.filter { $0.contains("is lost; it was last heard at") }.count == 1, "\(scan.output)")
    #expect(scan.lines.last?.contains("is lost") == true && scan.lines.first?.contains("Fading") == true)
    // Those that are lost are not in the table.
    let eddy = try daemon.bleshell("scan", "--time", "2", "--lost", "0.5", "--rssi", "-65", "--rssi-out", "-90")
    #expect(eddy.lines.contains { $0.contains("Eddy") } && !eddy.output.contains("lost"))
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
    let refused = try daemon.bleshell("scan", "--rssi-out", "-80")
    #expect(refused.status == 1 && refused.errors.contains("\"rssi\", too"), "\(refused.errors)")
    let session = try daemon.bleshell("scan", "--pattern", "256=00")
    #expect(session.status == 1 && session.errors.contains("0 to 255"), "\(session.errors)")
  }
}
