import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Discoveries of several programs (BlueZ, org.bluez.Adapter, StartDiscovery).
struct DiscoveryTests {
  private static let one = ":1.1"
  private static let other = ":1.2"

  private let world = FacadeStage()

  private func start(_ program: String) -> UInt64 { world.call(program, .adapter, "StartDiscovery", []) }

  private func stop(_ program: String) -> UInt64 { world.call(program, .adapter, "StopDiscovery", []) }

  private func filter(_ program: String, _ filter: [(String, BusValue)]) -> UInt64 {
    world.call(program, .adapter, "SetDiscoveryFilter", [.options(filter)])
  }

  private func isDiscovering() throws -> Bool {
    let number = world.call(
      ":1.9", .properties, "Get", [.string(Interface.adapter.rawValue), .string("Discovering")])
    return try world.bus.answers[number]?.get().first?.unwrapped == .boolean(true)
  }

  private func scans(of program: String) throws -> [String] {
    try world.session(program).methods.filter { $0.utf8.starts(with: "scan.".utf8) }
  }

  @Test func eachProgramHasItsOwnScan() throws {
    for program in [Self.one, Self.other] { #expect(world.succeeded(start(program))) }
    #expect(world.error(start(Self.one)) == .alreadyInProgress)
    #expect(try isDiscovering())
    #expect(world.succeeded(stop(Self.one)))
    #expect(try isDiscovering(), "the other one goes on")
    #expect(try scans(of: Self.other) == ["scan.start"])
    #expect(world.error(stop(Self.one)) == .failed("No discovery started"))
    #expect(world.succeeded(stop(Self.other)))
    #expect(try !isDiscovering())
  }

  @Test func aFilterIsThatOfItsProgram() throws {
    var scans: [ScanStart.Params] = []
    world.daemon.answer = { method, message, _ in
      if method == ScanStart.name, let params = try? message.params(ScanStart.Params.self) { scans.append(params) }
      return nil
    }
    #expect(world.succeeded(filter(Self.one, [("UUIDs", .strings(["180d"])), ("RSSI", .int16(-70))])))
    for program in [Self.one, Self.other] { _ = start(program) }
    #expect(scans.map(\.services) == [[0x180D], nil] && scans.map(\.rssi) == [-70, nil])
    #expect(world.succeeded(filter(Self.one, [])), "also while it scans")
    #expect(scans.count == 3 && scans.last?.services == nil && scans.last?.rssi == nil)
  }

  @Test func filtersThatAreNotValid() {
    for (values, error) in [
      ([("RSSI", BusValue.int16(-70)), ("Pathloss", .uint16(3))], BusError.invalidArguments),
      ([("UUIDs", .strings(["no UUID"]))], .invalidArguments), ([("Unknown", .byte(1))], .invalidArguments),
      ([("RSSI", .string("-70"))], .invalidArguments), ([("Transport", .string("bredr"))], .notSupported),
    ] as [([(String, BusValue)], BusError)] { #expect(world.error(filter(Self.one, values)) == error) }
  }

  /// A program that wants each advertisement gets them alone; to the others a device is told once a second.
  @Test func eachAdvertisementGoesToTheProgramThatWantsThem() throws {
    _ = filter(Self.one, [("DuplicateData", .boolean(true))])
    for program in [Self.one, Self.other] { _ = start(program) }
    for report in 0..<5 {
      for program in [Self.one, Self.other] { try world.hear(program, -60, at: Double(report)) }
    }
    let changes = world.bus.signals.filter { $0.member == "PropertiesChanged" && $0.path == FacadeStage.device }
    #expect(changes.isEmpty, "the object is new, and its strength did not change")
    #expect(world.bus.told.map(\.program) == Array(repeating: Self.one, count: 4))
    world.advance(by: .seconds(1))
    try world.hear(Self.other, -60, at: 5)
    try world.hear(Self.other, -75, at: 6)
    #expect(world.bus.signals.count { $0.member == "PropertiesChanged" && $0.path == FacadeStage.device } == 2)
  }

  @Test func theScanEndsWithItsProgram() throws {
    for program in [Self.one, Self.other] { _ = start(program) }
    for (program, isOn) in [(Self.one, true), (Self.other, false)] {
      world.facade.left(program)
      world.settle()
      #expect(world.daemon.sessions(of: program).isEmpty)
      #expect(try isDiscovering() == isOn)
    }
  }

  @Test func theScanGoesOnAfterARestartOfBled() throws {
    _ = start(Self.one)
    world.restart()
    #expect(try scans(of: Self.one) == ["scan.start"])
    #expect(try isDiscovering())
  }

  @Test func anAdapterThatIsOff() throws {
    var adapter = FacadeStage.description()
    adapter.state = "off"
    try world.own().notify(AdapterChanged.self, adapter)
    world.settle()
    #expect(world.error(start(Self.one)) == .notReady)
  }

  @Test func aScanThatIsNotPermitted() throws {
    world.daemon.answer = { method, _, _ in
      method == ScanStart.name ? .failure(BledError.notPermitted.error("user 1000 lacks scan")) : nil
    }
    #expect(world.error(start(Self.one)) == .notAuthorized)
    #expect(try !isDiscovering())
  }

  /// AdvertisingData has what no other property tells.
  @Test func dataWithoutAProperty() throws {
    #expect(world.succeeded(start(Self.one)))
    try world.hear(Self.one, -60, data: [2, 1, 6, 3, 0x1A, 0xA0, 0, 2, 0x24, 0x17, 3, 0x16, 0x0F, 0x18])
    let number = world.call(
      Self.one, .properties, "Get", [.string(Interface.device.rawValue), .string("AdvertisingData")],
      at: FacadeStage.device)
    let expected = [(0x1A, [0xA0, 0]), (0x24, [0x17])].map { (type: UInt8, data: [UInt8]) in
      BusValue.Entry(.byte(type), .variant(.bytes(data)))
    }
    #expect(
      try world.bus.answers[number]?.get() == [.variant(.dictionary(key: "y", value: "v", expected))])
  }
}
