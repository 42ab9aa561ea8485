import Adapter
import BledConnection
import BledRPC
import Bluetooth
import BondedDevices
import SessionTestSupport
import Testing

@testable import HIDGateway

/// The kernel's files, played by a test.
private final class ScriptedFiles: UhidFiles {
  final class File: UhidFile {
    var requests: [UhidRequest] = []
    var isClosed = false
    let received: (UhidEvent) -> Void

    init(_ received: @escaping (UhidEvent) -> Void) { self.received = received }

    var refusal: UhidFailure?

    func send(_ request: UhidRequest) throws(UhidFailure) {
      if let refusal { throw refusal }
      requests.append(request)
    }
    func close() { isClosed = true }
  }

  var files: [File] = []
  var refusal: UhidFailure?

  func open(_ received: @escaping (UhidEvent) -> Void) throws(UhidFailure) -> any UhidFile {
    if let refusal { throw refusal }
    files.append(File(received))
    return files[files.count - 1]
  }
}

private final class Memory: DeviceMemory {
  var devices: [DeviceAddress: Bool] = [:]
  func hasService(_ address: DeviceAddress) -> Bool? { devices[address] }
  func remember(_ address: DeviceAddress, hasService: Bool?) { devices[address] = hasService }
  func keep(_ kept: Set<DeviceAddress>) { devices = devices.filter { kept.contains($0.key) } }
}

@Suite("bled-hid between bled and the kernel")
final class GatewayTests {
  private let daemon = ScriptedDaemon()
  private let clock = VirtualScheduler()
  private let files = ScriptedFiles()
  private let memory = Memory()
  private let gateway: DeviceGateway<KernelDevices>
  private var bonds = [Keyboard.bond()]
  private var services = Keyboard.services
  private var log: [String] = []
  private var condition: DeviceCondition?
  private var calls: [(method: String, message: RPCMessage)] = []

  init() {
    gateway = DeviceGateway(daemon, clock, KernelDevices(files), memory)
    daemon.adapters = [adapter("hci1", "02:00:00:00:00:0B"), adapter("hci0", Keyboard.adapter)]
    daemon.answer = { [unowned self] method, message, _ in
      calls.append((method, message))
      return answer(method, message)
    }
    gateway.say = { [unowned self] in log.append($0) }
    gateway.whenChanged = { [unowned self] in condition = $0 }
  }

  private func adapter(_ name: String, _ address: String, _ state: Word<AdapterCondition> = "on") -> AdapterDescription
  {
    AdapterDescription(
      adapter: name, kind: "simulated", address: address, addressType: "public", name: "here", state: state,
      problem: nil, scanning: false, advertising: 0, links: 0)
  }

  private func answer(_ method: String, _ message: RPCMessage) -> ScriptedDaemon.Answer? {
    switch method {
    case PairingList.name: .success(PairingList.Result(bonds: bonds))
    case PeripheralConnect.name: .success(link)
    case PeripheralParameters.name: .success(linkDescription)
    case GATTDiscover.name: .success(GATTServices(services: services))
    case GATTRead.name:
      (try? message.params(GATTRead.Params.self).attribute.handle).flatMap { Keyboard.values[$0] }
        .map { .success(GATTRead.Result(value: HexBytes($0))) } ?? .failure(Failure.refusal)
    case GATTSubscribe.name, GATTWrite.name: .success(AttributeFound())
    default: nil
    }
  }

  private var security: Word<SecurityLevel>? = "secureConnections"
  private var linkAdapter = "hci0"

  private var linkDescription: LinkDescription {
    var description = LinkDescription(peripheral: Keyboard.peripheral, role: "central", mtu: 247)
    description.security = security
    return description
  }

  private var link: PeripheralConnect.Result {
    PeripheralConnect.Result(
      peripheral: Keyboard.peripheral, address: "\(Keyboard.address)", addressType: "random", adapter: linkAdapter,
      mtu: 247, attempts: 1)
  }

  private func settle() {
    repeat { clock.advance(by: .zero) } while daemon.deliver()
  }

  private func start() {
    gateway.start()
    settle()
  }

