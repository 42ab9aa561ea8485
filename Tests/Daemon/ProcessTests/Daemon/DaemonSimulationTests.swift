import BledRPC
import Bluetooth
import Glibc
import Testing

/// Programs that test with simulated devices hold the clock and command the devices.
@Suite(.serialized) struct DaemonSimulationTests {
  private let scenario = """
    { "clock": "manual", "seed": 7, "devices": [{
        "name": "Belt", "address": "C0:DE:00:00:00:01", "addressType": "random", "advertising": { "name": "Belt" },
        "services": [{ "uuid": "180D", "characteristics": [
          { "uuid": "2A37", "properties": ["notify"], "value": "0648", "notifyEvery": 1 },
          { "uuid": "2A38", "properties": ["read", "write", "notify"], "value": "01" }] }] }] }
    """

  private func advance(_ client: SocketClient, by seconds: Double) throws -> Double {
    try client.call(SimulationAdvance.self, .init(seconds: seconds)).time
  }

  /// Connects to the belt, and subscribes to 2A38.
  private func subscribe(_ client: SocketClient) throws -> String {
    let connect = try client.start(
      PeripheralConnect.self, .init(address: "C0:DE:00:00:00:01", addressType: "random"))
    _ = try advance(client, by: 2)
    let id = try client.finish(connect, PeripheralConnect.self).get().peripheral
    let subscribe = try client.start(GATTSubscribe.self, .init(peripheral: id, attribute: .characteristic(0x2A38)))
    _ = try advance(client, by: 5)
    _ = try client.finish(subscribe, GATTSubscribe.self).get()
    return id
  }

  @Test("the adapter is on, and nothing happens until the clock is moved; then all of it, at its time")
  func clock() throws {
    let daemon = try DaemonProcess(scenario: scenario)
    let client = try daemon.client()
    #expect(try client.call(AdapterList.self, Empty()).adapters.map(\.state) == ["on"])
    try client.call(ScanStart.self, .init())
    #expect(try advance(client, by: 1.5) == 1_700_000_001.5)
    let report = try client.next(ScanReport.self)
    #expect(report.time > 1_700_000_000 && report.time < 1_700_000_001.5)
    #expect(try advance(client, by: 86_400) == 1_700_086_401.5)
    #expect(throws: (any Error).self) { try advance(client, by: 86_401) }
    #expect(throws: (any Error).self) { try advance(client, by: -1) }
    daemon.process.send(signal: SIGTERM)
    #expect(try daemon.process.exitStatus() == 0, "the end waits for nobody who would move the clock")
  }

  @Test("values, links and devices change when they are told to; the same seed and calls give the same identifiers")
  func commands() throws {
    var identifiers: Set<String> = []
    for _ in 0..<2 {
      let daemon = try DaemonProcess(scenario: scenario)
      let client = try daemon.client()
      let id = try subscribe(client)
      identifiers.insert(id)
      try client.call(
        SimulationSetValue.self, .init(device: "Belt", characteristic: 0x2A38, value: HexBytes([2])))
      _ = try advance(client, by: 1)
      #expect(try client.next(GATTValue.self).value.octets == [2])
      try client.call(SimulationDisconnect.self, .init(device: "Belt", reason: 0x08))
      _ = try advance(client, by: 1)
      #expect(try client.next(PeripheralDisconnected.self).reason?.data?.code == 8)
      try client.call(SimulationVanish.self, .init(device: "Belt"))
      #expect(try client.call(SimulationDevices.self, Empty()).devices.map(\.present) == [false])
      try client.call(SimulationComeBack.self, .init(device: "Belt"))
      let more = #"{ devices: [{ name: "Lamp", address: "C0:DE:00:00:00:02" }] }"#
      try client.call(SimulationAdd.self, .init(scenario: more))
      #expect(try client.call(SimulationDevices.self, Empty()).devices.map(\.name) == ["Belt", "Lamp"])
    }
    #expect(identifiers.count == 1)
  }

