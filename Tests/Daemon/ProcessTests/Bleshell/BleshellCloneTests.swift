import BledRPC
import FoundationEssentials
import Glibc
import Testing
import TestSupport

/// Devices of recordings and of the air as simulated devices: `bleshell scenario`, `bleshell clone`, and `bleshell log`
/// with a file.
@Suite(.serialized) struct BleshellCloneTests {
  private static let scenario = """
    { devices: [{ name: "Belt", address: "C0:DE:00:00:00:01", addressType: "random",
      advertising: { name: "Belt", services: ["180D"] }, services: [{ uuid: "180D", characteristics: [
        { uuid: "2A37", properties: ["notify"], notifyEvery: 0.2, value: "0648" },
        { uuid: "2A38", value: "02", descriptors: [{ uuid: "2901", text: "Where" }] },
      ] }] }] }
    """

  /// The answers of the device to bleshell.
  private func answers(_ daemon: DaemonProcess) throws -> [String] {
    let services = try daemon.bleshell("services", "Belt")
    let read = try daemon.bleshell("read", "Belt", "2A38")
    let values = try daemon.bleshell("subscribe", "Belt", "2A37", "--count", "2")
    for run in [services, read, values] { #expect(run.status == 0, "\(run.errors)") }
    let uuids = services.output.split(separator: "\n").filter { $0.contains("2A3") || $0.contains("180D") }
    return [read.output, "\(uuids.count)", "\(values.lines.count)"]
  }

  /// A recording of a connection to the belt with discovery, a read and a subscription.
  private func record(_ file: String, _ daemon: DaemonProcess) throws -> [String] {
    let capture = try daemon.start(["capture", file])
    try eventually("it records") { access(file, F_OK) == 0 }
    _ = try daemon.bleshell("scan", "--time", "2")
    let answers = try answers(daemon)
    kill(capture.pid, SIGINT)
    #expect(try capture.exitStatus() == 0, "\(capture.errors)")
    return answers
  }

  @Test("a device of a recording answers as it did", arguments: ["a.btsnoop", "a.pcapng"])
  func scenario(name: String) throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let file = "\(daemon.folder.path)/\(name)"
    let wanted = try record(file, daemon)
    let run = try daemon.bleshell("scenario", file, "Belt")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("1 devices, 1 of them with services"), "\(run.errors)")
    let copy = try DaemonProcess(scenario: run.output)
    #expect(try answers(copy) == wanted)
    let missing = try daemon.bleshell("scenario", file, "Bolt")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("did you mean Belt?"), "\(missing.errors)")
  }

  @Test("a cloned device answers as the device does")
  func clone() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let run = try daemon.bleshell("clone", "Belt", "--watch", "2")
    #expect(run.status == 0, "\(run.errors)")
    let copy = try DaemonProcess(scenario: run.output)
    #expect(try answers(copy) == answers(daemon))
    #expect(run.output.contains(#"{ "uuid": "2901", "value": "5768657265" }"#), "\(run.output)")
  }

  @Test("log reads a file without a daemon, and has each packet of ATT that tshark has")
  func log() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario)
    let file = "\(daemon.folder.path)/a.btsnoop"
    _ = try record(file, daemon)
    let run = try daemon.bleshell("--socket", "/nonexistent", "log", file, "Belt", "--json")
    #expect(run.status == 0, "\(run.errors)")
    let packets = try run.objects().filter { $0["direction"] != nil }
    #expect(packets.contains { $0["text"] == "Read Response" && $0["value"] == "02" && $0["name"] == "Belt" })
    #expect(packets.contains { $0["text"] == "Read Response" && $0["opcode"] == 11 })
    let tshark = try ChildProcess(
      "/usr/bin/tshark", ["-r", file, "-Y", "btatt", "-T", "fields", "-e", "btatt.opcode"], environment: [:],
      folder: daemon.folder)
    #expect(try tshark.exitStatus() == 0, "\(tshark.errors)")
    #expect(tshark.output.split(separator: "\n").count == packets.count)
    let other = try daemon.bleshell("log", "/dev/null")
    #expect(other.status == 1)
    #expect(other.errors.contains("not a recording of HCI packets"), "\(other.errors)")
  }
}
