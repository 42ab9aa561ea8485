import BledRPC
import FoundationEssentials
import TestSupport
import Testing

/// Updates with MCUmgr, on a simulated device and with its faults.
@Suite(.serialized) struct BleshellFirmwareTests {
  private static func scenario(_ firmware: String, mtu: Int = 247) -> String {
    """
    { devices: [ { name: "Unit", address: "C0:DE:00:00:00:71", addressType: "random", mtu: \(mtu),
        advertising: { name: "Unit" }, firmware: { \(firmware) } } ] }
    """
  }

  private static let length = 40_000

  /// Writes an image to a file.
  private func image(_ version: (UInt8, UInt8, UInt16, UInt32), for daemon: DaemonProcess) throws -> String {
    let path = "\(daemon.folder.path)/app-\(version.0).signed.bin"
    try Data(TestImage.octets(version: version, body: Self.length, signed: true)).write(to: URL(filePath: path))
    return path
  }

  @Test("an image is uploaded, tested, and confirmed")
  func update() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("eraseTime: 0.2, restartTime: 0.2"))
    let file = try image((2, 0, 1, 0), for: daemon)
    let uploaded = try daemon.bleshell("dfu", "Unit", file)
    #expect(uploaded.status == 0, "\(uploaded.errors)")
    #expect(uploaded.lines.first?.hasPrefix("app-2.signed.bin: version 2.0.1, hash ") == true)
    #expect(uploaded.lines.last?.hasPrefix("uploaded 40.1 kB in ") == true, "\(uploaded.output)")
    let tested = try daemon.bleshell("dfu", "Unit", file, "--test", "--reset")
    #expect(tested.status == 0, "\(tested.errors)")
    #expect(tested.output.contains("Unit has this image already\n2.0.1 is tested at the next reset\n"))
    #expect(tested.lines.last?.hasPrefix("Unit runs 2.0.1, until its next reset") == true, "\(tested.output)")
    let confirmed = try daemon.bleshell("dfu", "Unit", file, "--confirm", "--reset", "--json")
    #expect(confirmed.status == 0, "\(confirmed.errors)")
    let objects = try confirmed.objects()
    #expect(objects.map { $0["kind"] } == ["image", "uploaded", "chosen", "running"], "\(confirmed.output)")
    #expect(objects.last?["confirmed"] == true && objects.last?["version"] == "2.0.1")
  }

  @Test("an image that is not confirmed is undone by the next reset")
  func undone() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("restartTime: 0.2"))
    let file = try image((2, 0, 0, 0), for: daemon)
    #expect(try daemon.bleshell("dfu", "Unit", file, "--test", "--reset").status == 0)
    let again = try daemon.bleshell("dfu", "Unit", file, "--reset")
    #expect(again.status == 0, "\(again.errors)")
    let images = try daemon.bleshell("mcumgr", "Unit", "images", "--json").objects()
    #expect(images.map { $0["version"] } == ["1.0.0", "2.0.0"] && images.first?["active"] == true)
  }

  @Test("lost requests, lost answers and a lost link delay an upload only")
  func faults() throws {
    let firmware = """
      bufferSize: 2048, buffers: 8, faults: { requests: 0.03, answers: 0.03, disconnectAt: 20000 }
      """
    let daemon = try DaemonProcess(scenario: Self.scenario(firmware), arguments: ["--log-level", "info"])
    let file = try image((3, 0, 0, 0), for: daemon)
    let run = try daemon.bleshell("dfu", "Unit", file, "--json")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("it is continued after"), "\(run.errors)")
    let objects = try run.objects()
    #expect(objects.last?["kind"] == "uploaded" && objects.last?["octets"] == .integer(40_084), "\(run.output)")
    #expect(objects.contains { $0["kind"] == "progress" && $0["of"] == .integer(40_084) })
  }

  @Test("an upload that was interrupted is continued by the same command")
  func interrupted() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("bufferSize: 256, buffers: 1"))
    let file = try image((3, 0, 0, 0), for: daemon)
    let first = try daemon.bleshell(
      "dfu", "Unit", file, "--json",
      interruptedWhen: { output in
        output.split(separator: "\n").count { $0.contains("progress") } > 1
      })
    #expect(first.status == 130, "\(first.errors)")
    let reached = try octets(try #require(try first.objects().last { $0["kind"] == "progress" }))
    let second = try daemon.bleshell("dfu", "Unit", file, "--json")
    #expect(second.status == 0, "\(second.errors)")
    let start = try octets(try #require(try second.objects().first { $0["kind"] == "progress" }))
    #expect(start >= reached && reached > 256, "\(second.output)")
  }

  @Test("a device that restarts late is not examined before, on a link that stays until then")
  func lateRestart() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("restartTime: 0.2"))
    let file = try image((2, 0, 0, 0), for: daemon)
    let other = try image((3, 0, 0, 0), for: daemon)
    let lines = try daemon.bleshell(
      input: """
        connect Unit
        dfu Unit \(file) --test --reset
        connect Unit
        dfu \(other) --confirm --reset

        """)
    #expect(lines.status == 0, "\(lines.output) \(lines.errors)")
    #expect(lines.output.contains("Unit runs 2.0.0, until its next reset"), "\(lines.output) \(lines.errors)")
    // Also the current device, which is not named, is examined.
    #expect(lines.output.contains("Unit runs 3.0.0\n"), "\(lines.output) \(lines.errors)")
    let neither = try daemon.bleshell("dfu", "Unit", file, "--reset")
    #expect(neither.status == 0 && neither.lines.last == "Unit runs 3.0.0", "\(neither.output) \(neither.errors)")
  }

  @Test("a link that is lost before the first answer to a part delays an upload only, also with a limit")
  func earlyLoss() throws {
    let firmware = "eraseTime: 0.2, joins: false, faults: { disconnectAt: 1 }"
    let daemon = try DaemonProcess(scenario: Self.scenario(firmware), arguments: ["--log-level", "info"])
    let run = try daemon.bleshell("dfu", "Unit", try image((3, 0, 0, 0), for: daemon), "--timeout", "60")
    #expect(run.status == 0 && run.errors.contains("it is continued after 0 of 40084 octets"), "\(run.errors)")
  }

  private func octets(_ object: [String: JSONValue]) throws -> Int {
    guard case .integer(let octets)? = object["octets"] else { throw ChildProcess.Failure(description: "\(object)") }
    return octets
  }

  @Test("an image that arrives damaged is reported, and one that does not fit")
  func refusals() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario("faults: { damage: true }", mtu: 65))
    let file = try image((3, 0, 0, 0), for: daemon)
    let damaged = try daemon.bleshell("dfu", "Unit", file)
    #expect(damaged.status == 1 && damaged.errors.contains("its hash differs"), "\(damaged.errors)")
    let small = try DaemonProcess(scenario: Self.scenario("slotSize: 1000"))
    let large = try small.bleshell("dfu", "Unit", try image((3, 0, 0, 0), for: small))
    #expect(large.errors.contains("too large for the slot (image group, error 30)"), "\(large.errors)")
  }

  @Test("files and words that do not fit are errors with a remedy")
  func misuse() throws {
    let daemon = try DaemonProcess(scenario: nil)
    let path = "\(daemon.folder.path)/text"
    try ChildProcess.write("PK\u{3}\u{4}", to: path)
    #expect(try daemon.bleshell("dfu", "Belt", path).errors.contains("no zip archive"))
    try ChildProcess.write("hello", to: path)
    #expect(try daemon.bleshell("dfu", "Belt", path).errors.contains("no image for MCUboot"))
    #expect(try daemon.bleshell("dfu", "Belt", path, "--test", "--confirm").status == 64)
    #expect(try daemon.bleshell("dfu").status == 64)
    let none = try daemon.bleshell("mcumgr", "Heart Belt", "images")
    #expect(none.status == 1 && none.errors.contains("has no service of MCUmgr"), "\(none.errors)")
    #expect(try daemon.bleshell("mcumgr", "Belt").errors.contains("expected [DEVICE] and an action"))
    #expect(try daemon.bleshell("mcumgr", "Belt", "echo").status == 64)
    #expect(try daemon.bleshell("mcumgr", "Belt", "images", "x").status == 64)
  }

  @Test("a device is managed")
  func management() throws {
    let firmware = #"shell: [ { command: "kernel version", output: "Zephyr 4.2.0\r\n\r\nend\r\n" } ], bufferSize: 512"#
    let daemon = try DaemonProcess(scenario: Self.scenario(firmware))
    let text = String(repeating: "Hello! ", count: 60)
    #expect(try daemon.bleshell("mcumgr", "Unit", "echo", text).output == "\(text)\n")
    #expect(try daemon.bleshell("mcumgr", "Unit", "parameters").output == "buffers: 4 of 512 octets\n")
    #expect(try daemon.bleshell("mcumgr", "Unit", "shell", "kernel", "version").output == "Zephyr 4.2.0\n\nend\n")
    let unknown = try daemon.bleshell("mcumgr", "Unit", "shell", "nonsense")
    #expect(unknown.status == 1 && unknown.output.contains("command not found"), "\(unknown.errors)")
    let images = try daemon.bleshell("mcumgr", "Unit", "images")
    #expect(images.lines.first?.hasPrefix("SLOT  VERSION  STATE") == true, "\(images.output)")
    #expect(images.lines.last?.contains("1.0.0    runs, confirmed") == true, "\(images.output)")
    #expect(try daemon.bleshell("mcumgr", "Unit", "confirm").lines.count == 2)
    #expect(try daemon.bleshell("mcumgr", "Unit", "erase").output == "the slot is erased\n")
    #expect(try daemon.bleshell("mcumgr", "Unit", "reset").output == "it restarts\n")
    let lines = try daemon.bleshell(input: "connect Unit\nmcumgr echo one\nmcumgr images\n")
    #expect(lines.output.contains("one\n"), "\(lines.output) \(lines.errors)")
  }
}
