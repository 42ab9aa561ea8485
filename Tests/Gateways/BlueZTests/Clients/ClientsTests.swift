import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// The programs on the bus.
struct ClientsTests {
  private let world = FacadeStage()

  /// A program leaves while its user is determined, and calls again: the later answer finds it known.
  @Test func aProgramIsAskedForTwice() throws {
    let first = world.begin(":1.5", .adapter, "StartDiscovery")
    world.facade.left(":1.5")
    let second = world.begin(":1.5", .adapter, "StartDiscovery")
    world.settle()
    #expect(world.error(first) != nil)
    #expect(world.succeeded(second))
    #expect(world.daemon.sessions(of: ":1.5").count == 1)
    try world.hear(":1.5", -60)
    #expect(world.succeeded(world.call(":1.5", .adapter, "StopDiscovery", [])))
  }

  /// bled has no room for a program's session: it is closed, and the next call tries again.
  @Test func aSessionThatIsRefused() throws {
    let count = world.daemon.sessions.count
    world.daemon.answer = { method, _, _ in
      method == SessionOpen.name ? .failure(BledError.limitReached.error("there is no room")) : nil
    }
    #expect(world.error(world.call(":1.5", .adapter, "StartDiscovery", [])) != nil)
    #expect(world.daemon.sessions.count == count + 1)
    #expect(world.daemon.sessions.last?.isClosed == true)
    world.daemon.answer = { _, _, _ in nil }
    #expect(world.succeeded(world.call(":1.5", .adapter, "StartDiscovery", [])))
    #expect(try world.session(":1.5").methods.contains(ScanStart.name))
    #expect(world.daemon.sessions.count == count + 2)
  }

  /// The programs of a user that answer no calls leave calls for another user's.
  @Test func callsThatAreNotAnswered() throws {
    world.bus.users = [":1.1": 1001]
    for program in 2...20 {
      for number in 0..<8 {
        world.call(
          ":1.\(program)", .gattManager, "RegisterApplication", [.path("/app\(number)"), .options([])])
      }
    }
    let pending = world.bus.calls.count
    #expect(pending == 32)
    world.call(":1.1", .gattManager, "RegisterApplication", [.path("/app"), .options([])])
    #expect(world.bus.calls.last?.destination == ":1.1")
    #expect(world.bus.calls.count == pending + 1)
    // As one is answered, the next one of the same user is sent.
    world.bus.take("GetManagedObjects")?.completion(.failure(.noReply))
    world.settle()
    #expect(world.bus.calls.count == pending + 1)
    #expect(world.bus.calls.last?.destination != ":1.1")
  }

  /// Programs that leave with open calls make no room for others of their user before the calls have ended.
  @Test func callsOfProgramsThatHaveLeft() {
    let programs = (2...5).map { ":1.\($0)" }
    for program in programs {
      for number in 0..<8 {
        world.call(program, .gattManager, "RegisterApplication", [.path("/app\(number)"), .options([])])
      }
    }
    #expect(world.bus.calls.count == 32)
    for program in programs { world.facade.left(program) }
    world.call(":1.6", .gattManager, "RegisterApplication", [.path("/app"), .options([])])
    #expect(world.bus.calls.count == 32)
    world.bus.take("GetManagedObjects")?.completion(.failure(.noReply))
    world.settle()
    #expect(world.bus.calls.last?.destination == ":1.6")
  }
}
