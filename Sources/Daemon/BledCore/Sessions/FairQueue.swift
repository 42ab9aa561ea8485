import DequeModule

/// A queue in which parties take turns: in order for each party, one item of each in a round. A newcomer goes before
/// the one that had the last turn.
struct FairQueue<Party: Equatable, Element> {
  private var turns = Rotation<Party, Deque<Element>>()

  var isEmpty: Bool { turns.isEmpty }

  /// Adds an item behind the others of the same party.
  mutating func append(_ element: Element, of party: Party) {
    turns[turns.place(of: party, else: [])].append(element)
  }

  /// Adds an item before the others of the same party, which has just had its turn.
  mutating func prepend(_ element: Element, of party: Party) {
    turns[turns.place(of: party, else: [], afterTurn: true)].prepend(element)
  }

  /// Removes and returns the first item of the party at its turn.
  /// - Parameter canBegin: whether the first work of a party can be begun; a party with work that cannot is passed
  ///   over.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> (party: Party, element: Element)? {
    for index in turns.indices {
      guard let first = turns[index].first, canBegin(first) else { continue }
      turns[index].removeFirst()
      return (turns.endTurn(at: index, staysIf: !turns[index].isEmpty), first)
    }
    return nil
  }

  /// Removes and returns the first item of a party, without changing turns.
  mutating func next(of party: Party) -> Element? {
    guard let index = turns.index(of: party) else { return nil }
    let first = turns[index].removeFirst()
    if turns[index].isEmpty { turns.remove(at: index) }
    return first
  }

  /// Whether a party has items.
  func contains(_ party: Party) -> Bool { turns.index(of: party) != nil }

  /// The item of a party that is its next; nil if the party has none.
  func first(of party: Party) -> Element? { turns.index(of: party).flatMap { turns[$0].first } }

  /// The item of a party that was added last; nil if the party has none.
  func last(of party: Party) -> Element? { turns.index(of: party).flatMap { turns[$0].last } }

  /// Removes and returns the items of one party, in order, unless `stays` accepts them.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = turns.index(of: party) else { return [] }
    let work = turns[index]
    turns[index] = Deque(work.filter(stays))
    if turns[index].isEmpty { turns.remove(at: index) }
    return work.filter { !stays($0) }
  }
}

/// A queue in which users take turns, and the members of each user, such as its sessions, take its turns.
struct UserQueue<Member: Equatable, Element> {
  /// The owner of the item.
  struct Party: Equatable {
    /// Nil for items of the daemon itself, and of sessions with an unknown user.
    var user: UInt32?
    var member: Member
  }

  private var turns = Rotation<UInt32?, FairQueue<Member, Element>>()

  var isEmpty: Bool { turns.isEmpty }

  /// Adds an item behind the others of the same member.
  mutating func append(_ element: Element, of party: Party) {
    turns[turns.place(of: party.user, else: FairQueue())].append(element, of: party.member)
  }

  /// Adds an item before the others of the same member, which has just had its turn.
  mutating func prepend(_ element: Element, of party: Party) {
    turns[turns.place(of: party.user, else: FairQueue(), afterTurn: true)].prepend(element, of: party.member)
  }

  /// Removes and returns the first item of the member at its turn.
  /// - Parameter canBegin: whether the first work of a member can be begun; one with work that cannot is passed over.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> Element? {
    for index in turns.indices {
      guard let next = turns[index].next(where: canBegin) else { continue }
      turns.endTurn(at: index, staysIf: !turns[index].isEmpty)
      return next.element
    }
    return nil
  }

  /// Removes and returns the first item of a member, without changing turns.
  mutating func next(of party: Party) -> Element? {
    guard let index = turns.index(of: party.user) else { return nil }
    let first = turns[index].next(of: party.member)
    if turns[index].isEmpty { turns.remove(at: index) }
    return first
  }

  /// The item of a member that is its next; nil if it has none.
  func first(of party: Party) -> Element? { turns.index(of: party.user).flatMap { turns[$0].first(of: party.member) } }

  /// The item of a member that was added last; nil if it has none.
  func last(of party: Party) -> Element? { turns.index(of: party.user).flatMap { turns[$0].last(of: party.member) } }

  /// Removes and returns the items of one member, in order, unless `stays` accepts them.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = turns.index(of: party.user) else { return [] }
    let removed = turns[index].removeAll(of: party.member, unless: stays)
    if turns[index].isEmpty { turns.remove(at: index) }
    return removed
  }
}

/// The order in which parties with work have their turns. They are few: users, or the sessions of one of them on a
/// link.
private struct Rotation<Party: Equatable, Work> {
  /// The next one first.
  private var entries: [(party: Party, work: Work)] = []
  /// Whether the last one had the last turn: newcomers go before it.
  private var hadTurn = false

  var isEmpty: Bool { entries.isEmpty }
  var indices: Range<Int> { entries.indices }

  subscript(index: Int) -> Work {
    get { entries[index].work }
    _modify { yield &entries[index].work }
  }

  func index(of party: Party) -> Int? { entries.firstIndex { $0.party == party } }

  /// Where the work of a party is; a newcomer begins with `work`.
  /// - Parameter afterTurn: whether a newcomer is one that has just had its turn.
  mutating func place(of party: Party, else work: @autoclosure () -> Work, afterTurn: Bool = false) -> Int {
    if let index = index(of: party) { return index }
    let index = hadTurn && !afterTurn ? entries.count - 1 : entries.count
    entries.insert((party, work()), at: index)
    if afterTurn { hadTurn = true }
    return index
  }

  /// A party has had its turn: it goes to the end, or leaves if it has no work.
  /// - Returns: the party.
  @discardableResult
  mutating func endTurn(at index: Int, staysIf hasWork: Bool) -> Party {
    let entry = entries.remove(at: index)
    if hasWork { entries.append(entry) }
    hadTurn = hasWork
    return entry.party
  }

  /// A party leaves without having had its turn.
  mutating func remove(at index: Int) {
    if index == entries.count - 1 { hadTurn = false }
    entries.remove(at: index)
  }
}