  @Test("a device changes, and tells what was written to it; equal calls give equal writes")
  func changes() throws {
    var traces: [[SimulationWrite]] = []
    for _ in 0..<2 {
      let daemon = try DaemonProcess(scenario: scenario)
      let client = try daemon.client()
      let id = try subscribe(client)
      func write(_ octet: UInt8) throws -> Result<GATTWrite.Result, RPCError> {
        let write = try client.start(
          GATTWrite.self, .init(peripheral: id, attribute: .characteristic(0x2A38), value: HexBytes([octet])))
        _ = try advance(client, by: 5)
        return try client.finish(write, GATTWrite.self)
      }
      let refusal = #"{ faults: { answers: [{ characteristic: "2A38", error: 14, count: 1 }] } }"#
      try client.call(SimulationChange.self, .init(device: "Belt", members: refusal))
      #expect(throws: RPCError.self) { try write(2).get() }
      _ = try write(3).get()
      #expect(throws: (any Error).self) {
        try client.call(SimulationChange.self, .init(device: "Belt", members: "{ name: 3 }"))
      }
      let writes = try client.call(SimulationWritten.self, .init(device: "Belt")).writes
      #expect(writes.map(\.operation) == ["subscribe", "write"])
      #expect(writes.last?.value.octets == [3])
      #expect(try client.call(SimulationWritten.self, .init(after: 2)).writes == [])
      traces.append(writes)
    }
    #expect(traces[0] == traces[1])
  }

  @Test("a phone visits a program's services and tells what it got; the adapter is unplugged and comes back")
  func visits() throws {
    let daemon = try DaemonProcess(scenario: #"{ "clock": "manual" }"#)
    let client = try daemon.client()
    let level = ServiceToPublish.Characteristic(uuid: 0x2A19, properties: ["read"], value: HexBytes([0x64]))
    try client.call(ServiceAdd.self, .init(service: .init(uuid: 0x180F, characteristics: [level])))
    try client.call(AdvertisingStart.self, .init(name: "bled", services: [0x180F]))
    let phone = #"""
      { name: "Phone", address: "C0:DE:00:00:01:01", stay: 0, script: [{ do: "read" }] }
      """#
    let visit = try client.start(SimulationVisit.self, .init(phone: phone))
    _ = try advance(client, by: 30)
    let result = try client.finish(visit, SimulationVisit.self).get()
    #expect(result.complete && result.steps.map(\.action) == ["discover", "read"])
    #expect(result.steps.last?.value?.octets == [0x64])
    for state in SimulationAdapter.State.allCases.reversed() {
      try client.call(SimulationAdapter.self, .init(state: state))
      _ = try advance(client, by: 1)
      #expect(
        try client.call(AdapterList.self, Empty()).adapters.map(\.state) == [Word<AdapterCondition>(state.rawValue)])
    }
    #expect(throws: (any Error).self) { try client.call(SimulationAdapter.self, .init(adapter: "lamp", state: .on)) }
  }

  @Test("commands that cannot be followed say why: unknown devices, bad scenarios, a clock that goes by itself")
  func errors() throws {
    let daemon = try DaemonProcess(scenario: scenario)
    let client = try daemon.client()
    #expect(throws: (any Error).self) { try client.call(SimulationVanish.self, .init(device: "Lamp")) }
    #expect(throws: (any Error).self) { try client.call(SimulationAdd.self, .init(scenario: "{ devices: 3 }")) }
    #expect(throws: (any Error).self) {
      try client.call(SimulationSetValue.self, .init(device: "Belt", characteristic: 0x2A00, value: HexBytes([])))
    }
    #expect(throws: (any Error).self) {
      try client.call(SimulationDisconnect.self, .init(device: "Belt", reason: 256))
    }
    let other = try DaemonProcess()
    let usual = try other.client()
    #expect(throws: (any Error).self) { try advance(usual, by: 1) }
    #expect(try usual.call(SimulationDevices.self, Empty()).devices.count == 4)
  }

  @Test("a clock of a scenario is for simulated adapters alone, and there is one")
  func clocks() throws {
    let folder = try TemporaryFolder()
    try ChildProcess.write(#"{ "clock": "manual" }"#, to: "\(folder.path)/a.json")
    try ChildProcess.write(#"{ "clock": 60 }"#, to: "\(folder.path)/b.json")
    try ChildProcess.write(#"{ "clock": 0.5 }"#, to: "\(folder.path)/c.json")
    for (adapters, message) in [
      (["simulated:\(folder.path)/a.json", "hci0"], "for simulated adapters alone"),
      (["simulated:\(folder.path)/a.json", "simulated:\(folder.path)/b.json"], "different clocks"),
      (["simulated:\(folder.path)/c.json"], "c.json:1:12: clock: 0.5 is out of range"),
    ] {
      let arguments = adapters.flatMap { ["--adapter", $0] } + ["--socket", "\(folder.path)/bled.sock"]
      let process = try ChildProcess("bled", arguments, folder: folder)
      #expect(try process.exitStatus() != 0)
      #expect(process.errors.contains(message), "\(process.errors)")
    }
  }

  @Test("a clock that is sixty times as fast brings a minute in a second")
  func factor() throws {
    let fast = scenario.replacing("\"manual\"", with: "60")
    let daemon = try DaemonProcess(scenario: fast)
    let client = try daemon.client()
    let connected = try client.call(
      PeripheralConnect.self, .init(address: "C0:DE:00:00:00:01", addressType: "random"))
    try client.call(GATTSubscribe.self, .init(peripheral: connected.peripheral, attribute: .characteristic(0x2A37)))
    for _ in 0..<60 { _ = try client.next(GATTValue.self) }
  }
}
