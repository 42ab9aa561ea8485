import BledRPC
import Bluetooth
import Glibc
import Testing

/// Knowledge of a real daemon after a restart, and its treatment of a store that cannot be used.
@Suite(.serialized) struct DaemonStoreTests {
  private static let scenario = """
    { "devices": [
      { "name": "Lamp", "address": "C0:DE:00:00:00:01", "addressType": "random",
        "advertising": { "name": "Lamp" }, "databaseHash": true,
        "services": [
          { "uuid": "180F", "characteristics": [ { "uuid": "2A19", "properties": ["read"], "value": "32" } ] } ] }
    ] }
    """

  @Test("An identifier outlasts the daemon, stopped or killed: connect works without a scan (P23, P29)")
  func identifiers() throws {
    let folder = try TemporaryFolder()
    var id: String?
    var tree: [ServiceDescription] = []
    for signal in [SIGKILL, SIGTERM, SIGTERM] {
      let daemon = try DaemonProcess(scenario: Self.scenario, folder: folder)
      let client = try daemon.client()
      if let id {
        let known = try client.call(PeripheralList.self, Empty()).peripherals
        #expect(known.map(\.peripheral) == [id])
        #expect(try client.call(PeripheralConnect.self, .init(peripheral: id, timeout: 300)).peripheral == id)
        #expect(try client.call(GATTDiscover.self, .init(peripheral: id)).services == tree)
      } else {
        let address = PeripheralConnect.Params(address: "C0:DE:00:00:00:01", timeout: 300)
        id = try client.call(PeripheralConnect.self, address).peripheral
        tree = try client.call(GATTDiscover.self, .init(peripheral: try #require(id))).services
        #expect(tree.contains { $0.uuid == 0x180F })
      }
      if signal == SIGKILL { try waitForFile("\(folder.path)/peripherals", client) }
      daemon.process.send(signal: signal)
      if signal == SIGTERM {
        #expect(try daemon.process.exitStatus() == 0)
      } else {
        _ = try daemon.process.exitStatus()
      }
    }
  }

  /// Waits until the daemon has written a file.
  private func waitForFile(_ path: String, _ client: SocketClient) throws {
    try eventually("\(path) is written") {
      try client.call(AdapterList.self, Empty())
      return access(path, F_OK) == 0
    }
  }

  @Test("bleshell forget: the device is unknown, also after a restart (P11)")
  func forget() throws {
    let folder = try TemporaryFolder()
    let daemon = try DaemonProcess(scenario: Self.scenario, folder: folder)
    let client = try daemon.client()
    let address = PeripheralConnect.Params(address: "C0:DE:00:00:00:01", timeout: 300)
    let id = try client.call(PeripheralConnect.self, address).peripheral
    let early = try daemon.bleshell("forget", "C0:DE:00:00:00:01")
    #expect(early.status != 0 && early.errors.contains("end that in all sessions first"))
    try client.call(PeripheralDisconnect.self, .init(peripheral: id))
    try client.next(PeripheralDisconnected.self) { $0.peripheral == id }
    let forgetting = try daemon.bleshell("forget", "C0:DE:00:00:00:01/random")
    #expect(forgetting.status == 0, "\(forgetting.errors)")
    #expect(forgetting.output.contains(id))
    let again = try daemon.bleshell("forget", id)
    #expect(again.status != 0 && again.errors.contains("bled does not know the device"))
    daemon.process.send(signal: SIGTERM)
    #expect(try daemon.process.exitStatus() == 0)
    let next = try DaemonProcess(scenario: Self.scenario, folder: folder)
    #expect(try next.client().call(PeripheralList.self, Empty()).peripherals.isEmpty)
  }

  @Test("A damaged store is moved aside and named in the log; without a directory the daemon says so and runs")
  func damage() throws {
    let folder = try TemporaryFolder()
    let file = try #require(fopen("\(folder.path)/peripherals", "w"))
    fputs("bled-store 1 peripherals 1 00000000\n{\"peripherals\":[", file)
    fclose(file)
    let daemon = try DaemonProcess(scenario: Self.scenario, folder: folder)
    #expect(try daemon.client().call(PeripheralList.self, Empty()).peripherals.isEmpty)
    #expect(daemon.process.errors.contains("\(folder.path)/peripherals.damaged"))
    #expect(access("\(folder.path)/peripherals.damaged", F_OK) == 0)

    let nowhere = try DaemonProcess(
      scenario: Self.scenario, arguments: ["--state-directory", "\(folder.path)/none/deep"])
    let address = PeripheralConnect.Params(address: "C0:DE:00:00:00:01", timeout: 300)
    _ = try nowhere.client().call(PeripheralConnect.self, address)
    let lines = nowhere.process.errors.split(separator: "\n").filter { $0.contains("none/deep") }
    #expect(lines.count == 1 && lines.first?.contains("--state-directory") == true)
  }
}
