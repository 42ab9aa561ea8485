import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Links of programs that are not on the bus.
struct LinksOfOthersTests: LinkScenes {
  let world: FacadeStage
  let device: LinkBehaviour

  init() throws { (world, device) = try Self.stage() }

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

  /// A call of Connect that fails while others have links, which begin and end meanwhile, each for longer than the
  /// pause.
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

  /// The reported link is the one that a program has had: it ends a moment after Disconnect.
  @Test func aLinkThatIsAboutToEnd() throws {
    try tellLink(true)
    connect(Self.one)
    disconnect(Self.one)
    world.advance(by: .milliseconds(250))
    try tellLink(false)
    world.settle()
    #expect(changes("Connected") == [.boolean(true), .boolean(false)])
  }
}
