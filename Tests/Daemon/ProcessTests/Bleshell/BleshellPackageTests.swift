import BledRPC
import FoundationEssentials
import TestSupport
import Testing

/// Updates with packages for Nordic's Secure DFU, on a simulated device and with its faults.
@Suite(.serialized) struct BleshellPackageTests {
  private static func scenario(_ bootLoader: String, _ more: String = "") -> String {
    """
    { devices: [ { name: "Lamp", address: "C0:DE:00:00:00:71", addressType: "random", advertising: { name: "Lamp" },
        bootLoader: { restartTime: 0.2, \(bootLoader) }, \(more) } ] }
    """
  }

  private static let length = 20_000

  /// Writes a package to a file.
  private func package(_ version: UInt8, hardware: UInt8 = 52, for daemon: DaemonProcess) throws -> String {
    let path = "\(daemon.folder.path)/lamp-\(version).zip"
    let octets = TestPackage.octets(version: version, length: Self.length, hardware: hardware)
    try Data(octets).write(to: URL(filePath: path))
    return path
  }

  @Test("the application starts the boot loader, which takes the package and starts it")
  func update() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("version: 1"))
    let run = try daemon.bleshell("dfu", "Lamp", try package(2, for: daemon))
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.first == "lamp-2.zip: application version 2 for hardware 52, 20 kB, not signed", "\(run.output)")
    #expect(run.output.contains("the boot loader is started: Dfu"), "\(run.output)")
    #expect(run.output.contains("uploaded 20 kB in "), "\(run.output)")
    #expect(run.lines.last == "the device restarts with it", "\(run.output)")
    let again = try daemon.bleshell("dfu", "Lamp", try package(3, for: daemon), "--json")
    #expect(again.status == 0, "\(again.errors)")
    let objects = try again.objects()
    let kinds = objects.map { $0["kind"] }.filter { $0 != "progress" }
    #expect(kinds == ["image", "bootLoader", "uploaded", "finished"], "\(again.output)")
    #expect(objects.first?["version"] == .integer(3) && objects.first?["hardware"] == .integer(52))
    // The device has the version 3 now.
    let older = try daemon.bleshell("dfu", "Lamp", try package(2, for: daemon))
    #expect(older.status == 1 && older.errors.contains("refused the init packet: the firmware's version is lower"))
    #expect(older.errors.contains("(extended error 5)"), "\(older.errors)")
  }

  @Test("a lost link, a wrong checksum and an object that is not executed delay an upload only")
  func faults() throws {
    let scenario = Self.scenario("faults: { disconnectAt: 10000, damage: true, execution: true }")
    let daemon = try DaemonProcess(scenario: scenario, arguments: ["--log-level", "info"])
    let run = try daemon.bleshell("dfu", "Lamp", try package(1, for: daemon), "--timeout", "60")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("it is continued after") && run.errors.contains("of 20000 octets"), "\(run.errors)")
    #expect(run.lines.last == "the device restarts with it", "\(run.output)")
  }

  @Test("an upload that was interrupted is continued with the boot loader's name")
  func interrupted() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("objectLength: 512", "mtu: 23"))
    let file = try package(1, for: daemon)
    let first = try daemon.bleshell(
      "dfu", "Lamp", file, "--json",
      interruptedWhen: { output in
        output.split(separator: "\n").count { $0.contains("progress") } > 1
      })
    #expect(first.status == 130, "\(first.errors)")
    let objects = try first.objects()
    let name = try #require(objects.first { $0["kind"] == "bootLoader" }?["device"])
    guard case .text(let name) = name else { throw ChildProcess.Failure(description: "\(name)") }
    let reached = try octets(try #require(objects.last { $0["kind"] == "progress" }))
    let second = try daemon.bleshell("dfu", name, file, "--json")
    #expect(second.status == 0, "\(second.errors)")
    let start = try #require(try second.objects().first { $0["kind"] == "progress" })
    #expect(try octets(start) >= reached && reached > 0, "\(second.output)")
  }

  private func octets(_ object: [String: JSONValue]) throws -> Int {
    guard case .integer(let octets)? = object["octets"] else { throw ChildProcess.Failure(description: "\(object)") }
    return octets
  }

  @Test("a boot loader with bonds keeps its address, and needs a bond")
  func bonds() throws {
    let alone = try DaemonProcess(scenario: Self.scenario(#"entry: "bonds""#))
    let refused = try alone.bleshell("dfu", "Lamp", try package(4, for: alone))
    #expect(refused.status == 1 && refused.errors.contains(#""bleshell pair Lamp" first"#), "\(refused.errors)")
    let daemon = try DaemonProcess(scenario: Self.scenario(#"entry: "bonds""#, "pairing: {}"))
    let file = try package(4, for: daemon)
    #expect(try daemon.bleshell("pair", "Lamp", "--level", "encrypted").status == 0)
    let run = try daemon.bleshell("dfu", "Lamp", file)
    #expect(run.status == 0 && run.output.contains("uploaded 20 kB"), "\(run.errors)")
    // The application is back, with its own services.
    let services = try daemon.bleshell("services", "Lamp")
    #expect(services.output.contains("Nordic Buttonless DFU With Bonds"), "\(services.output) \(services.errors)")
  }

  @Test("an application that restarts without its boot loader ends the update")
  func noBootLoader() throws {
    let scenario = Self.scenario(#"entry: "bonds", faults: { start: true }"#, "pairing: {}")
    let daemon = try DaemonProcess(scenario: scenario)
    #expect(try daemon.bleshell("pair", "Lamp", "--level", "encrypted").status == 0)
    let run = try daemon.bleshell("dfu", "Lamp", try package(2, for: daemon))
    #expect(run.status == 1 && run.errors.contains("without starting its boot loader"), "\(run.errors)")
  }

  @Test("an application that restarts without an answer starts the boot loader")
  func unansweredEntry() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("faults: { silence: true }"))
    let run = try daemon.bleshell("dfu", "Lamp", try package(2, for: daemon))
    // The end of the update is not answered, either, and the boot loader is away then.
    #expect(run.output.contains("the boot loader is started: Dfu"), "\(run.output) \(run.errors)")
    #expect(run.status == 1 && run.errors.contains("the device has all of the firmware"), "\(run.errors)")
  }

  @Test("a link that is lost at the end leads to the application, which is reported")
  func unansweredEnd() throws {
    let scenario = Self.scenario(#"entry: "bonds", faults: { silence: true }"#, "pairing: {}")
    let daemon = try DaemonProcess(scenario: scenario)
    #expect(try daemon.bleshell("pair", "Lamp", "--level", "encrypted").status == 0)
    let run = try daemon.bleshell("dfu", "Lamp", try package(2, for: daemon))
    #expect(run.status == 1 && run.errors.contains("the device has all of the firmware"), "\(run.errors)")
  }

  @Test("a boot loader that was started by hand, and its refusal")
  func byHand() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario(#"entry: "button", faults: { refusal: 12 }"#))
    let file = try package(1, for: daemon)
    let refused = try daemon.bleshell("dfu", "Lamp", file)
    #expect(refused.status == 1 && refused.errors.contains("the signature is not by the key"), "\(refused.errors)")
    let run = try daemon.bleshell("dfu", "Lamp", file)
    #expect(run.status == 0 && !run.output.contains("is started"), "\(run.output) \(run.errors)")
    let other = try daemon.bleshell("dfu", "Lamp", try package(2, hardware: 51, for: daemon))
    #expect(other.errors.contains("for another hardware version (extended error 6)"), "\(other.errors)")
  }

  @Test("a package of several images is uploaded in one call, with a restart between them")
  func severalImages() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario(#"entry: "button""#))
    let (system, application) = (TestPackage.firmware(5000), TestPackage.firmware(3000))
    let manifest = """
      {"manifest": {"application": {"bin_file": "a.bin", "dat_file": "a.dat"},
        "softdevice_bootloader": {"bin_file": "s.bin", "dat_file": "s.dat"}}}
      """
    let path = "\(daemon.folder.path)/all.zip"
    let octets = TestPackage.zip([
      ("a.bin", application), ("a.dat", TestPackage.packet(version: 2, application)), ("s.bin", system),
      ("s.dat", TestPackage.packet(version: 2, kind: 3, system)), ("manifest.json", Array(manifest.utf8)),
    ])
    try Data(octets).write(to: URL(filePath: path))
    let run = try daemon.bleshell("dfu", "Lamp", path)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.count { $0.hasPrefix("uploaded ") } == 2, "\(run.output)")
    #expect(run.lines.first?.hasPrefix("all.zip: SoftDevice and boot loader version 2") == true, "\(run.output)")
    // The boot loader refuses its own version, as after an update that was interrupted behind the first image.
    let again = try daemon.bleshell("dfu", "Lamp", path)
    #expect(again.status == 0 && again.lines.count { $0.hasPrefix("uploaded ") } == 1, "\(again.output)")
    #expect(again.errors.contains("(extended error 5); the update continues with the application"), "\(again.errors)")
  }

  @Test("files, options and devices that do not fit are errors with a remedy")
  func misuse() throws {
    let daemon = try DaemonProcess(scenario: nil)
    let file = try package(1, for: daemon)
    let options = try daemon.bleshell("dfu", "Battery", file, "--confirm")
    #expect(options.status == 64 && options.errors.contains("leave out --test"), "\(options.errors)")
    let none = try daemon.bleshell("dfu", "Battery", file)
    #expect(none.status == 1 && none.errors.contains("no service of Nordic's Secure DFU"), "\(none.errors)")
    try Data(TestPackage.octets(version: 1, length: 50).dropLast(30)).write(to: URL(filePath: file))
    #expect(try daemon.bleshell("dfu", "Battery", file).errors.contains("no zip archive, or its end is missing"))
  }
}
