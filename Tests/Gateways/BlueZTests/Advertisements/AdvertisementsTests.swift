import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// LEAdvertisingManager1: advertisements of programs (BlueZ, org.bluez.LEAdvertisingManager).
struct AdvertisementsTests {
  static let program = ":1.42"
  static let path = "/advertisement"
  static let interface = "org.bluez.LEAdvertisement1"

  let world = FacadeStage()
  /// The params of each `advertising.start`.
  let started = Started()

  final class Started {
    var params: [AdvertisingStart.Params] = []
    var failure: BluetoothError?
  }

  init() {
    let started = started
    world.daemon.answer = { method, message, _ in
      guard method == AdvertisingStart.name, let params = try? message.params(AdvertisingStart.Params.self) else {
        return nil
      }
      started.params.append(params)
      if let failure = started.failure { return .failure(failure) }
      return .success(
        AdvertisingStart.Result(
          advertising: started.params.count, adapter: "hci0", interval: 0.1, shortenedName: nil))
    }
  }

  static let properties: [(String, BusValue)] = [
    ("Type", .string("peripheral")), ("LocalName", .string("Here")), ("ServiceUUIDs", .strings(["180D"])),
  ]

  @discardableResult
  func register(_ properties: [(String, BusValue)] = properties) throws -> UInt64 {
    let number = world.call(
      Self.program, .advertisingManager, "RegisterAdvertisement", [.path(Self.path), .options([])])
    try #require(world.bus.take("GetAll")).completion(.success([.options(properties)]))
    world.settle()
    return number
  }

  func property(_ name: String) -> BusValue? {
    let values = world.call(
      Self.program, .properties, "Get", [.string("org.bluez.LEAdvertisingManager1"), .string(name)])
    return (try? world.bus.answers[values]?.get())?.first?.unwrapped
  }

  @Test func anAdvertisementIsOnTheAirUntilItIsUnregistered() throws {
    #expect(world.succeeded(try register()))
    #expect(started.params.first?.name == "Here")
    #expect(started.params.first?.connectable == true)
    #expect(property("ActiveInstances") == .byte(1))
    #expect(property("SupportedInstances") == .byte(7))
    let again = world.call(
      Self.program, .advertisingManager, "RegisterAdvertisement", [.path(Self.path), .options([])])
    #expect(world.error(again) == .alreadyExists)
    let end = world.call(Self.program, .advertisingManager, "UnregisterAdvertisement", [.path(Self.path)])
    #expect(world.succeeded(end))
    #expect(try world.session(Self.program).methods.last == "advertising.stop")
    #expect(property("ActiveInstances") == .byte(0))
    #expect(world.bus.watched.isEmpty)
    let unknown = world.call(Self.program, .advertisingManager, "UnregisterAdvertisement", [.path(Self.path)])
    #expect(world.error(unknown) == .doesNotExist)
  }

  @Test func anAdvertisementThatIsNotValid() throws {
    for properties in [
      [], [("Type", .string("other"))], [("Type", .string("peripheral")), ("ServiceUUIDs", .strings(["x"]))],
      [("Type", .string("peripheral")), ("TxPower", .int16(21))],
      [("Type", .string("peripheral")), ("MinInterval", .uint32(200)), ("MaxInterval", .uint32(100))],
      [("Type", .string("peripheral")), ("ManufacturerData", .string("x"))],
    ] as [[(String, BusValue)]] {
      #expect(world.error(try register(properties)) == .failed("Failed to parse advertisement."))
    }
    #expect(started.params.isEmpty)
    #expect(world.bus.watched.isEmpty)
  }

  @Test func theContent() throws {
    let data: [(String, BusValue)] = [
      (
        "ManufacturerData",
        .dictionary(
          key: "q", value: "v",
          [
            .init(.uint16(0x004C), .variant(.bytes([1]))), .init(.uint16(0xFFFF), .variant(.bytes([2]))),
          ])
      ),
      ("ServiceData", .options([("180F", .bytes([0x64]))])), ("SolicitUUIDs", .strings(["1805"])),
      ("ScanResponseServiceUUIDs", .strings(["180A"])), ("Discoverable", .boolean(false)),
      ("Appearance", .uint16(833)), ("Timeout", .uint16(30)), ("Includes", .strings(["tx-power"])),
      ("TxPower", .int16(-4)), ("MinInterval", .uint32(100)), ("MaxInterval", .uint32(200)),
    ]
    try register(Self.properties + data)
    let params = try #require(started.params.first)
    #expect(params.services == [0x180D, 0x180A])
    #expect(params.solicitedServices == [0x1805])
    #expect(params.manufacturerData?.octets == [0x4C, 0, 1])
    #expect(params.serviceData == ["180F": HexBytes([0x64])])
    #expect(params.structures?.map(\.type) == [0xFF, 0x01, 0x0A])
    #expect(params.structures?.map(\.data.octets) == [[0xFF, 0xFF, 2], [0x04], [0xFC]])
    #expect(params.duration == 30)
    #expect(params.interval == 0.1)
  }

