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
    var isLeft = false
    while !isLeft {
      let (first, second) = (try Ending(), try Ending())
      let number = try await alice.addEnded(first)
      let wait = Task { await alice.formerEnds(of: Self.identifier) }
      try await until { await alice.waits.count(at: .channels) == 1 }
      let later = try await alice.addEnded(second)
      await alice.closeSockets(of: number)
      await wait.value
      // On a slow machine that one may be over, too: it waits for the other side in real time.
      isLeft = await alice.hasChannels(later)
    }
  }

  @Test("an invitation that is cancelled does not wait for a former session")
  func cancelled() async throws {
    let daemon = try await Daemon(adapters: 1)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0)
    let ending = try Ending()
    _ = try await alice.addEnded(ending)
    let wait = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await alice.formerEnds(of: Self.identifier)
    }
    await wait.value
    withExtendedLifetime(ending) {}
  }
}

/// A session's channel, whose other side does not close it.
private struct Ending {
  let own: BlockingSocket
  let other: BlockingSocket

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    (own, other) = (BlockingSocket(ends[0]), BlockingSocket(ends[1]))
  }
}

extension NearbyNode {
  /// Adds a session that the peer with the identifier 1 has begun and that has ended here, while its channel is open.
  fileprivate func addEnded(_ ending: Ending) throws -> Int {
    let opened = try OpeningTests.open().acceptor
    let session = add(opened, "", isDialer: false, opened.hello.session)
    session.attach(ending.own, .control, on: self)
    end(session, .byUs)
    return session.number
  }

  fileprivate func closeSockets(of number: Int) { sessions[number]?.closeSockets(on: self) }

  fileprivate func hasChannels(_ number: Int) -> Bool { sessions[number]?.sockets.isEmpty == false }
}
