import NearbySessions

/// An invited or connected peer.
struct SessionEntry {
  let peer: PeerIdentity
  var machine: PeerMachine
  var link: PeerLink?
  /// The pending invitations of either side, by number.
  var attempts: [Int: SessionAttempt] = [:]
  /// The wait for the peer's invitation, by number.
  var wait: Int?
  /// The peers' order of connection.
  var rank = 0
  /// The secret of its session, while connected.
  var token: GroupToken?
  /// This session's secret last sent to it.
  var told: GroupToken?
  /// The members it last listed.
  var members: Set<UInt64> = []

  /// True if there is neither a connection nor an attempt.
  var isIdle: Bool { link == nil && attempts.isEmpty && wait == nil }
}

/// An attempt to connect with a peer.
struct SessionAttempt {
  let local: LocalNode
  let work: Task<Void, Never>

  /// Ends the attempt; the peer's next connection waits for that.
  func end(_ identifier: UInt64) {
    work.cancel()
    local.end(identifier) { [work] in await work.value }
  }
}

/// A session's peers, and its secrets.
struct SessionState {
  /// A peer's entries follow each other: a former one's event has no effect.
  var entries: [UInt64: SessionEntry] = [:]
  var lastRank = 0, lastAttempt = 0
  /// Counts the disconnections: members are not dialled for an ended one.
  var era = 0
  /// The secret identifying this session's members, beside those of its peers.
  var token = GroupToken()
  /// The secrets brought to peers by the program, each valid for one of them.
  var passes: [UInt64: GroupToken] = [:]
  /// The peers whose connection the program has ended, by identifier, and their keys: members cannot bring them back.
  var cancelled: [UInt64: [UInt8]] = [:]
  /// The nodes at which this side is reachable.
  var reachable: [LocalNode] = []
  /// The members being dialled.
  var dialing: [UInt64: SessionAttempt] = [:]
  var isClosed = false

  /// A connection's origin.
  enum Origin {
    /// An attempt with this number.
    case attempt(Int)
    /// A member dialled in this era.
    case member(Int)
  }

  /// The attempt to connect with a peer has succeeded, and is over.
  /// - Returns: true if the connection is still wanted.
  mutating func conclude(_ origin: Origin, of identifier: UInt64) -> Bool {
    switch origin {
    case .attempt(let number): entries[identifier]?.attempts.removeValue(forKey: number) != nil
    case .member(let era): self.era == era && cancelled[identifier] == nil
    }
  }

  /// The present secret of a peer that has listed a member; nil if the member is no longer to be invited.
  func secret(for member: UInt64, _ era: Int) -> GroupToken? {
    guard self.era == era, entries[member] == nil, cancelled[member] == nil else { return nil }
    return entries.values.filter { $0.members.contains(member) }.compactMap(\.token).randomElement()
  }

  /// True if an invitation with a secret known to this session is from a member, and not from a peer whose connection
  /// the program has ended. Such a peer may know the secrets of other members: each of them is valid for peers listed
  /// by that member.
  func isMember(_ identifier: UInt64, _ key: [UInt8], _ token: GroupToken) -> Bool {
    guard cancelled[identifier] == nil, !cancelled.values.contains(key) else { return false }
    if passes[identifier] == token || self.token == token { return true }
    return entries.values.contains {
      $0.token == token && (cancelled.isEmpty || $0.members.contains(identifier))
    }
  }
}
