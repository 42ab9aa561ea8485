import NearbySessions

/// A peer that was invited, or is connected.
struct SessionEntry {
  let peer: PeerIdentity
  var machine: PeerMachine
  var link: PeerLink?
  /// The invitations of either side that are under way, by their numbers.
  var attempts: [Int: SessionAttempt] = [:]
  /// The wait for an invitation of the peer, by its number.
  var wait: Int?
  /// The order in which peers were connected.
  var rank = 0
  /// The secret of its session, while it is connected.
  var token: GroupToken?
  /// The secret of this session that it was told last.
  var told: GroupToken?
  /// The members that it has told of last.
  var members: Set<UInt64> = []

  /// Whether there is neither a connection nor an attempt.
  var isIdle: Bool { link == nil && attempts.isEmpty && wait == nil }
}

/// An attempt to connect with a peer.
struct SessionAttempt {
  let local: LocalNode
  let work: Task<Void, Never>

  /// Ends the attempt; the next one to connect with the peer waits for that.
  func end(_ identifier: UInt64) {
    work.cancel()
    local.end(identifier) { [work] in await work.value }
  }
}

/// The peers of a session, and its secrets.
struct SessionState {
  /// Entries of one peer follow each other: an event of a former one is of no effect.
  var entries: [UInt64: SessionEntry] = [:]
  var lastRank = 0, lastAttempt = 0
  /// Counts the disconnections: members are not dialled for one that is over.
  var era = 0
  /// The secret by which members of this session are known, beside those of its peers.
  var token = GroupToken()
  /// The secrets that the program has brought to peers, each of use for one of them.
  var passes: [UInt64: GroupToken] = [:]
  /// The peers whose connection the program has ended, by identifier, and their keys: members cannot bring them back.
  var cancelled: [UInt64: [UInt8]] = [:]
  /// The nodes at which this side is to be reached.
  var reachable: [LocalNode] = []
  /// The members that are being dialled.
  var dialing: [UInt64: SessionAttempt] = [:]
  var isClosed = false

  /// The origin of a connection.
  enum Origin {
    /// An attempt of this number.
    case attempt(Int)
    /// A member that was dialled in this era.
    case member(Int)
  }

  /// The attempt to connect with a peer has succeeded, and is over.
  /// - Returns: whether the connection is still wanted.
  mutating func conclude(_ origin: Origin, of identifier: UInt64) -> Bool {
    switch origin {
    case .attempt(let number): entries[identifier]?.attempts.removeValue(forKey: number) != nil
    case .member(let era): self.era == era && cancelled[identifier] == nil
    }
  }

  /// The present secret of one of the peers that have told of a member; nil if it is not to be invited any more.
  func secret(for member: UInt64, _ era: Int) -> GroupToken? {
    guard self.era == era, entries[member] == nil, cancelled[member] == nil else { return nil }
    return entries.values.filter { $0.members.contains(member) }.compactMap(\.token).randomElement()
  }

  /// Whether an invitation with a secret that this session knows is one of a member, and not of a peer whose connection
  /// the program has ended. Such a peer may know the secrets of other members: each of those counts for peers of which
  /// that member has told.
  func isMember(_ identifier: UInt64, _ key: [UInt8], _ token: GroupToken) -> Bool {
    guard cancelled[identifier] == nil, !cancelled.values.contains(key) else { return false }
    if passes[identifier] == token || self.token == token { return true }
    return entries.values.contains {
      $0.token == token && (cancelled.isEmpty || $0.members.contains(identifier))
    }
  }
}
