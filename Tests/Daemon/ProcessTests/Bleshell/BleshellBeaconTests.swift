import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc
import Testing

/// `bleshell` as a process of its own: beacons and sensors.
@Suite(.serialized) struct BleshellBeaconTests {
  private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  private static let octets: [UInt8] = [
    0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0,
  ]
  /// A beacon of another number, a permanent one; sensors, one of them encrypting.
  private static let scenario = """
    { "devices": [
        { "name": "Other", "address": "C0:DE:00:00:02:02", "addressType": "random", "connectable": false, "rssi": -55,
          "advertising": { "manufacturerData": "4c000215e2c56db5dffb48d2b060d0f5a71096e000070002c5" } },
        { "name": "Staying", "address": "C0:DE:00:00:02:03", "addressType": "random", "connectable": false, "rssi": -90,
          "advertising": { "manufacturerData": "4c000215e2c56db5dffb48d2b060d0f5a71096e000010003c5" } },
        { "name": "Plain", "address": "C0:DE:00:00:02:04", "addressType": "random", "connectable": false,
          "advertising": { "serviceData": { "FCD2": "4002ca0903bf13" } } },
        { "name": "Sealed", "address": "54:48:E6:8F:80:A5", "connectable": false,
          "advertising": { "serviceData": { "FCD2": "41a47266c95f730011223378237214" } } } ] }
    """

