import BledClient
import Dispatch
import Noise
import TestSupport
import Testing

@testable import NearbySessions

/// Nodes on one daemon, each with an adapter of its own.
enum Nodes {
  struct Missing: Error {}

  /// - Parameter clock: the clock of its limits, which stands unless the test advances it.
  static func node(
    _ daemon: Daemon, _ name: String, adapter: Int, identifier: UInt64? = nil, key: X25519KeyPair? = nil,
    clock: HeldClock = HeldClock()
  ) async throws -> NearbyNode {
    var settings = NearbySettings(type: .files, name: name)
    if let identifier { settings.identifier = identifier }
    if let key { settings.key = key }
    settings.adapter = daemon.adapter(adapter)
    settings.information = ["a": name]
    settings.clock = clock
    return try NearbyNode(client: try await daemon.client(), settings: settings)
  }

  /// Nodes of these names, each with an adapter of its own, and the daemon that they share.
  static func pair(clock: HeldClock = HeldClock()) async throws -> (daemon: Daemon, alice: NearbyNode, bob: NearbyNode)
  {
    let daemon = try await Daemon(adapters: 2)
    return (
      daemon, try await node(daemon, "Alice", adapter: 0, clock: clock),
      try await node(daemon, "Bob", adapter: 1, clock: clock)
    )
  }

  static func find(_ name: String, by node: NearbyNode) async throws -> FoundPeer {
    for try await case .found(let peer) in try await node.browse() where peer.name == name { return peer }
    throw Missing()
  }

  /// Two nodes with a session, from both sides.
  static func connect(
    _ alice: NearbyNode, _ bob: NearbyNode
  ) async throws -> (alice: NearbyConnection, bob: NearbyConnection) {
    try await bob.advertise()
    let peer = try await find("Bob", by: alice)
    async let answered = { () async throws -> NearbyConnection in
      for await invitation in bob.invitations {
        #expect(invitation.context == [1, 2, 3] && invitation.connection.name == "Alice")
        #expect(await invitation.answer(true))
        #expect(await !invitation.answer(true))
        return invitation.connection
      }
      throw Missing()
    }()
    let connection = try await alice.invite(peer, context: [1, 2, 3])
    return (connection, try await answered)
  }

  /// The next message; without one the session is ended.
  static func message(of end: NearbyConnection) async throws -> [UInt8] {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Patience.seconds)) { [weak end] in
      guard let end else { return }
      Task { await end.disconnect() }
    }
    while let event = await end.next() { if case .message(let message) = event { return message } }
    throw Missing()
  }

  /// Invites a peer, which has as long to answer as a test waits.
  static func invite(
    _ peer: FoundPeer, context: [UInt8] = [], by node: NearbyNode
  ) -> Task<NearbyConnection, any Error> {
    Task { try await node.invite(peer, context: context, timeout: .seconds(Patience.seconds)) }
  }

  /// The next invitation.
  /// - Throws: the error of the expected invitation, if it fails before.
  static func invitation(
    to node: NearbyNode, by invited: Task<NearbyConnection, any Error>
  ) async throws -> NearbyInvitation {
    let arriving = Task { await node.invitations.first { _ in true } }
    Task { if case .failure = await invited.result { arriving.cancel() } }
    if let invitation = await arriving.value { return invitation }
    _ = try await invited.value
    throw Missing()
  }
}

extension HeldClock {
  /// Lets seconds pass until a condition holds.
  func advance(until condition: () async throws -> Bool) async throws {
    try await until {
      advance(by: .seconds(1))
      return try await condition()
    }
  }
}

extension NearbyNode {
  /// True if an invitation waits for an answer.
  var isInvited: Bool { sessions.values.contains(where: \.machine.isInvited) }

  /// True if nothing of a session is left.
  var hasNoPeers: Bool { sessions.isEmpty }
}
