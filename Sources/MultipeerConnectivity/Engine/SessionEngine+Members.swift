import BledClient
import FrameworkSupport
import NearbySessions

/// The members of a session connect with each other: each that joins is told of the others, and of two the one with
/// the lower identifier invites the other, with the secret of the one that told it.
extension SessionEngine {
  private struct Membership: Hashable {
    let identifier: UInt64
    let token: GroupToken
  }

  /// The secrets of a session that are known: its own and those of its peers.
  private static let tokenLimit = 16
  /// How often a member is invited, and the time for each.
  private static let attempts = 3, timeout = Duration.seconds(30)
  private static let sessions = Guarded<[Membership: WeakReference<SessionEngine>]>([:])

  /// The session of a peer of this program whose members know this secret.
  static func member(_ identifier: UInt64, _ token: GroupToken) -> SessionEngine? {
    sessions.with { $0[Membership(identifier: identifier, token: token)]?.object }
  }

  /// The session gets another secret: those of before are of no use any more.
  func renew() {
    state.with { state in
      let token = GroupToken()
      state.tokens = [token]
      register(token)
    }
  }

  /// The secret of a peer.
  func know(_ token: GroupToken, _ link: PeerLink) {
    state.with { state in
      guard state.entries[link.peer.identifier]?.link === link, !state.tokens.contains(token) else { return }
      if state.tokens.count >= Self.tokenLimit { unregister([state.tokens.remove(at: 1)]) }
      state.tokens.append(token)
      state.entries[link.peer.identifier]?.token = token
      register(token)
    }
  }

  private func register(_ token: GroupToken) {
    Self.sessions.with { $0[Membership(identifier: own.identifier, token: token)] = WeakReference(self) }
  }

  func unregister(_ tokens: [GroupToken]) {
    Self.sessions.with { sessions in
      for token in tokens { sessions[Membership(identifier: own.identifier, token: token)] = nil }
    }
  }

  /// Tells each connected peer of the others.
  func tellMembers() {
    let entries = state.with { $0.entries.values.filter(\.machine.isConnected) }
    for entry in entries {
      let others = entries.map(\.peer.identifier).filter { $0 != entry.peer.identifier }
      if !others.isEmpty { _ = entry.link?.send(.message(.members(others.sorted()))) }
    }
  }

  /// A peer has told of others.
  func heard(_ members: [UInt64], from link: PeerLink) {
    let (unknown, token, era) = state.with { state in
      let unknown = members.filter { $0 != own.identifier && state.entries[$0] == nil && !state.dialing.contains($0) }
      state.dialing.formUnion(unknown.filter { $0 > own.identifier })
      return (unknown, state.entries[link.peer.identifier]?.token, state.era)
    }
    guard let token, isConnected(link) else { return }
    for member in unknown where member > own.identifier { dial(member, token, at: link.local, era) }
    if unknown.contains(where: { $0 < own.identifier }) { reach(link.local) }
  }

  /// This side can be invited by members.
  func reach(_ local: LocalNode) {
    let era = addReachable(local)
    Task { try? await local.becomeReachable(for: era) }
  }

  /// Invites a member, which need not be told of if that fails.
  private func dial(_ member: UInt64, _ token: GroupToken, at local: LocalNode, _ era: Int) {
    Task {
      for _ in 0..<Self.attempts where state.with({ $0.era == era && $0.entries[member] == nil }) {
        do throws(BluetoothError) {
          let connection = try await local.invite(member, .member(token), timeout: Self.timeout) { _ in }
          let peer = PeerIdentity(identifier: member, name: connection.name)
          attach(connection, peer, at: local, era, isOwn: false)
          break
        } catch {
          // The member may not have heard of this side yet.
          try? await Task.sleep(for: .seconds(1))
        }
      }
      state.with { if $0.era == era { _ = $0.dialing.remove(member) } }
    }
  }

  // MARK: Discovery of the program's own

  /// The data by which a peer connects with this session.
  func connectionData(_ local: LocalNode) async throws(BluetoothError) -> Data {
    try await local.becomeReachable(for: addReachable(local))
    let token = state.with { $0.tokens.first ?? GroupToken() }
    return ConnectionData(identifier: own.identifier, token: token).encoded
  }

  /// Connects with a peer by the data of its session: the one with the lower identifier invites.
  func connect(_ peer: PeerIdentity, _ data: Data, at local: LocalNode) {
    guard let data = ConnectionData(data), data.identifier == peer.identifier, peer.identifier != own.identifier else {
      Misuse.log("a peer is connected with the data of that peer: this is not")
      return refuse(peer)
    }
    guard own.identifier > peer.identifier else {
      return invite(peer, .member(data.token), at: local, timeout: Self.timeout)
    }
    guard let wait = beginWait(for: peer) else { return }
    reach(local)
    Task {
      try? await Task.sleep(for: Self.timeout)
      endWait(wait, for: peer)
    }
  }
}
