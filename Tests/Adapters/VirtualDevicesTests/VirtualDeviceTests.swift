import Adapter
import Bluetooth
import Controllers
import GATT
import Testing

@testable import Scenarios
@testable import VirtualController
@testable import VirtualDevices

/// Devices of a scenario, each a host of our own on a controller, in virtual time.
@Suite struct VirtualDeviceTests {
  private static let belt = """
    { devices: [
      { name: "belt", address: "C0:DE:00:00:00:01", addressType: "random", advertising: { name: "belt" },
        scanResponse: { services: ["180D"] }, rssi: -50, mtu: 100, pairing: {}, services: [
        { uuid: "180D", characteristics: [
          { uuid: "2A38", properties: ["read", "write"], value: "07" },
          { uuid: "2A37", properties: ["notify"], notifyEvery: 1, rule: { kind: "counter" } },
          { uuid: "2A39", properties: ["read"], value: "2A", security: "encrypted" } ] }] },
      { name: "beacon", address: "C0:DE:00:00:00:02", addressType: "random", connectable: false, rssi: -70,
        advertising: { manufacturerData: "4C000215" } } ] }
    """

  @Test func scansReportDevicesAndBeacons() throws {
    let stage = try VirtualStage(Self.belt)
    stage.scan()
    let belt = stage.reports.filter { $0.address == VirtualStage.address(1) }
    #expect(belt.contains { $0.isConnectable && AdvertisingData(parsing: $0.data).localName == "belt" })
    #expect(belt.contains { $0.isScanResponse && AdvertisingData(parsing: $0.data).serviceUUIDs == [0x180D] })
    #expect(belt.allSatisfy { $0.rssi == -50 })
    let beacon = stage.reports.filter { $0.address == VirtualStage.address(2) }
    #expect(!beacon.isEmpty && beacon.allSatisfy { !$0.isConnectable && $0.rssi == -70 })
    #expect(stage.log.all.isEmpty, "\(stage.log.all)")
  }

  @Test func valuesAreReadWrittenAndNotified() throws {
    let stage = try VirtualStage(Self.belt)
    let client = try #require(stage.connect(1))
    #expect(try client.run(.exchangeMTU) == .mtu(100))
    let place = try #require(try client.find(0x2A38))
    #expect(try client.run(.read(place.valueHandle)) == .value([7]))
    _ = try client.run(.write(place.valueHandle, [1, 2]))
    #expect(try client.run(.read(place.valueHandle)) == .value([1, 2]))
    #expect(stage.air.writes.entries(after: 0, device: "belt", limit: 9).map(\.value) == [[1, 2]])
    let rate = try #require(try client.find(0x2A37))
    _ = try client.run(.subscribe(descriptor: rate.valueHandle + 1, .notification))
    stage.scheduler.advance(by: .milliseconds(5500))
    #expect(client.values.count == 5)
    stage.scan()
    #expect(!stage.reports.contains { $0.address == VirtualStage.address(1) })
    client.link.disconnect()
    stage.scheduler.advance(by: .seconds(1))
    stage.scan()
    #expect(stage.reports.contains { $0.address == VirtualStage.address(1) })
  }

  @Test("Values that are set before a device ends its link arrive")
  func lastValues() throws {
    let stage = try VirtualStage(
      """
      { devices: [{ name: "lamp", address: "C0:DE:00:00:00:01", addressType: "random", services: [
        { uuid: "FFF0", characteristics: [{ uuid: "FFF1", properties: ["notify"] }] }] }] }
      """)
    let client = try #require(stage.connect(1))
    let place = try #require(try client.find(0xFFF1))
    _ = try client.run(.subscribe(descriptor: place.valueHandle + 1, .notification))
    for value: UInt8 in 1...3 { try stage.air.command("lamp", set: [value], of: 0xFFF1) }
    try stage.air.command("lamp", disconnectWith: 8)
    stage.scheduler.advance(by: .seconds(1))
    #expect(client.values == [[1], [2], [3]] && client.end?.code == 8)
  }

