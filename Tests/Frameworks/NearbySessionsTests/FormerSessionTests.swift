import Glibc
import TestSupport
import Testing

@testable import NearbySessions

/// The wait of an invitation for sessions of its peer that have ended.
@Suite(.timeLimit(.minutes(10))) struct FormerSessionTests {
  private static let identifier: UInt64 = 1

  @Test("an invitation does not wait for a session that ends after it has begun")
  func later() async throws {
    let daemon = try await Daemon(adapters: 1)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0)
    let first = try await alice.addEnded()
    let wait = Task { await alice.formerEnds(of: Self.identifier) }
    try await until { await alice.waits.count(at: .channels) == 1 }
    _ = try await alice.addEnded()
    await alice.closeSockets(of: first)
    await wait.value
  }

  @Test("an invitation that is cancelled does not wait for a former session")
  func cancelled() async throws {
    let daemon = try await Daemon(adapters: 1)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0)
    _ = try await alice.addEnded()
    let wait = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await alice.formerEnds(of: Self.identifier)
    }
    await wait.value
  }
}

extension NearbyNode {
  /// Adds a session that the peer with the identifier 1 has begun and that has ended here, while its channel is open.
  fileprivate func addEnded() throws -> Int {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    Glibc.close(ends[1])
    let opened = try OpeningTests.open().acceptor
    let number = add(opened, "", isDialer: false, opened.hello.session)
    peers[number]?.end = .byUs
    peers[number]?.sockets[.control] = BlockingSocket(ends[0])
    return number
  }
}