  /// Programs request a power whether the controller supports a choice or not.
  @Test func aPowerThatCannotBeChosen() throws {
    started.failure = GAPError.notSupported.error("no choice")
    let answer = world.daemon.answer
    world.daemon.answer = { [started] method, message, session in
      let result = answer(method, message, session)
      if method == AdvertisingStart.name { started.failure = nil }
      return result
    }
    #expect(world.succeeded(try register(Self.properties + [("TxPower", .int16(20))])))
    #expect(started.params.map(\.txPower) == [20, nil])
  }

  /// Legacy PDUs are received by more devices; the secondary channel 1M requests extended ones if they are needed.
  @Test func dataThatDoesNotFitIntoLegacyPDUs() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      let result = answer(method, message, session)
      guard method == AdvertisingStart.name, let params = try? message.params(AdvertisingStart.Params.self),
        params.extended != true
      else { return result }
      return .failure(GAPError.advertisingDataTooLong.error("31 octets"))
    }
    #expect(world.error(try register())?.name == "org.bluez.Error.InvalidLength")
    #expect(world.succeeded(try register(Self.properties + [("SecondaryChannel", .string("1M"))])))
    #expect(started.params.map(\.extended) == [nil, nil, true])
    #expect(started.params.last?.secondaryPHY == .le1M)
  }

  /// Changes while the program is asked are read in one.
  @Test func aChangeReplacesTheAdvertisement() throws {
    try register()
    for _ in 0..<5 {
      world.changed(Self.program, Self.path, Self.interface, [("LocalName", .string("There"))])
    }
    #expect(world.bus.calls.count == 1)
    while let call = world.bus.take("GetAll") {
      call.completion(.success([.options([("Type", .string("broadcast"))])]))
      world.settle()
    }
    #expect(started.params.count == 2)
    #expect(started.params.last?.connectable == false)
    let session = try world.session(Self.program)
    #expect(session.methods.suffix(2) == ["advertising.start", "advertising.stop"])
    #expect(property("ActiveInstances") == .byte(1))
  }

  @Test func theProgramIsToldOfTheEnd() throws {
    try register()
    try world.session(Self.program).notify(
      AdvertisingChanged.self, AdvertisingChanged.Params(advertising: 1, onAir: false, ended: "duration"))
    world.settle()
    #expect(world.bus.log.last == "Release \(Self.path)")
    #expect(property("ActiveInstances") == .byte(0))
    #expect(world.bus.watched.isEmpty)
  }

  @Test func anAdapterGoesAndComesBack() throws {
    try register()
    try world.own().notify(AdapterChanged.self, FacadeStage.description(isAbsent: true))
    world.settle()
    #expect(world.bus.log.last == "Release \(Self.path)")
    try world.own().notify(AdapterChanged.self, FacadeStage.description())
    world.settle()
    #expect(world.succeeded(try register()))
  }

  @Test func bledRestarts() throws {
    try register()
    world.restart()
    // The program is not asked again: it may have withdrawn its object since.
    #expect(world.bus.take("GetAll") == nil)
    world.settle()
    #expect(try world.session(Self.program).methods == ["session.open", "advertising.start"])
    #expect(property("ActiveInstances") == .byte(1))
  }

  @Test func aProgramLeavesWhileItRegisters() throws {
    world.call(Self.program, .advertisingManager, "RegisterAdvertisement", [.path(Self.path), .options([])])
    let call = try #require(world.bus.take("GetAll"))
    world.facade.left(Self.program)
    call.completion(.success([.options(Self.properties)]))
    world.settle()
    #expect(world.daemon.sessions(of: Self.program).isEmpty)
    #expect(started.params.isEmpty)
  }
}