  @Test("A protected value needs a pairing, whose keys encrypt the next link")
  func pairing() throws {
    let stage = try VirtualStage(Self.belt)
    let client = try #require(stage.connect(1))
    let point = try #require(try client.find(0x2A39))
    #expect(throws: GATTError.self) { try client.run(.read(point.valueHandle)) }
    #expect(client.raise(to: 2) == nil)
    #expect(try client.run(.read(point.valueHandle)) == .value([0x2A]))
    client.link.disconnect()
    stage.scheduler.advance(by: .seconds(1))
    let pairings = stage.pairings
    let next = try #require(stage.connect(1))
    #expect(next.raise(to: 2) == nil)
    #expect(try next.run(.read(point.valueHandle)) == .value([0x2A]))
    #expect(stage.pairings == pairings)
  }

  @Test("A device without a pairing description does not pair")
  func refusal() throws {
    let stage = try VirtualStage(
      #"{ devices: [{ name: "lamp", address: "C0:DE:00:00:00:01", addressType: "random" }] }"#)
    let client = try #require(stage.connect(1))
    #expect(client.raise(to: 2)?.name == "pairingFailed")
  }

  @Test("The passkey that a device shows is that of its description")
  func passkey() throws {
    let stage = try VirtualStage(
      """
      { devices: [{ name: "lock", address: "C0:DE:00:00:00:01", addressType: "random",
        pairing: { capability: "display", passkey: 42 } }] }
      """)
    let client = try #require(stage.connect(1))
    var outcome: BluetoothError??
    client.link.raiseSecurity(to: 3, as: .keyboard, usesOwnData: false) { outcome = .some($0) }
    stage.scheduler.advance(by: .seconds(5))
    guard case .question(let id, .passkey)? = stage.pairings.last else {
      Issue.record("\(stage.pairings)")
      return
    }
    stage.adapter.host.answer(id, .passkey(42))
    stage.scheduler.advance(by: .seconds(20))
    #expect(outcome == .some(nil) && client.link.security.level >= 3)
  }

  @Test("A device that vanishes loses its link by the supervision timeout, and is found again when it is back")
  func vanishing() throws {
    let stage = try VirtualStage(Self.belt)
    let client = try #require(stage.connect(1))
    stage.scheduler.advance(by: .seconds(1))
    try stage.air.command("belt", isPresent: false)
    stage.scheduler.advance(by: .seconds(1))
    #expect(client.end == nil)
    stage.scheduler.advance(by: .seconds(10))
    #expect(client.end?.code == 8)
    stage.scan()
    #expect(!stage.reports.contains { $0.address == VirtualStage.address(1) })
    try stage.air.command("belt", isPresent: true)
    stage.scan()
    #expect(stage.reports.contains { $0.address == VirtualStage.address(1) })
    let other = try #require(stage.connect(1))
    try stage.air.command("belt", disconnectWith: 0x15)
    stage.scheduler.advance(by: .seconds(1))
    #expect(other.end?.code == 0x15)
    #expect(stage.air.commandedDevices.map(\.isConnected) == [false, false])
  }

  @Test("Lost links, and connection requests without an answer")
  func losses() throws {
    let stage = try VirtualStage(
      """
      { devices: [{ name: "far", address: "C0:DE:00:00:00:01", addressType: "random",
        losses: { connect: 0.5, link: 3 } }] }
      """)
    let client = try #require(stage.connect(1))
    stage.scheduler.advance(by: .seconds(2))
    #expect(client.end == nil)
    stage.scheduler.advance(by: .seconds(10))
    #expect(client.end?.code == 8)
    #expect(stage.connect(1) != nil)
  }

  @Test func channelsAreEchoed() throws {
    let stage = try VirtualStage(
      #"{ devices: [{ name: "echo", address: "C0:DE:00:00:00:01", addressType: "random", echoPSM: 128 }] }"#)
    let client = try #require(stage.connect(1))
    var received: [[UInt8]] = []
    var open: (any Channel)?
    client.link.openChannel(to: 128, ChannelParameters()) { result in
      open = try? result.get()
      open?.onEvent = { if case .received(let packet) = $0 { received.append(packet) } }
      open?.isReading = true
    }
    stage.scheduler.advance(by: .seconds(2))
    try #require(open).send([1, 2, 3])
    stage.scheduler.advance(by: .seconds(2))
    #expect(received == [[1, 2, 3]])
  }

  @Test("A phone finds the adapter's advertisement, and works through its script")
  func phone() throws {
    let stage = try VirtualStage(Self.belt)
    var reports: [VisitReport] = []
    try stage.air.visit(
      #"{ name: "phone", address: "C0:DE:00:00:00:09", addressType: "random", script: [{ do: "wait", seconds: 1 }] }"#
    ) { reports.append($0) }
    stage.scheduler.advance(by: .seconds(5))
    #expect(stage.links.isEmpty)
    stage.adapter.host.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: [2, 1, 6]))
    let links = { stage.links.count }
    stage.scheduler.run(for: .seconds(30)) { links() == 1 }
    #expect(stage.links.map(\.role) == [.peripheral] && stage.links.first?.peer == VirtualStage.address(9))
    // The adapter of this test has no GATT server: its end of the link is all that the phone needs.
    try #require(stage.links.first).disconnect()
    stage.scheduler.advance(by: .seconds(2))
    #expect(reports.count == 1 && reports.first?.isComplete == false)
  }

