import Adapter
import BledRPC
import Bluetooth
import SessionTestSupport
import Testing

@testable import BlueZ

/// The facade between a bus and bled, both played by the test.
final class FacadeStage {
  static let adapter = "/org/bluez/hci0"
  static let device = "/org/bluez/hci0/dev_C0_DE_00_00_00_01"
  static let central = "CC17"

  let bus = ScriptedBus()
  let daemon = ScriptedDaemon()
  let sockets = ScriptedSockets()
  let clock = VirtualScheduler()
  let facade: Facade
  private var lastNumber: UInt64 = 0

  /// - Parameter devices: the devices that bled knows.
  init(settings: [String: DeviceSettings] = [:], devices: [PeripheralList.Entry] = []) {
    daemon.adapters = [Self.description()]
    daemon.devices = devices
    facade = Facade(
      bus: bus, clock: clock, connector: daemon, sockets: sockets, machine: "0", host: "here", settings: settings)
    facade.start()
    settle()
  }

  /// The adapter as bled describes it; an absent one has its earlier address.
  static func description(
    _ adapter: String = "hci0", address: String = "02:00:00:00:00:01", isAbsent: Bool = false
  ) -> AdapterDescription {
    AdapterDescription(
      adapter: adapter, kind: "simulated", address: address, addressType: "public", name: "here",
      state: isAbsent ? "absent" : "on", problem: nil, scanning: false, advertising: 0, links: 0)
  }

  /// Gives out all messages and answers.
  func settle() {
    repeat { clock.advance(by: .zero) } while bus.deliver() || daemon.deliver()
  }

  func advance(by duration: Duration) {
    clock.advance(by: duration)
    settle()
  }

  /// Calls a method of the facade; returns the number of the call.
  @discardableResult
  func call(
    _ sender: String, _ interface: Interface, _ member: String, _ arguments: [BusValue], at path: String = adapter
  ) -> UInt64 {
    defer { settle() }
    return begin(sender, interface, member, arguments, at: path)
  }

  /// Calls a method, and gives out nothing yet.
  func begin(
    _ sender: String, _ interface: Interface, _ member: String, _ arguments: [BusValue] = [],
    at path: String = adapter
  ) -> UInt64 {
    lastNumber += 1
    facade.handle(
      BusCall(
        number: lastNumber, sender: sender, path: path, interface: interface.rawValue, member: member,
        arguments: arguments))
    return lastNumber
  }

  func signal(_ sender: String, _ path: String, _ interface: Interface, _ member: String, _ arguments: [BusValue]) {
    guard bus.watched.contains(sender) else { return }
    facade.handle(
      BusSignal(sender: sender, path: path, interface: interface.rawValue, member: member, arguments: arguments))
    settle()
  }

  /// A program's object has other properties.
  func changed(_ sender: String, _ path: String, _ interface: String, _ values: [(String, BusValue)]) {
    signal(sender, path, .properties, "PropertiesChanged", [.string(interface), .options(values), .strings([])])
  }

  /// The one session of a program.
  func session(_ name: String) throws -> ScriptedDaemon.Session { try #require(daemon.sessions(of: name).last) }

  /// The value of a property; nil without one.
  func property(_ interface: Interface, _ name: String, at path: String) throws -> BusValue? {
    let number = call(":1.99", .properties, "Get", [.string(interface.rawValue), .string(name)], at: path)
    return try? bus.answers[number]?.get().first?.unwrapped
  }

  /// Sets a property; returns the number of the call.
  @discardableResult
  func set(_ sender: String, _ interface: Interface, _ name: String, _ value: BusValue, at path: String) -> UInt64 {
    call(sender, .properties, "Set", [.string(interface.rawValue), .string(name), .variant(value)], at: path)
  }

  func error(_ number: UInt64) -> BusError? {
    if case .failure(let error)? = bus.answers[number] { error } else { nil }
  }

  func succeeded(_ number: UInt64) -> Bool {
    if case .success? = bus.answers[number] { true } else { false }
  }

  /// A device is connected.
  func link(adapter: String = "hci0") {
    daemon.devices = [
      PeripheralList.Entry(
        peripheral: Self.central, address: "C0:DE:00:00:00:01", addressType: "random", adapter: adapter, name: nil,
        rssi: nil, state: "connected", mine: false, mtu: 65)
    ]
  }

  /// A program's discovery hears a device.
  func hear(
    _ program: String, _ rssi: Int, number: Int = 1, at time: Double = 0, data: [UInt8] = [2, 1, 6],
    services: [BluetoothUUID]? = nil, adapter: String = "hci0", peripheral: String? = nil, scan: Int? = 1,
    address: String? = nil
  ) throws {
    let digits = String(number, radix: 16)
    let end = String(repeating: "0", count: 4 - digits.count) + digits
    var report = ScanReport.Params(
      peripheral: peripheral ?? "D\(number)", adapter: adapter,
      address: address ?? "C0:DE:00:00:\(end.prefix(2)):\(end.suffix(2))",
      addressType: "random", connectable: true, data: HexBytes(data), time: time)
    report.rssi = rssi
    report.services = services
    report.scan = scan
    try session(program).notify(ScanReport.self, report)
    settle()
  }

  /// The answer of bled to a program that connects to the first device.
  static let linked = PeripheralConnect.Result(
    peripheral: "D1", address: "C0:DE:00:00:00:01", addressType: "random", adapter: "hci0", mtu: 65, attempts: 1)

  /// The session of the facade itself.
  func own() throws -> ScriptedDaemon.Session {
    try #require(daemon.sessions.last { $0.name == "org.bluez" && !$0.isClosed })
  }

  /// bled ends, and is available again after the pause.
  func restart() {
    daemon.isGone = true
    for session in daemon.sessions where !session.isClosed { session.end() }
    settle()
    daemon.isGone = false
    advance(by: .seconds(1))
  }
}

/// `a{oa{sa{sv}}}`
func managed(_ objects: [(String, String, [(String, BusValue)])]) -> BusValue {
  .dictionary(
    key: "o", value: "a{sa{sv}}",
    objects.map { path, interface, properties in
      BusValue.Entry(
        .path(path),
        .dictionary(key: "s", value: "a{sv}", [BusValue.Entry(.string(interface), .options(properties))]))
    })
}
