import BledClient
import FrameworkSupport
import NearbySessions

/// Attempts to connect with a peer: invitations of either side, each of which ends once.
extension SessionEngine {
  /// An attempt begins.
  /// - Returns: the era, for its end; nil if the peer is connected or invited already.
  func begin(_ peer: PeerIdentity, evenIfConnected: Bool = false) -> Int? {
    state.with { state in
      guard !state.isClosed else { return nil }
      var entry = state.entries[peer.identifier] ?? Entry(peer: peer, machine: machine(state))
      guard evenIfConnected || entry.isIdle else { return nil }
      entry.attempts += 1
      state.entries[peer.identifier] = entry
      return state.era
    }
  }

  /// The peer is to invite this side.
  /// - Returns: the number of the wait, for its end; nil if the peer is connected or invited already.
  func beginWait(for peer: PeerIdentity) -> Int? {
    state.with { state in
      guard !state.isClosed, state.entries[peer.identifier]?.isIdle ?? true else { return nil }
      state.lastWait += 1
      state.cancelled[peer.identifier] = nil
      state.entries[peer.identifier] = Entry(peer: peer, machine: machine(state), wait: state.lastWait)
      return state.lastWait
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

  /// The nodes at which this session is to be reached are one more.
  /// - Returns: the era, for the node.
  func addReachable(_ local: LocalNode) -> Era {
    state.with { state in
      if !state.reachable.contains(where: { $0 === local }) { state.reachable.append(local) }
      return era(state)
    }
  }

  /// The invitation has reached the peer.
  func pending(_ connection: NearbyConnection, _ peer: PeerIdentity, _ era: Int) {
    let isWanted = state.with { state in
      guard state.era == era, state.entries[peer.identifier] != nil else { return false }
      state.entries[peer.identifier]?.pending = connection
      return true
    }
    if !isWanted { Task { await connection.disconnect() } }
  }

  /// An attempt has failed.
  func failed(_ peer: PeerIdentity, _ era: Int) {
    state.with { state in
      guard state.era == era, let entry = state.entries[peer.identifier], entry.attempts > 0 else { return }
      state.entries[peer.identifier]?.attempts -= 1
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
