import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// AdvertisementMonitorManager1: passive scans of programs (BlueZ, org.bluez.AdvertisementMonitorManager).
struct MonitorsTests {
  static let program = ":1.42"
  static let path = "/monitors/one"

  let world = FacadeStage()

  /// Registers monitors below a path, then adds one, as bleak does.
  func register(_ properties: [(String, BusValue)] = [], patterns: Int = 1) throws {
    let number = world.call(Self.program, .monitorManager, "RegisterMonitor", [.path("/monitors")])
    #expect(world.succeeded(number))
    try #require(world.bus.take("GetManagedObjects")).completion(.success([managed([])]))
    add(properties, patterns: patterns)
  }

  func add(_ properties: [(String, BusValue)] = [], patterns: Int = 1, at path: String = path) {
    let pattern = BusValue.structure([.byte(0), .byte(0xFF), .bytes([0x4C, 0])])
    let all = [
      ("Type", BusValue.string("or_patterns")),
      ("Patterns", .array(of: "(yyay)", Array(repeating: pattern, count: patterns))),
    ]
    world.signal(
      Self.program, "/", .objectManager, "InterfacesAdded",
      [
        .path(path),
        .dictionary(
          key: "s", value: "a{sv}",
          [.init(.string("org.bluez.AdvertisementMonitor1"), .options(all + properties))]),
      ])
  }

  func hear(_ rssi: Int, data: [UInt8] = [4, 0xFF, 0x4C, 0, 1]) throws {
    var report = ScanReport.Params(
      peripheral: FacadeStage.central, adapter: "hci0", address: "C0:DE:00:00:00:01", addressType: "random",
      connectable: true, data: HexBytes(data), time: 0)
    report.rssi = rssi
    try world.session(Self.program).notify(ScanReport.self, report)
    world.settle()
  }

  func told(_ method: String) -> Int { world.bus.log.count { $0 == "\(method) \(Self.path)" } }

  @Test func aMonitorThatComesLater() throws {
    try register()
    #expect(told("Activate") == 1)
    // Its permission is checked before.
    #expect(try world.session(Self.program).methods == ["session.open", "session.open", "scan.start"])
    for _ in 0..<3 { try hear(-60) }
    #expect(told("DeviceFound") == 1)
    #expect(world.bus.calls.last { $0.method == "DeviceFound" }?.values == [.path(FacadeStage.device)])
    try hear(-60, data: [2, 1, 6])
    #expect(told("DeviceFound") == 1)
  }

  /// The limit counts when bled has answered, too.
  @Test func tooManyAtOnce() {
    let numbers = (0...64).map {
      world.begin(Self.program, .monitorManager, "RegisterMonitor", [.path("/monitors\($0)")])
    }
    world.settle()
    #expect(numbers.count { world.succeeded($0) } == 64)
    #expect(numbers.last.flatMap { world.error($0) } == .limitsExceeded("a program can register 64 roots of monitors"))
  }

  @Test func theProgramEndsIt() throws {
    try register()
    let session = try world.session(Self.program)
    #expect(world.succeeded(world.call(Self.program, .monitorManager, "UnregisterMonitor", [.path("/monitors")])))
    #expect(session.isClosed)
    #expect(world.bus.watched.isEmpty)
    let unknown = world.call(Self.program, .monitorManager, "UnregisterMonitor", [.path("/monitors")])
    #expect(world.error(unknown) == .doesNotExist)
  }

  @Test func theThresholds() throws {
    try register([
      ("RSSIHighThreshold", .int16(-50)), ("RSSIHighTimeout", .uint16(2)), ("RSSILowThreshold", .int16(-80)),
      ("RSSILowTimeout", .uint16(5)),
    ])
    try hear(-60)
    try hear(-40)
    world.advance(by: .seconds(1))
    try hear(-40)
    #expect(told("DeviceFound") == 0)
    world.advance(by: .seconds(1))
    try hear(-40)
    #expect(told("DeviceFound") == 1)
    // Weaker than when it was found, but not weak enough to be lost.
    for _ in 0..<6 {
      try hear(-70)
      world.advance(by: .seconds(1))
    }
    #expect(told("DeviceLost") == 0)
    for _ in 0..<7 {
      try hear(-90)
      world.advance(by: .seconds(1))
    }
    #expect(told("DeviceLost") == 1)
  }

  @Test func aMonitorThatIsNotValid() throws {
    try register(patterns: 0)
    #expect(told("Release") == 1)
    #expect(told("Activate") == 0)
  }

  @Test func aScanThatIsRefused() throws {
    world.daemon.answer = { method, _, _ in
      method == ScanStart.name ? .failure(BledError.notPermitted.error("not for you")) : nil
    }
    try register()
    #expect(told("Release") == 1)
    #expect(told("Activate") == 0)
  }

  /// bled's scans have sixteen filters at most: with more patterns all reports are looked through here.
  @Test func manyPatterns() throws {
    var filters: [ScanStart.Filter]?
    world.daemon.answer = { method, message, _ in
      if method == ScanStart.name { filters = (try? message.params(ScanStart.Params.self))?.filters }
      return nil
    }
    try register(patterns: 16)
    #expect(filters?.count == 16)
    add(at: "/monitors/two")
    #expect(filters == nil)
    try hear(-60)
    #expect(told("DeviceFound") == 1)
  }

  @Test func anAdapterGoes() throws {
    try register()
    try world.own().notify(AdapterChanged.self, FacadeStage.description(isAbsent: true))
    world.settle()
    #expect(told("Release") == 1)
    #expect(world.daemon.sessions(of: Self.program).isEmpty)
  }

  @Test func bledRestarts() throws {
    try register()
    world.restart()
    #expect(try world.session(Self.program).methods == ["session.open", "scan.start"])
    try hear(-60)
    #expect(told("DeviceFound") == 1)
  }

  @Test func aProgramLeavesWhileItRegisters() throws {
    world.call(Self.program, .monitorManager, "RegisterMonitor", [.path("/monitors")])
    let call = try #require(world.bus.take("GetManagedObjects"))
    world.facade.left(Self.program)
    call.completion(.success([managed([])]))
    world.settle()
    #expect(world.daemon.sessions(of: Self.program).isEmpty)
  }
}
