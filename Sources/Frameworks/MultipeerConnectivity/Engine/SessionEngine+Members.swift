import BledClient
import FrameworkSupport
import NearbySessions

/// A session's members connect with each other: a joining one receives the list of the others, and in each pair the one
/// with the lower identifier invites the other, with the secret of a peer that listed it. A secret is sent to accepted
/// peers, and is known as long as the peer is connected.
extension SessionEngine {
  /// How often a member is invited, with growing pauses, and the time for each.
  private static let attempts = 7, timeout = Duration.seconds(30)

  /// The session gets another secret, and drops the former one.
  func renew(_ state: inout State) {
    Memberships.remove(state.token, of: self)
    state.token = GroupToken()
    Memberships.add(state.token, of: self)
  }

  /// Sends the session's secret to an accepted peer.
  func sendToken(_ identifier: UInt64, _ state: inout State) {
    state.entries[identifier]?.link?.send(.ready(state.token))
    state.entries[identifier]?.told = state.token
  }

  /// A connected peer's secret, which replaces a former one.
  func know(_ token: GroupToken, _ identifier: UInt64, _ state: inout State) {
    forgetToken(of: identifier, &state)
    state.entries[identifier]?.token = token
    Memberships.add(token, of: self)
  }

  /// A peer's secret is useless without the peer, unless it is also another one's.
  func forgetToken(of identifier: UInt64, _ state: inout State) {
    guard let token = state.entries[identifier]?.token else { return }
    state.entries[identifier]?.token = nil
    guard token != state.token, !state.entries.values.contains(where: { $0.token == token }) else { return }
    Memberships.remove(token, of: self)
  }

  /// Sends each connected peer the list of the others.
  func sendMembers() {
    let entries = state.with { $0.entries.values.filter(\.machine.isConnected) }
    for entry in entries {
      let others = entries.map(\.peer.identifier).filter { $0 != entry.peer.identifier }
      if !others.isEmpty { entry.link?.send(.members(others.sorted())) }
    }
  }

  /// A peer has sent a list of others.
  func received(_ members: [UInt64], from link: PeerLink) {
    state.with { state in
      guard let entry = state.entries[link.peer.identifier], entry.link === link, entry.machine.isConnected else {
        return
      }
      state.entries[link.peer.identifier]?.members = Set(members)
      let known = Set(state.dialing.keys).union(state.entries.keys)
      let unknown = members.filter { $0 != own.identifier && !known.contains($0) && state.cancelled[$0] == nil }
      // A list may have any identifiers: no more are dialled than can take part.
      let room = max(0, kMCSessionMaximumNumberOfPeers - 1 - known.count)
      let dialled = Set(unknown.filter { $0 > own.identifier }).prefix(room)
      for member in dialled { state.dialing[member] = dial(member, link, state.era) }
      let isReachable = state.reachable.contains { $0 === link.local }
      guard !isReachable, unknown.contains(where: { $0 < own.identifier }) else { return }
      state.reachable.append(link.local)
      let era = self.era(state)
      Task { try? await link.local.becomeReachable(for: era) }
    }
  }

  /// This side can be invited by members.
  func reach(_ local: LocalNode) {
    let era = addReachable(local)
    Task { try? await local.becomeReachable(for: era) }
  }

  /// Invites a member; a failure need not be reported.
  private func dial(_ member: UInt64, _ teller: PeerLink, _ era: Int) -> SessionAttempt {
    let local = teller.local
    let former = local.endings(of: member)
    let work = Task {
      for ending in former { await ending.value }
      for attempt in 0..<Self.attempts {
        guard let token = state.with({ $0.secret(for: member, era) }), !Task.isCancelled else { break }
        do throws(BluetoothError) {
          let connection = try await local.invite(member, .member(token), timeout: Self.timeout)
          let peer = PeerIdentity(identifier: member, name: connection.name)
          await attach(connection, peer, at: local, .member(era))
          break
        } catch {
          // The member may not have received this side's identifier yet, or a new secret may wait behind data.
          try? await Task.sleep(for: .seconds(1 << attempt))
        }
      }
      state.with { if $0.era == era { $0.dialing[member] = nil } }
    }
    return SessionAttempt(local: local, work: work)
  }

  // MARK: Discovery by the program

  /// The data for a peer's connection to this session.
  func connectionData(for identifier: UInt64, at local: LocalNode) async throws(BluetoothError) -> Data {
    try await local.becomeReachable(for: addReachable(local))
    let token = state.with { state in
      let token = state.passes[identifier] ?? GroupToken()
      state.passes[identifier] = token
      Memberships.add(token, of: self)
      return token
    }
    return ConnectionData(identifier: own.identifier, token: token).encoded
  }

  /// Connects to a peer by its session's data: the one with the lower identifier invites.
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
      try? await local.key.place.clock.sleep(for: Self.timeout)
      endWait(wait, for: peer)
    }
  }
}