  @Test("a scan says what beacons and sensors send, on a line and as JSON, and opens what it has the key of")
  func scan() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let table = try longEnough(for: { $0.output.contains("major 7") && $0.output.count { $0 == "\n" } >= 5 }) {
      try daemon.bleshell("scan", "--time", $0)
    }
    #expect(table.status == 0, "\(table.errors)")
    #expect(table.output.contains("iBeacon: uuid \(Self.uuid), major 7, minor 2, measuredPower -59 dBm"))
    #expect(table.output.contains("bthome: temperature 25.06 °C, humidity 50.55 %"), "\(table.output)")
    #expect(table.output.contains("bthome: encrypted, key missing"), "\(table.output)")
    let objects = try longEnough(for: { !$0.output.isEmpty }) {
      try daemon.bleshell("scan", "--time", $0, "--json", "--address", "C0:DE:00:00:02:04")
    }.objects()
    #expect(
      objects.first?["decoded"] == [["kind": "bthome", "temperature": .number(25.06), "humidity": .number(50.55)]])
    let keys = daemon.folder.path + "/keys.json"
    try ChildProcess.write(#"{ "54:48:E6:8F:80:A5": "231d39c1d7cc1ab1aee224cd096db932" }"#, to: keys)
    let opened = try longEnough(for: { $0.output.contains("bthome") }) {
      try daemon.bleshell("scan", "--time", $0, "--address", "54:48:E6:8F:80:A5", "--keys", keys)
    }
    #expect(opened.output.contains("bthome: encrypted, temperature 25.06 °C, humidity 50.55 %"), "\(opened.output)")
    // A key that is too short, and one that is not hex.
    try ChildProcess.write(#"{ "54:48:E6:8F:80:A5": "231d39c1" }"#, to: keys)
    let short = try daemon.bleshell("scan", "--time", "1", "--keys", keys)
    #expect(short.status == 1 && short.errors.contains("has 4 octets") && short.errors.contains("32 hex digits"))
    try ChildProcess.write(#"{ "54:48:E6:8F:80:A5": "key" }"#, to: keys)
    let wrong = try daemon.bleshell("scan", "--time", "1", "--keys", keys)
    #expect(wrong.status == 1 && wrong.errors.contains("keys.json"), "\(wrong.errors)")
  }

  @Test("range tells who enters and exits, and how near they are, until Ctrl-C")
  func range() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario, adapters: 2)
    let client = try daemon.client()
    // A beacon that the other adapter sends until it has entered.
    let leaving = HexBytes([0x4C, 0, 2, 0x15] + Self.octets + [0, 1, 0, 2, 0xC5])
    let advertising = try client.call(
      AdvertisingStart.self,
      .init(adapter: daemon.adapter(1), manufacturerData: leaving, connectable: false, interval: 0.1))
    let process = try daemon.start(["range", Self.uuid, "--major", "1"])
    func events() throws -> [[String: JSONValue]] {
      try process.output.split(separator: "\n").dropLast(process.output.hasSuffix("\n") ? 0 : 1)
        .map { try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8)) }
    }
    try eventually("both beacons have entered") { try events().count { $0["event"] == "enter" } == 2 }
    try client.call(AdvertisingStop.self, .init(advertising: advertising.advertising))
    try eventually("the beacon that left the air has exited") { try events().contains { $0["event"] == "exit" } }
    process.send(signal: SIGINT)
    #expect(try process.exitStatus() == 0, "\(process.errors)")
    let told = try events()
    #expect(told.allSatisfy { $0["uuid"] == .text(Self.uuid) && $0["major"] == 1 })
    let left = told.filter { $0["minor"] == 2 }
    #expect(left.map { $0["event"] } == ["enter", "exit"])
    #expect(left.map { $0["proximity"] } == ["near", "near"])
    #expect(left.last?["inReach"] == 1)
    let staying = told.filter { $0["minor"] == 3 }
    #expect(staying.map { $0["event"] } == ["enter"] && staying.first?["proximity"] == "far")
  }

  @Test(
    "beacon is on the air until Ctrl-C, and says what it sends",
    arguments: [
      (
        ["--uuid", uuid, "--major", "1", "--minor", "2"],
        "iBeacon: uuid \(uuid), major 1, minor 2, measuredPower -59 dBm"
      ),
      (
        ["--uuid", uuid, "--alt", "--power", "-70"], "altBeacon: uuid \(uuid), major 0, minor 0, measuredPower -70 dBm"
      ),
      (["--url", "https://test.biz"], "eddystoneURL: url https://test.biz, txPower -18 dBm"),
      (
        ["--namespace", "01020304050607080900", "--instance", "010203040506"],
        "eddystoneUID: namespace 01020304050607080900, instance 010203040506, txPower -18 dBm"
      ),
    ])
  func beacon(arguments: [String], line: String) throws {
    let daemon = try DaemonProcess(scenario: "{}")
    let process = try daemon.start(["beacon"] + arguments)
    try eventually("bleshell says what is on the air") { process.output.hasSuffix("\n") }
    #expect(process.output.hasPrefix("on the air, \(daemon.adapter(0)) every 100 ms: "))
    #expect(process.output.hasSuffix(": \(line)\n"), "\(process.output)")
    let sessions = try daemon.bleshell("sessions", "--json").objects()
    guard case .array(let advertisements)? = sessions.first(where: { $0["name"] == "bleshell" })?["advertisements"]
    else {
      Issue.record("the session is not listed: \(sessions)")
      return
    }
    #expect(advertisements.count == 1)
    process.send(signal: SIGINT)
    #expect(try process.exitStatus() == 0, "\(process.errors)")
  }

  @Test("a beacon that cannot be is refused with what would do")
  func refused() throws {
    let daemon = try DaemonProcess(scenario: "{}")
    for (arguments, message) in [
      ([], "give one of --uuid"), (["--uuid", Self.uuid, "--url", "http://a"], "give one of --uuid"),
      (["--url", "http://a", "--major", "1"], "go with --uuid"), (["--url", "gopher://a"], "http:// or https://"),
      (["--url", "https://abcdefghijklmnopqrs"], "shorten it"), (["--namespace", "01"], "go together"),
      (["--namespace", "01", "--instance", "02"], "20 hex digits"),
      (["--uuid", Self.uuid, "--power", "21"], "-127 to 20"),
    ] as [([String], String)] {
      let process = try daemon.start(["beacon"] + arguments)
      #expect(try process.exitStatus() == 64, "\(arguments)")
      #expect(process.errors.contains(message), "\(process.errors)")
    }
  }
}
