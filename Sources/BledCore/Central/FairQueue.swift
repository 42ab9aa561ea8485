import Collections

/// A queue in which parties take turns: in order for each party, one item of each in a round. A newcomer goes before
/// the one that had the last turn.
struct FairQueue<Party: Equatable, Element> {
  /// The parties with work, the next one first. They are few: users, or the sessions of one of them on a link.
  private var turns: [(party: Party, work: Deque<Element>)] = []
  /// Whether the last one had the last turn.
  private var hadTurn = false

  var isEmpty: Bool { turns.isEmpty }

  /// Adds an item behind the others of the same party.
  mutating func append(_ element: Element, of party: Party) {
    if let index = index(of: party) {
      turns[index].work.append(element)
    } else {
      turns.insert((party, [element]), at: hadTurn ? turns.count - 1 : turns.count)
    }
  }

  /// Adds an item before the others of the same party, whose turn comes last.
  mutating func prepend(_ element: Element, of party: Party) {
    if let index = index(of: party) {
      turns[index].work.prepend(element)
    } else {
      turns.append((party, [element]))
      hadTurn = true
    }
  }

  /// Removes and returns the first item of the party whose turn it is.
  /// - Parameter canBegin: whether the first work of a party can be begun; a party whose work cannot is passed over.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> (party: Party, element: Element)? {
    for index in turns.indices {
      guard let first = turns[index].work.first, canBegin(first) else { continue }
      var turn = turns.remove(at: index)
      turn.work.removeFirst()
      hadTurn = !turn.work.isEmpty
      if hadTurn { turns.append(turn) }
      return (turn.party, first)
    }
    return nil
  }

  /// Removes and returns the first item of a party, whose turn does not change.
  mutating func next(of party: Party) -> Element? {
    guard let index = index(of: party) else { return nil }
    let first = turns[index].work.removeFirst()
    if turns[index].work.isEmpty { remove(at: index) }
    return first
  }

  /// Whether a party has items.
  func contains(_ party: Party) -> Bool { index(of: party) != nil }

  /// The item of a party that was added last; nil if the party has none.
  func last(of party: Party) -> Element? { index(of: party).flatMap { turns[$0].work.last } }

  /// Removes and returns the items of one party, in order, except those that `stays` accepts.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = index(of: party) else { return [] }
    let work = turns[index].work
    let rest = work.filter(stays)
    if rest.isEmpty { remove(at: index) } else { turns[index].work = Deque(rest) }
    return work.filter { !stays($0) }
  }

  private mutating func remove(at index: Int) {
    if index == turns.count - 1 { hadTurn = false }
    turns.remove(at: index)
  }

  private func index(of party: Party) -> Int? { turns.firstIndex { $0.party == party } }
}

/// A queue in which users take turns, and the sessions of each user take its turns.
struct UserQueue<Element> {
  /// Whose item it is.
  struct Party: Equatable {
    /// Nil for items of the daemon itself, and of sessions whose user is not known.
    var user: UInt32?
    /// 0 for the daemon itself.
    var session: Int
  }

  /// The users with items, the next one first.
  private var turns: [(user: UInt32?, sessions: FairQueue<Int, Element>)] = []
  /// Whether the last one had the last turn: who comes anew goes before it.
  private var hadTurn = false

  var isEmpty: Bool { turns.isEmpty }

  /// Adds an item behind the others of the same session.
  mutating func append(_ element: Element, of party: Party) {
    turns[place(of: party.user)].sessions.append(element, of: party.session)
  }

  /// Adds an item before the others of the same session, whose turn comes last.
  mutating func prepend(_ element: Element, of party: Party) {
    turns[place(of: party.user, isLast: true)].sessions.prepend(element, of: party.session)
  }

  /// Removes and returns the first item of the session whose turn it is.
  /// - Parameter canBegin: whether the first work of a session can be begun; one whose work cannot is passed over.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> Element? {
    for index in turns.indices {
      guard let next = turns[index].sessions.next(where: canBegin) else { continue }
      let turn = turns.remove(at: index)
      hadTurn = !turn.sessions.isEmpty
      if hadTurn { turns.append(turn) }
      return next.element
    }
    return nil
  }

  /// The item of a session that was added last; nil if it has none.
  func last(of party: Party) -> Element? {
    turns.first { $0.user == party.user }?.sessions.last(of: party.session)
  }

  /// Removes and returns the items of one session, in order, except those that `stays` accepts.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = turns.firstIndex(where: { $0.user == party.user }) else { return [] }
    let removed = turns[index].sessions.removeAll(of: party.session, unless: stays)
    if turns[index].sessions.isEmpty {
      if index == turns.count - 1 { hadTurn = false }
      turns.remove(at: index)
    }
    return removed
  }

  /// - Parameter isLast: whether a user that comes anew has just had its turn.
  private mutating func place(of user: UInt32?, isLast: Bool = false) -> Int {
    if let index = turns.firstIndex(where: { $0.user == user }) { return index }
    let index = hadTurn && !isLast ? turns.count - 1 : turns.count
    turns.insert((user, FairQueue()), at: index)
    if isLast { hadTurn = true }
    return index
  }
}
