import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc
import Testing

/// Programs that are killed and restarted: G20 and G22 with real processes.
@Suite(.serialized) struct DaemonRestorationTests {
  private static let belt = "C0:DE:00:00:00:01"

  private static func line(_ id: Int, _ method: String, _ params: String) -> String {
    "raw '{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\",\"params\":\(params)}'\n"
  }

  @Test("G20, G22: after kill -9 the next process gets the link, values and pending connection; a file wakes it")
  func killed() throws {
    let daemon = try DaemonProcess()
    let observer = try daemon.client()
    try observer.call(ScanStart.self, .init(services: [0x180D]))
    let report = try observer.next(ScanReport.self) { $0.address == Self.belt }
    let peripheral = report.peripheral
    let script =
      Self.line(1, "session.open", #"{"name":"killed","restore":"kill test"}"#)
      + Self.line(2, "peripheral.connect", #"{"peripheral":"\#(peripheral)"}"#)
      + Self.line(3, "gatt.discover", #"{"peripheral":"\#(peripheral)"}"#)
      + Self.line(4, "advertising.start", #"{"name":"Killed"}"#)
      + Self.line(5, "peripheral.connect", #"{"address":"C0:FF:EE:00:00:01","addressType":"random"}"#)
    let program = try ChildProcess(
      "bleshell", ["--socket", daemon.socketPath], input: script, folder: daemon.folder)
    try eventually("the program advertises and waits for a device") {
      let isOnAir = try observer.call(AdapterList.self, Empty()).adapters.first?.advertising == 1
      let devices = try observer.call(PeripheralList.self, Empty()).peripherals
      return isOnAir && devices.contains { $0.address == "C0:FF:EE:00:00:01" && $0.state == "connecting" }
    }
    program.send(signal: SIGKILL)
    #expect(try program.exitStatus() == 128 + SIGKILL)

    let wake = "\(daemon.socketPath).wake/kill\\x20test"
    let second = try daemon.client()
    let opened = try second.call(SessionOpen.self, .init(name: "second", restore: "kill test"))
    let restored = try #require(opened.restored)
    let device = try #require(restored.peripherals.first { $0.peripheral == peripheral })
    #expect(
      device.state == "connected" && restored.peripherals.map(\.state.text).sorted() == ["connected", "connecting"])
    #expect(restored.advertisements.map(\.parameters.name) == ["Killed"])
    let heartRate = try #require(device.services.first { $0.uuid == 0x180D })
    let rate = try #require(heartRate.characteristics?.first { $0.uuid == 0x2A37 }).handle
    try second.call(GATTSubscribe.self, .init(peripheral: peripheral, handle: rate))
    try second.next(GATTValue.self)
    #expect(access(wake, F_OK) != 0)

    // Now something happens while the program is away.
    second.close()
    try eventually("a file asks for the program") { access(wake, F_OK) == 0 }
    let third = try daemon.client()
    let again = try third.call(SessionOpen.self, .init(restore: "kill test"))
    #expect(again.session == opened.session)
    #expect(again.restored?.peripherals.first { $0.peripheral == peripheral }?.subscriptions == [rate])
    try third.next(GATTValue.self)
    #expect(access(wake, F_OK) != 0)

    try third.call(SessionEnd.self, .init())
    try third.waitForEnd()
    try eventually("everything was given back") {
      let adapter = try observer.call(AdapterList.self, Empty()).adapters.first
      return adapter?.advertising == 0 && adapter?.links == 0
    }
  }

  @Test("bleshell shows a preserved session, and ends it")
  func endCommand() throws {
    let daemon = try DaemonProcess()
    let program = try daemon.client()
    try program.call(SessionOpen.self, .init(name: "logger", restore: "com.example.logger"))
    try program.call(ScanStart.self, .init(services: [0x180D]))
    let early = try daemon.bleshell("end", "com.example.logger")
    #expect(early.status == 1 && early.errors.contains("alreadyInProgress"), "\(early.errors)")
    program.close()
    try eventually("the program has disconnected") {
      try daemon.bleshell("sessions").output.contains("gone (com.example.logger)")
    }
    let run = try daemon.bleshell("end", "com.example.logger")
    #expect(run.status == 0 && run.output == "ended com.example.logger\n", "\(run.errors)")
    #expect(try daemon.bleshell("sessions", "--json").objects().count == 1)
    let again = try daemon.bleshell("end", "com.example.logger", "--json")
    #expect(again.status == 1 && again.errors.contains("unknownHandle"), "\(again.errors)")
  }
}
