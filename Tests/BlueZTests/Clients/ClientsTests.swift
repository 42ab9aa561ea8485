import Testing

@testable import BlueZ

/// The programs on the bus.
struct ClientsTests {
  private let world = FacadeStage()

  /// A program leaves while the bus is asked for its user, and calls again: the later answer finds it known.
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
}
