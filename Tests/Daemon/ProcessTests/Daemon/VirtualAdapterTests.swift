import BledRPC
import TestSupport
import Testing

/// `bled` on virtual adapters: its own host, and each device as another one.
@Suite(.serialized) struct VirtualAdapterTests {
  private static let scenario = """
    { devices: [{ name: "Lamp", address: "C0:DE:00:00:00:01", addressType: "random", advertising: { name: "Lamp" },
      pairing: { capability: "display", passkey: 42 }, services: [{ uuid: "FFF0", characteristics: [
        { uuid: "FFF1", properties: ["read", "write", "notify"], value: "01", rule: { kind: "echo" } },
        { uuid: "FFF2", properties: ["read"], value: "02", security: "authenticated" },
        { uuid: "FFF3", properties: ["notify"], notifyEvery: 0.02, rule: { kind: "counter" } } ] }] }] }
    """

  @Test("scan, read, write, subscribe and pair by bleshell")
  func bleshell() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario, isVirtual: true)
    let found = try longEnough(for: { $0.output.contains("Lamp") }) { try daemon.bleshell("scan", "--time", $0) }
    #expect(found.output.contains("C0:DE:00:00:00:01 random"))
    #expect(try daemon.bleshell("read", "Lamp", "FFF1").output == "FFF1: 01\n")
    #expect(try daemon.bleshell("write", "Lamp", "FFF1", "0A").status == 0)
    #expect(try daemon.bleshell("read", "Lamp", "FFF1").output == "FFF1: 0a\n")
    let client = try daemon.client()
    let writes = try client.call(SimulationWritten.self, .init(device: "Lamp")).writes
    #expect(writes.map(\.value.octets) == [[0x0A]])
    let pair = try daemon.bleshell("pair", "Lamp", "--level", "authenticated", "--passkey", "000042")
    #expect(pair.output == "paired with Lamp: secureConnections, key of 16 octets\n", "\(pair)")
    #expect(try daemon.bleshell("read", "Lamp", "FFF2").output == "FFF2: 02\n")
    #expect(!daemon.process.errors.contains("broke a rule"), "\(daemon.process.errors)")
  }

  @Test("a subscriber receives the values of a device")
  func subscription() throws {
    let daemon = try DaemonProcess(scenario: Self.scenario, isVirtual: true)
    let run = try daemon.bleshell("subscribe", "Lamp", "FFF3", "--count", "3", "--json")
    #expect(try run.objects().count == 3, "\(run)")
    let client = try daemon.client()
    let devices = try client.call(SimulationDevices.self, Empty()).devices
    #expect(devices.map(\.name) == ["Lamp"] && devices.map(\.present) == [true])
  }

  @Test("adapters of the two kinds have no air in common")
  func bothKinds() throws {
    let folder = try TemporaryFolder()
    let process = try ChildProcess(
      "bled", ["--adapter", "simulated", "--adapter", "virtual", "--socket", "\(folder.path)/bled.sock"],
      folder: folder)
    #expect(try process.exitStatus() != 0)
    #expect(process.errors.contains("simulated and virtual adapters have different airs"), "\(process.errors)")
  }
}