  @Test("A phone that watches keeps no device awake, and gives up when nobody waits for its visit")
  func quietPhone() throws {
    let stage = try VirtualStage(Self.belt)
    var isWanted = true
    try stage.air.visit(
      #"{ name: "phone", address: "C0:DE:00:00:00:09", addressType: "random" }"#, isWanted: { isWanted }
    ) { _ in }
    stage.scheduler.advance(by: .seconds(5))
    // The host checks a controller that reports nothing.
    let hour = stage.scheduler.now.advanced(by: .seconds(3600))
    #expect(stage.scheduler.advance(to: hour, ringing: 1000))
    isWanted = false
    stage.adapter.host.setAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: [2, 1, 6]))
    stage.scheduler.advance(by: .seconds(5))
    #expect(stage.scheduler.advance(to: hour.advanced(by: .seconds(3600)), ringing: 1000))
    #expect(stage.links.isEmpty)
  }

  @Test("A controller that fails is noticed at once, and so is one that works again, or is plugged in again")
  func failure() throws {
    let stage = try VirtualStage(Self.belt)
    let client = try #require(stage.connect(1))
    stage.adapter.stopAnswering()
    stage.scheduler.advance(by: .milliseconds(1))
    guard case .failed(let problem) = stage.adapter.host.state else {
      Issue.record("\(stage.adapter.host.state)")
      return
    }
    #expect(problem.message.contains("hardware error") && client.end?.name == "adapterFailed")
    stage.scheduler.advance(by: .seconds(60))
    #expect(stage.adapter.host.state == .failed(problem))
    stage.adapter.comeBack()
    stage.scheduler.advance(by: .milliseconds(100))
    #expect(stage.adapter.host.state == .on)
    stage.adapter.vanish()
    stage.scheduler.advance(by: .seconds(60))
    #expect(stage.adapter.host.state == .absent)
    stage.adapter.comeBack()
    stage.scheduler.advance(by: .milliseconds(100))
    #expect(stage.adapter.host.state == .on)
  }

  @Test("Nothing of the air outlasts it, whatever is under way")
  func lifetime() throws {
    weak var air: Air?
    weak var host: HostAdapter?
    weak var device: ConnectableDevice?
    let scheduler = VirtualScheduler()
    func live() throws {
      let stage = try VirtualStage(Self.belt, scheduler: scheduler)
      let client = try #require(stage.connect(1))
      client.link.raiseSecurity(to: 2, as: .none, usesOwnData: false) { _ in }
      client.link.send([0x0A, 3, 0])
      stage.adapter.host.setScan(ScanParameters())
      scheduler.run(for: .milliseconds(100)) { false }
      (air, host) = (stage.air.air, stage.adapter.host)
      device = stage.air.commandedDevices.first as? ConnectableDevice
      #expect(air != nil && host != nil && device != nil)
    }
    try live()
    // Alarms that were due are without effect.
    scheduler.advance(by: .seconds(60))
    #expect(air == nil && host == nil && device == nil)
  }

  @Test("The same seed gives the same events")
  func determinism() throws {
    func trace() throws -> [String] {
      let stage = try VirtualStage(Self.belt, seed: 7)
      stage.scan(5)
      return stage.reports.map { "\($0)" }
    }
    let first = try trace()
    #expect(try trace() == first && first.count > 50)
  }
}
