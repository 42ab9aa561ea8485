/// The places at the socket for tokens: counts connected programs without a token yet.
///
/// | A program of a user …                                       | Effect                                 |
/// |-------------------------------------------------------------|----------------------------------------|
/// | with fewer than `ofUser` there, and than half of the free ones | it has a place                      |
/// | with more                                                   | it takes the place of the user's oldest |
///
/// The more places users have taken, the fewer each of them may have: `n` users leave a share of 2 in `n` + 2 of all
/// places free, and no user loses a place to another.
struct CallerPlaces<Caller: Hashable> {
  /// Maximum places in total, and per user.
  static var maximum: (all: Int, ofUser: Int) { (64, 8) }

  /// The oldest first.
  private var callers: [(caller: Caller, user: UInt32?)] = []

  /// True if there is no place for a further user.
  var isFull: Bool { callers.count >= Self.maximum.all }

  /// Gives a place to a connected program.
  /// - Returns: the program losing its place; nil if there is room.
  mutating func add(_ caller: Caller, of user: UInt32?) -> Caller? {
    let own = callers.count { $0.user == user }
    let allowed = max(1, min(Self.maximum.ofUser, (Self.maximum.all - callers.count) / 2))
    defer { callers.append((caller, user)) }
    guard own >= allowed, let oldest = callers.firstIndex(where: { $0.user == user }) else { return nil }
    return callers.remove(at: oldest).caller
  }

  /// A program has left.
  mutating func remove(_ caller: Caller) { callers.removeAll { $0.caller == caller } }
}
