import BledRPC
import FoundationEssentials
import Glibc
import Testing

/// `bleshell doctor`, on whatever machine the tests run on.
@Suite struct DoctorTests {
  /// True if this machine has no Bluetooth: then the findings are known.
  private static let hasNoBluetooth: Bool = {
    let descriptor = socket(31, Int32(SOCK_RAW.rawValue), 1)
    if descriptor >= 0 { close(descriptor) }
    return descriptor < 0 && errno == EAFNOSUPPORT
  }()

  @Test("with simulated adapters nothing is wrong, in 80 columns and as JSON", .timeLimit(.minutes(10)))
  func simulated() throws {
    let daemon = try DaemonProcess()
    let client = try daemon.client()
    try eventually("the adapter is on") { try client.call(AdapterList.self, Empty()).adapters.first?.state == "on" }
    let run = try daemon.bleshell("doctor")
    #expect(run.lines.contains { $0.hasPrefix("daemon    ok       bled") && $0.hasSuffix("answers") }, "\(run.output)")
    #expect(run.lines.contains { $0.hasPrefix("daemon    ok       \(daemon.adapter(0)) is on, with 0 links") })
    #expect(run.lines.allSatisfy { $0.count <= 80 || !$0.dropFirst(20).contains(" ") }, "\(run.output)")
    let objects = try daemon.bleshell("doctor", "--json").objects()
    let problems = objects.filter { $0["verdict"] == .text("problem") }
    #expect(objects.contains { $0["check"] == .text("kernel") })
    #expect(run.status == (problems.isEmpty ? 0 : 1))
    if Self.hasNoBluetooth { #expect(problems.isEmpty, "\(problems)") }
  }

  @Test("without a daemon and without Bluetooth both are said, with remedies", .enabled(if: hasNoBluetooth))
  func nothing() throws {
    let folder = try TemporaryFolder()
    let run = try ChildProcess("bleshell", ["doctor", "--socket", "\(folder.path)/none"], folder: folder)
    #expect(try run.exitStatus() == 1)
    #expect(run.errors.isEmpty)
    #expect(run.output.contains("has no Bluetooth here."))
    #expect(run.output.contains("bled --adapter simulated"))
    #expect(run.output.contains("the daemon is not"))
    #expect(run.output.hasSuffix("problems.\n"))
  }

  @Test("\"power on\" without Bluetooth is refused at once, with the reason", .enabled(if: hasNoBluetooth))
  func power() throws {
    let folder = try TemporaryFolder()
    let socket = "\(folder.path)/bled.sock"
    let daemon = try ChildProcess(
      "bled", ["--adapter", "hci0", "--socket", socket, "--state-directory", folder.path], folder: folder)
    defer {
      daemon.send(signal: SIGTERM)
      _ = try? daemon.exitStatus()
    }
    try eventually("the daemon is ready") { daemon.errors.contains("is ready on") }
    // Less than the patience with a controller, which is 15 s.
    let run = try ChildProcess("bleshell", ["power", "on", "--socket", socket], folder: folder)
    #expect(try run.exitStatus() == 1)
    #expect(run.errors.contains("has no Bluetooth here"), "\(run.errors)")
  }
}
