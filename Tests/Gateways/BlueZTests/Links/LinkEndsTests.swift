import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Ends of links: by a program, the device, bled or a session.
struct LinkEndsTests: LinkScenes {
  let world: FacadeStage
  let device: LinkBehaviour

  init() throws { (world, device) = try Self.stage() }

  /// bleak closes its connection to the bus at the signal: the reply must have arrived by then.
  @Test func theReplyToDisconnectComesBeforeTheSignal() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { method, message, session in
      // bled reports the end before it answers.
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

  @Test func theDeviceEndsTheLink() throws {
    connect(Self.one)
    let reason = RPCError(BluetoothError(domain: .hci, code: 0x13, name: "remote", message: "it ended the link"))
    try world.session(Self.one).notify(
      PeripheralDisconnected.self, PeripheralDisconnected.Params(peripheral: "D1", reason: reason))
    world.settle()
    #expect(try property("Connected") == .boolean(false))
    let told = try #require(world.bus.signals.last { $0.member == "Disconnected" })
    #expect(told.arguments.first == .string("org.bluez.Reason.Remote"))
    // Programs read the services when the end is reported.
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

  /// The link has ended with its session.
  @Test func aSessionEnds() throws {
    connect(Self.one)
    try world.session(Self.one).end()
    world.settle()
    #expect(try property("Connected") == .boolean(false))
    #expect(world.succeeded(connect(Self.one)))
    #expect(try property("ServicesResolved") == .boolean(true))
  }
}
