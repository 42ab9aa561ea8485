import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Several programs use one link, and leave it or the bus.
struct SharedLinksTests: LinkScenes {
  let world: FacadeStage
  let device: LinkBehaviour

  init() throws { (world, device) = try Self.stage() }

  @Test func oneProgramDisconnectsAndTheOtherStays() throws {
    for program in [Self.one, Self.other] { connect(program) }
    #expect(world.succeeded(disconnect(Self.one)))
    #expect(try property("Connected") == .boolean(true))
    #expect(world.succeeded(disconnect(Self.other)))
    #expect(try property("Connected") == .boolean(false))
    #expect(world.bus.signals.contains { $0.member == "Disconnected" })
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

  /// A forgotten connection to the bus does not keep its process connected.
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

  /// A program joins a link that ends meanwhile: bled gives it one that is not shown to any program, so it is
  /// disconnected.
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

  /// The device is removed, or bled ends.
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
}
