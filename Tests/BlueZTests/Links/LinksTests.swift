import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Connect and Disconnect, and what programs see of it (BlueZ, org.bluez.Device).
struct LinksTests {
  private static let one = ":1.1"
  private static let other = ":1.2"
  private static let rate: UInt16 = 0x12

  private let world = FacadeStage()
  private let device = Behaviour()

  /// The answers of bled for the device.
  private final class Behaviour {
    var discovery: BluetoothError?
    var connection: BluetoothError?
    var linked = FacadeStage.linked
    /// The calls of all programs, in their order.
    var calls: [String] = []
  }

  init() throws {
    world.daemon.answer = { [device] method, _, session in
      device.calls.append(method)
      switch method {
      case PeripheralConnect.name: return device.connection.map { .failure($0) } ?? .success(device.linked)
      case GATTDiscover.name:
        return device.discovery.map { .failure($0) } ?? .success(GATTServices(services: [Self.service]))
      default: return nil
      }
    }
    world.call(Self.one, .adapter, "StartDiscovery", [])
    try world.hear(Self.one, -60)
  }

  private static let service = ServiceDescription(
    handle: 0x10, end: 0x20, uuid: 0x180D, primary: true,
    characteristics: [
      CharacteristicDescription(handle: rate, end: 0x14, uuid: 0x2A37, properties: ["notify"])
    ])

  @discardableResult
  private func connect(_ program: String) -> UInt64 {
    world.call(program, .device, "Connect", [], at: FacadeStage.device)
  }

  @discardableResult
  private func disconnect(_ program: String) -> UInt64 {
    world.call(program, .device, "Disconnect", [], at: FacadeStage.device)
  }

  private func property(_ name: String) throws -> BusValue? {
    let number = world.call(
      Self.one, .properties, "Get", [.string(Interface.device.rawValue), .string(name)], at: FacadeStage.device)
    return try world.bus.answers[number]?.get().first?.unwrapped
  }

  /// The changes of a property of the device that all programs were told, in their order.
  private func changes(_ name: String) -> [BusValue] {
    world.bus.signals.filter { $0.path == FacadeStage.device && $0.member == "PropertiesChanged" }.compactMap {
      ManagedObjects.properties($0.arguments[1])[name]
    }
  }

  @Test func servicesAreResolvedOnceAndAfterTheirObjects() throws {
    #expect(world.succeeded(connect(Self.one)))
    #expect(changes("Connected") == [.boolean(true)])
    #expect(changes("ServicesResolved") == [.boolean(true)])
    let objects = world.bus.signals.lastIndex { $0.member == "InterfacesAdded" }
    let resolved = world.bus.signals.lastIndex {
      $0.path == FacadeStage.device && $0.member == "PropertiesChanged"
        && ManagedObjects.properties($0.arguments[1])["ServicesResolved"] != nil
    }
    #expect(try #require(objects) < #require(resolved))
    #expect(world.succeeded(connect(Self.other)))
    #expect(changes("ServicesResolved") == [.boolean(true)], "the other one finds them there")
    #expect(device.calls.count { $0 == GATTDiscover.name } == 1)
  }

  /// A device that does not tell its services is disconnected, so that no program waits for it in vain.
  @Test func aDeviceThatDoesNotTellItsServices() throws {
    device.discovery = GAPError.timeout.error("no answer")
    #expect(world.succeeded(connect(Self.one)))
    #expect(changes("Connected") == [.boolean(true), .boolean(false)])
    #expect(changes("ServicesResolved").isEmpty)
    #expect(device.calls.last == PeripheralDisconnect.name)
  }

  @Test func aDeviceThatCannotBeReached() throws {
    device.connection = GAPError.timeout.error("it was not heard")
    #expect(world.error(connect(Self.one)) == .failed("le-connection-abort-by-local"))
    device.connection = GAPError.connectionLimitReached.error("no room")
    #expect(world.error(connect(Self.one)) == .failed("le-connection-busy"))
    #expect(changes("Connected").isEmpty)
  }

  /// The services that it has are known also when it advertises again.
  @Test func servicesThatAreNotAdvertised() throws {
    connect(Self.one)
    disconnect(Self.one)
    try world.hear(Self.one, -60, at: 1, services: [0x180F])
    #expect(try property("UUIDs") == .strings(["180d", "180f"].map { "0000\($0)-0000-1000-8000-00805f9b34fb" }))
  }

