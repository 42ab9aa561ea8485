import OrderedCollections

/// The senders waiting for room on a link, in order.
///
/// Programs that write over descriptors, and calls for Write Commands, queue here with their packets; programs that
/// call `server.notify` without a choice of a queue are refused instead, and notified when there is room. Those
/// programs would always be too late, so such a program gets a share: values it may send even without room.
///
/// | Input                                       | Effect                                                     |
/// |---------------------------------------------|------------------------------------------------------------|
/// | something has a packet and there is no room | it waits, behind earlier packets of its user               |
/// | room for a packet                           | the next user's turn: its longest waiting sender is `next` |
/// | a session is refused                        | from now on it counts others' values, up to `longestShare` |
/// | room after a refusal                        | its count is its share, of one value at least              |
/// | a session with a share sends                | its share becomes smaller                                  |
/// | more than `maximumShares` sessions have one | the one that was given first loses it                      |
struct RoomTurns {
  /// A sender of packets.
  enum Sender: Hashable {
    /// A session's Write Commands.
    case commands(Session)
    /// An acquired published characteristic's values, by handle.
    case values(of: UInt16)
    /// A session's queued values of `server.notify`.
    case queued(Session)
  }

  /// Maximum values in a share. A call that begins with one may send several values.
  static let longestShare = 8
  /// Maximum simultaneous shares: their packets without room wait in the link, which holds some hundred packets.
  static let maximumShares = 8

  private var waiting = UserQueue<Sender, Sender>()
  /// The packets sent by others since a session was refused, oldest refusal first.
  private var refused: OrderedDictionary<Session, Int> = [:]
  /// The rest of the shares, oldest first.
  private var shares: OrderedDictionary<Session, Int> = [:]

  var isEmpty: Bool { waiting.isEmpty }

  /// A sender of this user has a packet waiting.
  mutating func wait(_ sender: Sender, of user: UInt32?) {
    let party = UserQueue<Sender, Sender>.Party(user: user, member: sender)
    if waiting.first(of: party) == nil { waiting.append(sender, of: party) }
  }

  /// A sender of this user has stopped waiting.
  mutating func leave(_ sender: Sender, of user: UInt32?) {
    _ = waiting.removeAll(of: .init(user: user, member: sender))
  }

  /// The sender of the next packet; it leaves the queue.
  /// - Parameter canSend: true if a sender can send; others are skipped.
  mutating func next(where canSend: (Sender) -> Bool) -> Sender? { waiting.next(where: canSend) }

  /// Counts packets sent by a session.
  mutating func sent(_ count: Int, by session: Session) {
    for index in refused.elements.indices where refused.elements[index].key != session {
      refused.values[index] = min(Self.longestShare, refused.values[index] + count)
    }
    guard !shares.isEmpty, let left = shares[session] else { return }
    shares[session] = left > count ? left - count : nil
  }

  /// A session had a value and was refused.
  mutating func refuse(_ session: Session) {
    if refused[session] == nil { refused[session] = 0 }
  }

  /// Gives shares to refused sessions, as there is room.
  /// - Returns: the sessions.
  mutating func giveShares() -> [Session] {
    let given = refused.elements.prefix(Self.maximumShares)
    refused.removeFirst(given.count)
    for (session, count) in given {
      shares.removeValue(forKey: session)
      shares[session] = max(1, count)
    }
    if shares.count > Self.maximumShares { shares.removeFirst(shares.count - Self.maximumShares) }
    return given.map(\.key)
  }

  /// True if the session may send a value without room.
  func hasShare(_ session: Session) -> Bool { shares[session] != nil }

  /// Forgets an ended session.
  mutating func forget(_ session: Session) {
    leave(.commands(session), of: session.user)
    leave(.queued(session), of: session.user)
    refused.removeValue(forKey: session)
    shares.removeValue(forKey: session)
  }

  /// The link has ended.
  /// - Returns: the sessions refused and not given a share since.
  mutating func removeAll() -> [Session] {
    defer { self = RoomTurns() }
    return Array(refused.keys)
  }
}
