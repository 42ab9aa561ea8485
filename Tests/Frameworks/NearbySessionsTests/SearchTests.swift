import BledClient
import TestSupport
import Testing

@testable import NearbySessions

/// Searches of one node beside each other.
@Suite(.timeLimit(.minutes(10))) struct SearchTests {
  @Test("a look around goes on while peers are searched for by their identifiers, several at once")
  func besideEachOther() async throws {
    let daemon = try await Daemon(adapters: 3)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0)
    let bob = try await Nodes.node(daemon, "Bob", adapter: 1)
    let carol = try await Nodes.node(daemon, "Carol", adapter: 2)
    let changes = try await alice.browse()
    async let first = alice.find(bob.settings.identifier)
    async let second = alice.find(carol.settings.identifier)
    try await until { await alice.lastScan == 3 }
    try await bob.becomeReachable()
    try await carol.becomeReachable()
    #expect(try await first.identifier == bob.settings.identifier)
    #expect(try await second.identifier == carol.settings.identifier)
    try await bob.advertise()
    var names: [String] = []
    for try await case .found(let peer) in changes {
      names.append(peer.name)
      break
    }
    #expect(names == ["Bob"])
  }
}