  /// A device that was not heard has its object from the link on.
  @Test func aDeviceThatIsNamed() throws {
    func connect(_ options: [(String, BusValue)]) -> UInt64 {
      world.call(Self.other, .adapter, "ConnectDevice", [.options(options)])
    }
    let address = ("Address", BusValue.string("c0:de:00:00:00:02"))
    let random = ("AddressType", BusValue.string("random"))
    #expect(world.error(connect([random])) == .invalidArguments)
    #expect(world.error(connect([("Address", .string("nowhere")), random])) == .invalidArguments)
    #expect(world.error(connect([address, ("AddressType", .string("none"))])) == .invalidArguments)
    #expect(world.error(connect([address])) == .notSupported, "the type of the classic transport")
    #expect(world.error(connect([("Address", .string("C0:DE:00:00:00:01")), random])) == .alreadyExists)
    device.connection = GAPError.timeout.error("not heard")
    #expect(world.error(connect([address, random])) == .failed("le-connection-abort-by-local"))
    device.connection = nil
    device.linked = PeripheralConnect.Result(
      peripheral: "D2", address: "C0:DE:00:00:00:02", addressType: "random", adapter: "hci0", mtu: 65, attempts: 1)
    let path = "/org/bluez/hci0/dev_C0_DE_00_00_00_02"
    let number = connect([address, random])
    #expect(try world.bus.answers[number]?.get() == [.path(path)])
    #expect(world.succeeded(world.call(Self.other, .device, "Disconnect", [], at: path)))
  }

  @Test func oneProgramDisconnectsAndTheOtherStays() throws {
    for program in [Self.one, Self.other] { connect(program) }
    #expect(world.succeeded(disconnect(Self.one)))
    #expect(try property("Connected") == .boolean(true))
    #expect(world.succeeded(disconnect(Self.other)))
    #expect(try property("Connected") == .boolean(false))
    #expect(world.bus.signals.contains { $0.member == "Disconnected" })
  }

  /// Uses the link that others have, as bleak does for a device that is connected.
  private func join(_ program: String) {
    let number = world.call(
      program, .characteristic, "StartNotify", [], at: FacadeStage.device + "/service0010/char0011")
    #expect(world.succeeded(number))
  }

  @Test(arguments: [false, true])
  func aProgramThatDidNotCallConnectStaysWhenTheOtherDisconnects(isOfSameProcess: Bool) throws {
    if isOfSameProcess { world.bus.processes[Self.other] = 1 }
    connect(Self.one)
    join(Self.other)
    #expect(world.succeeded(disconnect(Self.one)))
    #expect((changes("Connected").last == .boolean(false)) == isOfSameProcess)
    guard !isOfSameProcess else { return }
    #expect(world.succeeded(disconnect(Self.other)))
    #expect(changes("Connected").last == .boolean(false))
  }

  /// A process that has forgotten one of its connections to the bus is not kept connected by it.
  @Test(arguments: [false, true])
  func aProcessDisconnectsAllItsPrograms(hasOthers: Bool) throws {
    world.bus.processes[Self.other] = 1
    for program in [Self.one, Self.other] { connect(program) }
    if hasOthers { connect(":1.3") }
    #expect(world.succeeded(disconnect(Self.other)))
    #expect(device.calls.count { $0 == PeripheralDisconnect.name } == 2)
    let told = hasOthers ? world.bus.told.filter { $0.signal.path == FacadeStage.device } : []
    #expect(Set(told.map(\.program)) == (hasOthers ? [Self.one, Self.other] : []))
    #expect((changes("Connected").last == .boolean(true)) == hasOthers)
  }

  @Test func aProgramThatDidNotCallConnectDisconnectsItselfAlone() throws {
    connect(Self.one)
    join(Self.other)
    #expect(world.succeeded(disconnect(Self.other)))
    #expect(try property("Connected") == .boolean(true))
    #expect(changes("Connected").last == .boolean(true))
  }

