import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Discoveries of several programs (BlueZ, org.bluez.Adapter, StartDiscovery).
struct DiscoveryTests {
  private static let one = ":1.1"
  private static let other = ":1.2"

  private let world = FacadeStage()

  private static let second = "/org/bluez/hci1"

  private func start(_ program: String, at path: String = FacadeStage.adapter) -> UInt64 {
    world.call(program, .adapter, "StartDiscovery", [], at: path)
  }

  private func stop(_ program: String, at path: String = FacadeStage.adapter) -> UInt64 {
    world.call(program, .adapter, "StopDiscovery", [], at: path)
  }

  private func filter(_ program: String, _ filter: [(String, BusValue)]) -> UInt64 {
    world.call(program, .adapter, "SetDiscoveryFilter", [.options(filter)])
  }

  private func isDiscovering(at path: String = FacadeStage.adapter) throws -> Bool {
    try world.property(.adapter, "Discovering", at: path) == .boolean(true)
  }

  /// An adapter's state changes.
  private func tell(_ adapter: String, _ state: Word<AdapterCondition>) throws {
    var description = FacadeStage.description(adapter, address: "02:00:00:00:00:0\(adapter.last ?? "0")")
    description.state = state
    try world.own().notify(AdapterChanged.self, description)
    world.settle()
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

  /// A program that requests each advertisement receives them alone; the others receive a device once a second.
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

  /// A button that is pressed twice may send the same twice.
  @Test func dataIsToldAgainToTheProgramThatWantsAll() throws {
    _ = filter(Self.one, [("DuplicateData", .boolean(true))])
    for program in [Self.one, Self.other] { _ = start(program) }
    let (first, second): ([UInt8], [UInt8]) = ([4, 0xFF, 1, 0, 7], [4, 0xFF, 1, 0, 8])
    for (time, data) in [first, first, second, second].enumerated() {
      for program in [Self.one, Self.other] { try world.hear(program, -60, at: Double(time), data: data) }
    }
    func names(_ signals: [ObjectTree.Signal]) -> [[String]] {
      signals.filter { $0.member == "PropertiesChanged" && $0.path == FacadeStage.device }.map {
        ManagedObjects.properties($0.arguments[1]).keys.sorted()
      }
    }
    #expect(names(world.bus.told.map(\.signal)) == [["ManufacturerData", "RSSI"], ["ManufacturerData", "RSSI"]])
    #expect(names(world.bus.signals) == [["ManufacturerData", "RSSI"]], "the change is told to all, once")
  }

  @Test func aScanThatIsRefusedAfterARestartOfBled() throws {
    _ = start(Self.one)
    world.daemon.answer = { method, _, _ in
      method == ScanStart.name ? .failure(BledError.notPermitted.error("user 1000 lacks scan")) : nil
    }
    world.restart()
    #expect(try !isDiscovering())
    #expect(world.error(stop(Self.one)) == .failed("No discovery started"))
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

  /// Home Assistant scans on each adapter, with one connection to the bus.
  @Test func aProgramScansOnTwoAdapters() throws {
    var scans: [ScanStart.Params] = []
    var stopped: [Int?] = []
    world.daemon.answer = { method, message, _ in
      if method == ScanStart.name, let params = try? message.params(ScanStart.Params.self) { scans.append(params) }
      if method == ScanStop.name { stopped.append(try? message.params(ScanStop.Params.self).scan) }
      return nil
    }
    try tell("hci1", "on")
    #expect(world.succeeded(filter(Self.one, [("Pattern", .string("C0:DE:00:00:00:01"))])))
    for path in [FacadeStage.adapter, Self.second] {
      #expect(world.succeeded(start(Self.one, at: path)))
      #expect(world.error(start(Self.one, at: path)) == .alreadyInProgress)
    }
    #expect(scans.map(\.adapter) == ["hci0", "hci1"] && scans.map(\.scan) == [1, 2])
    // The filter is that of the first adapter alone.
    try world.hear(Self.one, -60, number: 2)
    try world.hear(Self.one, -60, number: 3, adapter: "hci1", scan: 2)
    let added = world.bus.signals.filter { $0.member == "InterfacesAdded" }.compactMap { $0.arguments[0].path }
    #expect(added.last == Self.second + "/dev_C0_DE_00_00_00_03")
    #expect(!added.contains("/org/bluez/hci0/dev_C0_DE_00_00_00_02"))
    #expect(world.succeeded(stop(Self.one)))
    #expect(stopped == [1])
    #expect(try !isDiscovering() && isDiscovering(at: Self.second))
    #expect(world.error(stop(Self.one)) == .failed("No discovery started"))
    #expect(world.succeeded(start(Self.one)))
    #expect(scans.last?.scan == 1)
    world.facade.left(Self.one)
    #expect(try !isDiscovering() && !isDiscovering(at: Self.second))
  }

  /// bled would continue the scan when the adapter is back, and no program could stop it.
  @Test func anAdapterGoesWhileAProgramScans() throws {
    var stopped: [Int?] = []
    world.daemon.answer = { method, message, _ in
      if method == ScanStop.name { stopped.append(try? message.params(ScanStop.Params.self).scan) }
      return nil
    }
    #expect(world.succeeded(start(Self.one)))
    try tell("hci0", "absent")
    #expect(stopped == [1])
    try tell("hci0", "on")
    #expect(try !isDiscovering())
    #expect(world.error(stop(Self.one)) == .failed("No discovery started"))
    #expect(world.succeeded(start(Self.one)))
  }

  /// As at bluetoothd the discovery ends for its program, which may begin again; a program that does not is served
  /// anyway.
  @Test func anAdapterIsSwitchedOffAndOn() throws {
    for program in [Self.one, Self.other] { #expect(world.succeeded(start(program))) }
    try tell("hci0", "off")
    #expect(try !isDiscovering())
    #expect(world.error(start(Self.one)) == .notReady)
    try tell("hci0", "on")
    #expect(try isDiscovering(), "the scans go on by themselves")
    #expect(world.succeeded(start(Self.one)))
    #expect(world.error(start(Self.one)) == .alreadyInProgress)
    for program in [Self.one, Self.other] { #expect(world.succeeded(stop(program))) }
    #expect(try !isDiscovering())
  }

  /// bled may continue its scan; the program has none.
  @Test func aScanThatIsRefusedWhenItBeginsAgain() throws {
    #expect(world.succeeded(start(Self.one)))
    try tell("hci0", "off")
    try tell("hci0", "on")
    world.daemon.answer = { method, _, _ in
      method == ScanStart.name ? .failure(BledError.limitReached.error("there is no room")) : nil
    }
    #expect(world.error(start(Self.one)) != nil)
    #expect(try world.session(Self.one).methods.last == ScanStop.name)
    #expect(try !isDiscovering())
  }

  /// An advertiser may name any number of companies.
  @Test func aDeviceThatAdvertisesManyCompanies() throws {
    #expect(world.succeeded(start(Self.one)))
    for number in 0..<100 as Range<UInt8> {
      try world.hear(Self.one, -60, at: Double(number), data: [4, 0xFF, number, 0, 7])
    }
    let path = FacadeStage.device
    guard case .dictionary(_, _, let entries)? = try world.property(.device, "ManufacturerData", at: path) else {
      Issue.record("there is no data")
      return
    }
    #expect(entries.map(\.key) == (84..<100).map { .uint16($0) })
  }

  /// AdvertisingData contains the data without another property.
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
