import BledClient
import FrameworkSupport
import NearbySessions

/// Attempts to connect to a peer: invitations by either side, each of which ends once.
extension SessionEngine {
  /// Begins an attempt, unless the peer is connected or invited already. Its work waits until the peer's former
  /// connections have ended.
  /// - Parameter work: gets the attempt's number, for its end.
  /// - Returns: true if it was begun.
  func begin(
    _ peer: PeerIdentity, at local: LocalNode, evenIfConnected: Bool = false, _ state: inout State,
    _ work: @escaping @Sendable (Int) async -> Void
  ) -> Bool {
    guard !state.isClosed else { return false }
    var entry = state.entries[peer.identifier] ?? SessionEntry(peer: peer, machine: machine)
    guard evenIfConnected || entry.isIdle else { return false }
    state.lastAttempt += 1
    let former = local.endings(of: peer.identifier)
    entry.attempts[state.lastAttempt] = SessionAttempt(
      local: local,
      work: Task { [number = state.lastAttempt] in
        for ending in former { await ending.value }
        await work(number)
      })
    state.entries[peer.identifier] = entry
    return true
  }

  /// The peer is to invite this side.
  /// - Returns: the wait's number, for its end; nil if the peer is connected or invited already.
  func beginWait(for peer: PeerIdentity) -> Int? {
    state.with { state in
      guard !state.isClosed, state.entries[peer.identifier]?.isIdle ?? true else { return nil }
      state.lastAttempt += 1
      state.cancelled[peer.identifier] = nil
      state.entries[peer.identifier] = SessionEntry(peer: peer, machine: machine, wait: state.lastAttempt)
      return state.lastAttempt
    }
  }

  /// The peer has had its time.
  func endWait(_ wait: Int, for peer: PeerIdentity) {
    state.with { state in
      guard state.entries[peer.identifier]?.wait == wait else { return }
      state.entries[peer.identifier]?.wait = nil
      endIfIdle(peer.identifier, &state)
    }
  }

  /// Adds a node at which this session is reachable.
  /// - Returns: the era, for the node.
  func addReachable(_ local: LocalNode) -> Era {
    state.with { state in
      if !state.reachable.contains(where: { $0 === local }) { state.reachable.append(local) }
      return era(state)
    }
  }

  /// An attempt has failed.
  func failed(_ peer: PeerIdentity, _ attempt: Int) {
    state.with { state in
      guard state.entries[peer.identifier]?.attempts.removeValue(forKey: attempt) != nil else { return }
      endIfIdle(peer.identifier, &state)
    }
  }

  /// Without a link and attempts to make one there is no entry.
  func endIfIdle(_ identifier: UInt64, _ state: inout State) {
    guard state.entries[identifier]?.isIdle == true else { return }
    perform({ $0.ended() }, identifier, &state)
    state.entries[identifier] = nil
  }
}
