import Bluetooth
import HCI
import Testing

@testable import Radio

struct LinkRequestsTests {
  private typealias Action = LinkRequests.Action
  private let refused = HCIStatus(.unsupportedRemoteFeature)

  private func request(_ kind: LinkRequests.Kind, _ number: Int) -> LinkRequests.Request {
    let packet =
      switch kind {
      case .parameters: CommandPacket(LEConnectionUpdate { $0.handle = 0x40 })
      case .subrate: CommandPacket(LESubrateRequest { $0.handle = 0x40 })
      case .features: CommandPacket(LEReadAllRemoteFeatures { $0.handle = 0x40 })
      case .phy: CommandPacket(LESetPHY { $0.handle = 0x40 })
      case .dataLength: CommandPacket(LESetDataLength { $0.handle = 0x40 })
      }
    return LinkRequests.Request(kind: kind, packet: packet, number: number)
  }

  @Test func oneProcedureAtATimeAndOfEachKindTheNewest() {
    var machine = LinkRequests()
    let phy = request(.phy, 1)
    let (slow, quick) = (request(.parameters, 2), request(.parameters, 4))
    let length = request(.dataLength, 3)
    #expect(machine.want(phy, at: .zero) == [.ask(phy)])
    #expect(machine.want(slow, at: .zero).isEmpty)
    #expect(machine.want(length, at: .zero).isEmpty)
    #expect(machine.want(quick, at: .zero) == [.replaced(2)])
    #expect(machine.answered(1, .success, at: .zero).isEmpty)
    // An event of another kind is about the device's request.
    #expect(machine.completed(.parameters, .success, at: .zero).isEmpty)
    #expect(machine.completed(.phy, .success, at: .zero) == [.settled(1, .success), .ask(length)])
    #expect(machine.answered(3, .success, at: .zero) == [.settled(3, .success), .ask(quick)])
    #expect(machine.answered(4, .success, at: .zero).isEmpty)
    #expect(machine.completed(.parameters, refused, at: .zero) == [.settled(4, refused)])
    #expect(machine.isIdle)
  }

  @Test func aRefusedCommandSettlesItsRequest() {
    var machine = LinkRequests()
    let (first, second) = (request(.parameters, 1), request(.phy, 2))
    _ = machine.want(first, at: .zero)
    _ = machine.want(second, at: .zero)
    // An answer to a request that is settled changes nothing.
    #expect(machine.answered(7, refused, at: .zero).isEmpty)
    #expect(machine.answered(1, refused, at: .zero) == [.settled(1, refused), .ask(second)])
    #expect(machine.answered(2, refused, at: .zero) == [.settled(2, refused)])
  }

  @Test func aControllerThatNeverTellsTheOutcomeHoldsNothingUp() throws {
    var machine = LinkRequests()
    let (phy, update) = (request(.phy, 1), request(.parameters, 2))
    _ = machine.want(phy, at: .zero)
    _ = machine.want(update, at: .zero)
    _ = machine.answered(1, .success, at: .zero)
    let deadline = try #require(machine.deadline)
    #expect(machine.tick(at: Instant.zero.advanced(by: .seconds(9))).isEmpty)
    #expect(machine.tick(at: deadline) == [.settled(1, HCIStatus(.unspecifiedError)), .ask(update)])
    #expect(machine.deadline == deadline.advanced(by: .seconds(10)))
  }

  @Test func afterLostEventsItIsAskedAgain() {
    var machine = LinkRequests()
    #expect(machine.askAgain().isEmpty)
    let update = request(.parameters, 1)
    _ = machine.want(update, at: .zero)
    _ = machine.answered(1, .success, at: .zero)
    #expect(machine.askAgain() == [.ask(update)])
    // The first procedure is still under way.
    #expect(machine.answered(1, HCIStatus(.commandDisallowed), at: .zero).isEmpty)
    #expect(machine.completed(.parameters, .success, at: .zero) == [.settled(1, .success)])
  }

  @Test(
    "A request that collided is made again after the other side's procedure, or a pause, three times (radio F5)",
    arguments: [0x23, 0x2A, 0x3A] as [UInt8])
  func collisions(_ code: UInt8) throws {
    let collision = HCIStatus(rawValue: code)
    for isCommand in [true, false] {
      var machine = LinkRequests()
      let (update, phy) = (request(.parameters, 1), request(.phy, 2))
      _ = machine.want(update, at: .zero)
      _ = machine.want(phy, at: .zero)
      func collide(at now: Instant) -> [Action] {
        if isCommand { return machine.answered(1, collision, at: now) }
        _ = machine.answered(1, .success, at: now)
        return machine.completed(.parameters, collision, at: now)
      }
      #expect(collide(at: .zero).isEmpty)
      // The other side's procedure ends: it keeps its turn.
      #expect(machine.completed(.subrate, .success, at: .zero) == [.ask(update)])
      #expect(collide(at: .zero).isEmpty)
      #expect(machine.askAgain().isEmpty)
      let pause = try #require(machine.deadline)
      #expect(pause == .zero.advanced(by: .milliseconds(250)))
      #expect(machine.tick(at: pause) == [.ask(update)])
      #expect(collide(at: pause).isEmpty)
      #expect(machine.completed(.parameters, .success, at: pause) == [.ask(update)])
      #expect(collide(at: pause) == [.settled(1, collision), .ask(phy)])
      // Each request has its own count.
      #expect(machine.answered(2, collision, at: pause).isEmpty)
      #expect(machine.end().count == 1 && machine.deadline == nil)
    }
  }

  @Test func theEndOfTheLinkSettlesAll() {
    var machine = LinkRequests()
    _ = machine.want(request(.phy, 1), at: .zero)
    _ = machine.want(request(.parameters, 2), at: .zero)
    let gone = HCIStatus(.unknownConnectionIdentifier)
    #expect(machine.end() == [.settled(1, gone), .settled(2, gone)])
    #expect(machine.end().isEmpty && machine.deadline == nil)
  }
}