  /// bleak closes its connection to the bus when it is told: the reply must have come by then.
  @Test func theReplyToDisconnectComesBeforeTheSignal() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      // bled tells the end before it answers.
      if method == PeripheralDisconnect.name {
        try? session.notify(PeripheralDisconnected.self, .init(peripheral: "D1", reason: nil))
      }
      return answer(method, message, session)
    }
    connect(Self.one)
    let number = disconnect(Self.one)
    #expect(changes("Connected").last == .boolean(false))
    let told = world.bus.signals.lastIndex {
      $0.member == "PropertiesChanged" && ManagedObjects.properties($0.arguments[1])["Connected"] != nil
    }
    #expect(try #require(told) >= #require(world.bus.signalsBefore[number]))
  }

  private func tellLink(_ isLinked: Bool) throws {
    try world.own().notify(
      PeripheralLinkChanged.self, PeripheralLinkChanged.Params(peripheral: "D1", linked: isLinked, name: nil))
  }

  @Test func aLinkOfProgramsThatAreNotOnTheBus() throws {
    try tellLink(true)
    world.settle()
    #expect(changes("Connected").isEmpty)
    world.advance(by: .milliseconds(250))
    #expect(changes("Connected") == [.boolean(true)])
    try tellLink(false)
    world.settle()
    #expect(changes("Connected").last == .boolean(false))
  }

  /// A call of Connect that fails while others have links, which come and go meanwhile, each for longer than the pause.
  private func connectInVain(_ links: [Bool]) throws {
    device.connection = GAPError.timeout.error("no answer")
    let answer = world.daemon.answer
    world.daemon.answer = { [world] method, message, session in
      if method == PeripheralConnect.name {
        for isLinked in links {
          try? world.own().notify(
            PeripheralLinkChanged.self, PeripheralLinkChanged.Params(peripheral: "D1", linked: isLinked, name: nil))
        }
      }
      return answer(method, message, session)
    }
    let number = world.begin(Self.one, .device, "Connect", at: FacadeStage.device)
    while world.bus.answers[number] == nil, world.bus.deliver() || world.daemon.deliver() {
      world.clock.advance(by: .milliseconds(250))
      #expect(world.bus.answers[number] != nil || changes("Connected").isEmpty)
    }
    world.settle()
    #expect(world.error(number) == .failed("le-connection-abort-by-local"))
    world.daemon.answer = answer
  }

  @Test func aLinkOfOthersWhileConnectFails() throws {
    try connectInVain([true])
    #expect(changes("Connected") == [.boolean(true)])
    connect(Self.other)
    #expect(changes("Connected") == [.boolean(true)], "it is shown once")
    try tellLink(false)
    world.settle()
    #expect(changes("Connected").last == .boolean(false))
  }

  @Test func aLinkOfOthersThatEndsBeforeConnectFails() throws {
    try connectInVain([true, false])
    #expect(changes("Connected").isEmpty)
    connect(Self.other)
    #expect(changes("Connected").isEmpty)
  }

  /// The link that is told is the one that a program has had: it ends a moment after Disconnect.
  @Test func aLinkThatIsAboutToEnd() throws {
    try tellLink(true)
    connect(Self.one)
    disconnect(Self.one)
    world.advance(by: .milliseconds(250))
    try tellLink(false)
    world.settle()
    #expect(changes("Connected") == [.boolean(true), .boolean(false)])
  }

  /// bled tries again when a link ends before it is of use. Programs are told of the one that Connect answers with.
  @Test func theFirstLinkOfACallEndsAtOnce() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { [world] method, message, session in
      if method == PeripheralConnect.name {
        for isLinked in [true, false, true] {
          try? world.own().notify(
            PeripheralLinkChanged.self, PeripheralLinkChanged.Params(peripheral: "D1", linked: isLinked, name: nil))
        }
      }
      return answer(method, message, session)
    }
    let number = world.begin(Self.one, .device, "Connect", at: FacadeStage.device)
    while world.bus.answers[number] == nil, world.bus.deliver() || world.daemon.deliver() {
      world.clock.advance(by: .milliseconds(250))
      #expect(world.bus.answers[number] != nil || changes("Connected").isEmpty)
    }
    world.settle()
    #expect(changes("Connected") == [.boolean(true)])
  }

  /// A program joins a link that ends meanwhile: bled gives it one that nobody is shown, so it is let go.
  @Test func aLinkThatEndsWhileAProgramJoinsIt() throws {
    connect(Self.one)
    let number = world.begin(
      Self.other, .characteristic, "StartNotify", at: FacadeStage.device + "/service0010/char0011")
    try world.session(Self.one).notify(PeripheralDisconnected.self, .init(peripheral: "D1", reason: nil))
    world.settle()
    #expect(world.error(number) == .failed("Not connected"))
    #expect(changes("Connected").last == .boolean(false))
    #expect(device.calls.last == PeripheralDisconnect.name)
  }

  @Test func theLinkEndsWithTheLastProgram() throws {
    for program in [Self.one, Self.other] {
      connect(program)
      join(program)
    }
    for (program, isConnected) in [(Self.other, true), (Self.one, false)] {
      world.facade.left(program)
      world.settle()
      #expect(world.daemon.sessions(of: program).isEmpty)
      #expect((changes("Connected").last == .boolean(true)) == isConnected)
    }
  }

  /// Each command of busctl is a program of its own: Connect, then ReadValue, then Disconnect.
  @Test func commandsOneAfterTheOther() throws {
    connect(Self.one)
    world.facade.left(Self.one)
    world.settle()
    #expect(world.daemon.sessions(of: Self.one).isEmpty)
    for program in [":1.3", ":1.4"] {
      world.advance(by: .seconds(29))
      join(program)
      world.facade.left(program)
      world.settle()
      #expect(try property("Connected") == .boolean(true))
    }
    #expect(world.succeeded(disconnect(":1.5")))
    #expect(try property("Connected") == .boolean(false))
    #expect(world.daemon.sessions.count { !$0.isClosed } == 1, "that of the facade")
  }

  @Test func aLinkThatNobodyUsesAfterwards() throws {
    connect(Self.one)
    world.facade.left(Self.one)
    world.advance(by: .seconds(29))
    #expect(changes("Connected") == [.boolean(true)])
    world.advance(by: .seconds(1))
    #expect(changes("Connected") == [.boolean(true), .boolean(false)])
  }

  @Test func theLinkOfATrustedDeviceStays() throws {
    connect(Self.one)
    join(Self.one)
    world.set(Self.one, .device, "Trusted", .boolean(true), at: FacadeStage.device)
    world.facade.left(Self.one)
    world.advance(by: .seconds(1000))
    #expect(changes("Connected") == [.boolean(true)])
    world.bus.users = [":1.7": 1007]
    #expect(world.succeeded(disconnect(":1.7")), "of another user")
    #expect(changes("Connected") == [.boolean(true)])
    #expect(world.succeeded(disconnect(":1.8")))
    #expect(changes("Connected").last == .boolean(false))
  }

  /// The device goes, or bled.
  @Test(arguments: [false, true]) func aKeptLinkEnds(withBled isRestart: Bool) throws {
    connect(Self.one)
    world.facade.left(Self.one)
    world.settle()
    if isRestart {
      world.restart()
    } else {
      let keeper = try #require(world.daemon.sessions(of: "links of user 1000").last)
      try keeper.notify(PeripheralDisconnected.self, .init(peripheral: "D1", reason: nil))
      world.settle()
    }
    #expect(changes("Connected").last == .boolean(false))
    #expect(world.daemon.sessions(of: "links of user 1000").isEmpty)
    world.advance(by: .seconds(60))
    #expect(world.succeeded(connect(Self.other)))
  }

  @Test func theDeviceEndsTheLink() throws {
    connect(Self.one)
    let reason = RPCError(BluetoothError(domain: .hci, code: 0x13, name: "remote", message: "it ended the link"))
    try world.session(Self.one).notify(
      PeripheralDisconnected.self, PeripheralDisconnected.Params(peripheral: "D1", reason: reason))
    world.settle()
    #expect(try property("Connected") == .boolean(false))
    let told = try #require(world.bus.signals.last { $0.member == "Disconnected" })
    #expect(told.arguments.first == .string("org.bluez.Reason.Remote"))
    // Programs look at the services when they are told of the end.
    let members = world.bus.signals.filter { $0.path == FacadeStage.device }.suffix(3).map(\.member)
    #expect(members == ["PropertiesChanged", "Disconnected", "PropertiesChanged"])
    #expect(changes("ServicesResolved").last == .boolean(false))
  }

  @Test func bledEnds() throws {
    connect(Self.one)
    world.restart()
    #expect(try property("Connected") == .boolean(false))
    #expect(world.succeeded(connect(Self.one)))
    #expect(try property("ServicesResolved") == .boolean(true))
  }

  /// The link has ended with the session that had it.
  @Test func aSessionEnds() throws {
    connect(Self.one)
    try world.session(Self.one).end()
    world.settle()
    #expect(try property("Connected") == .boolean(false))
    #expect(world.succeeded(connect(Self.one)))
    #expect(try property("ServicesResolved") == .boolean(true))
  }

  @Test func aSecondConnectWhileTheFirstIsUnderWay() throws {
    var pending: [UInt64] = []
    for _ in 0..<2 { pending.append(world.begin(Self.one, .device, "Connect", at: FacadeStage.device)) }
    world.settle()
    #expect(world.succeeded(pending[0]))
    #expect(world.error(pending[1]) == .inProgress)
  }
}