  private func session() throws -> ScriptedDaemon.Session { try #require(daemon.sessions.last) }

  private func count(_ method: String) -> Int { calls.count { $0.method == method } }

  @Test("A bonded keyboard types")
  func types() throws {
    start()
    let file = try #require(files.files.first)
    #expect(file.requests.count == 1)
    file.received(.start)
    try session().notify(
      GATTValue.self,
      GATTValue.Params(peripheral: Keyboard.peripheral, handle: 30, value: HexBytes([0, 0, 4, 0, 0, 0, 0, 0])))
    settle()
    #expect(file.requests.last == .input([1, 0, 0, 4, 0, 0, 0, 0, 0]))
    #expect(condition == .ok("1 of 1 keyboards, mice and the like are connected"))
    let connect = try #require(calls.first { $0.method == PeripheralConnect.name })
    let params = try connect.message.params(PeripheralConnect.Params.self)
    #expect(params.reconnect == true && params.addressType == .random)
    file.received(.output(.output, [1, 2]))
    settle()
    let write = try #require(calls.last { $0.method == GATTWrite.name })
    let written = try write.message.params(GATTWrite.Params.self)
    #expect(written.value.octets == [2] && written.response == false && written.attribute.handle == 40)
    #expect(log == [])
  }

  @Test("A link over another adapter, or without the bond's protection, is ended", arguments: [false, true])
  func strangers(isOnAnotherAdapter: Bool) throws {
    if isOnAnotherAdapter { linkAdapter = "hci1" } else { security = nil }
    start()
    let connect = try #require(calls.first { $0.method == PeripheralConnect.name })
    #expect(try connect.message.params(PeripheralConnect.Params.self).adapter == "hci0")
    #expect(count(GATTDiscover.name) == 0 && count(PeripheralDisconnect.name) == 1 && files.files.isEmpty)
    #expect(log.count == 1)
    (linkAdapter, security) = ("hci0", "secureConnections")
    clock.advance(by: .seconds(2))
    settle()
    #expect(files.files.count == 1)
  }

  @Test("A link that has come back is checked, too", arguments: [false, true])
  func strangersBack(isOnAnotherAdapter: Bool) throws {
    start()
    if isOnAnotherAdapter { linkAdapter = "hci1" } else { security = "encrypted" }
    let file = try #require(files.files.first)
    file.received(.start)
    try session().notify(
      PeripheralDisconnected.self,
      PeripheralDisconnected.Params(peripheral: Keyboard.peripheral, reason: nil, reconnecting: true))
    try session().notify(PeripheralConnected.self, link)
    let value = GATTValue.Params(
      peripheral: Keyboard.peripheral, handle: 30, value: HexBytes([0, 0, 4, 0, 0, 0, 0, 0]))
    try session().notify(GATTValue.self, value)
    settle()
    try session().notify(GATTValue.self, value)
    settle()
    #expect(count(GATTDiscover.name) == 1 && count(PeripheralDisconnect.name) == 1)
    #expect(file.requests.count == 1, "only its creation")
  }

  @Test("Of the bonds of a device the newest counts, without one on an adapter that has no key for links")
  func bondsOfAdapters() throws {
    bonds = [Keyboard.bond("none")]
    start()
    #expect(count(PeripheralConnect.name) == 0)
    let params = PairingForgotten.Params(
      peripheral: Keyboard.peripheral, address: "\(Keyboard.address)", addressType: "random",
      adapterAddress: Keyboard.adapter)
    bonds = [Keyboard.bond("none", on: "02:00:00:00:00:0B"), Keyboard.bond()]
    try session().notify(PairingBonded.self, params)
    settle()
    #expect(files.files.count == 1)
    bonds = [Keyboard.bond(on: "02:00:00:00:00:0B"), Keyboard.bond()]
    linkAdapter = "hci1"
    try session().notify(PairingBonded.self, params)
    settle()
    let connect = try #require(calls.last { $0.method == PeripheralConnect.name })
    #expect(try connect.message.params(PeripheralConnect.Params.self).adapter == "hci1")
    #expect(count(PeripheralDisconnect.name) == 1 && files.files.count == 2 && files.files[0].isClosed)
  }

  @Test("A device that pairs while the gateway runs is used at once; without its keys it ends")
  func pairs() throws {
    bonds = []
    start()
    #expect(files.files.isEmpty && count(PeripheralConnect.name) == 0)
    let params = PairingForgotten.Params(
      peripheral: Keyboard.peripheral, address: "\(Keyboard.address)", addressType: "random",
      adapterAddress: "02:00:00:00:00:0A")
    bonds = [Keyboard.bond()]
    try session().notify(PairingBonded.self, params)
    settle()
    let file = try #require(files.files.first)
    bonds = []
    try session().notify(PairingForgotten.self, params)
    settle()
    #expect(file.requests.last == .destroy && file.isClosed)
    #expect(count(PeripheralDisconnect.name) == 1)
    #expect(condition == .ok("0 of 0 keyboards, mice and the like are connected"))
  }

  @Test("A device without HID is connected once, until it pairs anew")
  func otherDevices() throws {
    services = Array(Keyboard.services.dropLast())
    start()
    #expect(count(PeripheralConnect.name) == 1 && count(PeripheralDisconnect.name) == 1)
    try session().end()
    clock.advance(by: .seconds(1))
    settle()
    #expect(count(PairingList.name) == 2 && count(PeripheralConnect.name) == 1)
    services = Keyboard.services
    try session().notify(
      PairingBonded.self,
      PairingForgotten.Params(
        peripheral: Keyboard.peripheral, address: "\(Keyboard.address)", addressType: "random",
        adapterAddress: "02:00:00:00:00:0A"))
    settle()
    #expect(count(PeripheralConnect.name) == 2 && files.files.count == 1)
  }

  @Test("bled is killed and comes back: the keyboard stays, its keys are released")
  func daemonBack() throws {
    start()
    let file = try #require(files.files.first)
    file.received(.start)
    try session().notify(
      GATTValue.self,
      GATTValue.Params(peripheral: Keyboard.peripheral, handle: 30, value: HexBytes([0, 0, 4, 0, 0, 0, 0, 0])))
    settle()
    try session().end()
    #expect(file.requests.last == .input([1] + [UInt8](repeating: 0, count: 8)))
    guard case .problem = condition else {
      Issue.record("\(String(describing: condition))")
      return
    }
    clock.advance(by: .seconds(1))
    settle()
    #expect(!file.isClosed && files.files.count == 1)
    #expect(condition == .ok("1 of 1 keyboards, mice and the like are connected"))
    try session().notify(
      GATTValue.self,
      GATTValue.Params(peripheral: Keyboard.peripheral, handle: 50, value: HexBytes([0xE9, 0])))
    settle()
    #expect(file.requests.last == .input([2, 0xE9, 0]))
  }

  @Test("A link that is lost comes back")
  func linkBack() throws {
    start()
    try #require(files.files.first).received(.start)
    try session().notify(
      PeripheralDisconnected.self,
      PeripheralDisconnected.Params(peripheral: Keyboard.peripheral, reason: nil, reconnecting: true))
    settle()
    #expect(condition == .ok("0 of 1 keyboards, mice and the like are connected"))
    let reads = count(GATTRead.name)
    try session().notify(PeripheralConnected.self, link)
    settle()
    #expect(condition == .ok("1 of 1 keyboards, mice and the like are connected"))
    #expect(count(GATTRead.name) == reads && files.files.count == 1)
  }

  @Test("Without /dev/uhid the remedy is said")
  func noFile() {
    files.refusal = UhidFailure("/dev/uhid cannot be opened: modprobe uhid")
    start()
    #expect(log == ["F0:F1:F2:F3:F4:01 (Desk): /dev/uhid cannot be opened: modprobe uhid"])
    #expect(condition == .problem("/dev/uhid cannot be opened: modprobe uhid"))
  }

  @Test("A refusal of the kernel ends the link, and the device is made anew")
  func kernelRefuses() throws {
    start()
    let file = try #require(files.files.first)
    file.received(.start)
    file.refusal = UhidFailure("the kernel refuses its input")
    try session().notify(
      GATTValue.self,
      GATTValue.Params(peripheral: Keyboard.peripheral, handle: 30, value: HexBytes([0, 0, 4, 0, 0, 0, 0, 0])))
    settle()
    #expect(file.isClosed && count(PeripheralDisconnect.name) == 1)
    #expect(condition == .problem("the kernel refuses its input"))
    clock.advance(by: .seconds(2))
    settle()
    try #require(files.files.last).received(.start)
    #expect(files.files.count == 2 && condition == .ok("1 of 1 keyboards, mice and the like are connected"))
  }

  @Test("An adapter that is on again is used at once")
  func adapterOn() throws {
    daemon.adapters = [adapter("hci1", "02:00:00:00:00:0B")]
    start()
    #expect(count(PeripheralConnect.name) == 0)
    #expect(log.count == 1 && log[0].contains("the adapter 02:00:00:00:00:0A, which has its keys, is absent"))
    try session().notify(AdapterChanged.self, adapter("hci0", Keyboard.adapter))
    settle()
    #expect(files.files.count == 1)
  }

  @Test("A device that may have no HID is waited for in turns, an input device without an end")
  func firstWait() throws {
    start()
    let first = try #require(calls.first { $0.method == PeripheralConnect.name })
    #expect(try first.message.params(PeripheralConnect.Params.self).timeout == 30)
    try session().end()
    clock.advance(by: .seconds(1))
    settle()
    let second = try #require(calls.last { $0.method == PeripheralConnect.name })
    #expect(try second.message.params(PeripheralConnect.Params.self).timeout == nil)
    #expect(count(PeripheralConnect.name) == 2)
  }

  @Test("The memory has devices with bonds alone, and an input device stays one")
  func memories() throws {
    let gone = DeviceAddress(value: 0xF0F1_F2F3_F4FF, kind: .random)
    memory.devices = [gone: false, Keyboard.address: true]
    services = Array(Keyboard.services.dropLast())
    start()
    #expect(memory.devices == [Keyboard.address: true])
  }
}
