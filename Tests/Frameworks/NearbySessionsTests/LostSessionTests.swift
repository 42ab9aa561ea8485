import BledClient
import TestSupport
import Testing

@testable import NearbySessions

/// Sessions without a link, which may be restored for a long time.
@Suite(.timeLimit(.minutes(10))) struct LostSessionTests {
  @Test("peers that connect and go keep nobody out: a lost session in which nothing was transferred gives way")
  func strangers() async throws {
    let daemon = try await Daemon(adapters: NearbyNode.peerLimit + 2)
    let alice = try await Nodes.node(daemon, "Alice", adapter: 0)
    try await alice.advertise()
    var accepted: [NearbyConnection] = []
    var nodes: [NearbyNode] = []
    for number in 1...NearbyNode.peerLimit + 1 {
      let node = try await Nodes.node(daemon, "Peer \(number)", adapter: number)
      let invited = Nodes.invite(try await Nodes.find("Alice", by: node), by: node)
      let invitation = try await Nodes.invitation(to: alice, by: invited)
      #expect(await invitation.answer(true), "peer \(number)")
      let connection = try await invited.value
      accepted.append(invitation.connection)
      nodes.append(node)
      guard number <= NearbyNode.peerLimit else { continue }
      if number == 1 {
        try await connection.send([7])
        guard case .message([7])? = await invitation.connection.next() else { throw Nodes.Missing() }
      }
      _ = try await daemon.client().call(AdapterPower.self, .init(adapter: daemon.adapter(number), on: false))
      guard case .lost? = await invitation.connection.next() else { throw Nodes.Missing() }
    }
    // The oldest has transferred something.
    guard case .ended(.linkLost)? = await accepted[1].next() else { throw Nodes.Missing() }
    #expect(await alice.connectedCount == NearbyNode.peerLimit)
    #expect(await accepted[NearbyNode.peerLimit].hasLink)
    withExtendedLifetime(nodes) {}
  }
}
