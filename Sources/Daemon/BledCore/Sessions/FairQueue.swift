import DequeModule

/// A queue in which parties take turns: each party's items in order, one per round. A newcomer goes before the party
/// with the last turn.
struct FairQueue<Party: Equatable, Element> {
  private var turns = Rotation<Party, Deque<Element>>()

  var isEmpty: Bool { turns.isEmpty }

  /// Adds an item behind the others of its party.
  mutating func append(_ element: Element, of party: Party) {
    turns[turns.place(of: party, else: [])].append(element)
  }

  /// Adds an item before the others of its party, which has just had its turn.
  mutating func prepend(_ element: Element, of party: Party) {
    turns[turns.place(of: party, else: [], afterTurn: true)].prepend(element)
  }

  /// Removes and returns the first item of the next party.
  /// - Parameter canBegin: true if a party's first item can begin; other parties are skipped.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> (party: Party, element: Element)? {
    for index in turns.indices {
      guard let first = turns[index].first, canBegin(first) else { continue }
      turns[index].removeFirst()
      return (turns.endTurn(at: index, staysIf: !turns[index].isEmpty), first)
    }
    return nil
  }

  /// Removes and returns a party's first item, without changing turns.
  mutating func next(of party: Party) -> Element? {
    guard let index = turns.index(of: party) else { return nil }
    let first = turns[index].removeFirst()
    if turns[index].isEmpty { turns.remove(at: index) }
    return first
  }

  func contains(_ party: Party) -> Bool { turns.index(of: party) != nil }

  /// A party's next item; nil if it has none.
  func first(of party: Party) -> Element? { turns.index(of: party).flatMap { turns[$0].first } }

  /// A party's last item; nil if it has none.
  func last(of party: Party) -> Element? { turns.index(of: party).flatMap { turns[$0].last } }

  /// Removes and returns a party's items, in order, unless `stays` accepts them.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = turns.index(of: party) else { return [] }
    let work = turns[index]
    turns[index] = Deque(work.filter(stays))
    if turns[index].isEmpty { turns.remove(at: index) }
    return work.filter { !stays($0) }
  }
}

/// A queue with turns for users, and each user's members, such as its sessions, share its turns.
struct UserQueue<Member: Equatable, Element> {
  /// The item's owner.
  struct Party: Equatable {
    /// Nil for the daemon's own items, and for sessions with an unknown user.
    var user: UInt32?
    var member: Member
  }

  private var turns = Rotation<UInt32?, FairQueue<Member, Element>>()

  var isEmpty: Bool { turns.isEmpty }

  /// Adds an item behind the others of its member.
  mutating func append(_ element: Element, of party: Party) {
    turns[turns.place(of: party.user, else: FairQueue())].append(element, of: party.member)
  }

  /// Adds an item before the others of its member, which has just had its turn.
  mutating func prepend(_ element: Element, of party: Party) {
    turns[turns.place(of: party.user, else: FairQueue(), afterTurn: true)].prepend(element, of: party.member)
  }

  /// Removes and returns the first item of the next member.
  /// - Parameter canBegin: true if a member's first item can begin; other members are skipped.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> Element? {
    for index in turns.indices {
      guard let next = turns[index].next(where: canBegin) else { continue }
      turns.endTurn(at: index, staysIf: !turns[index].isEmpty)
      return next.element
    }
    return nil
  }

  /// Removes and returns a member's first item, without changing turns.
  mutating func next(of party: Party) -> Element? {
    guard let index = turns.index(of: party.user) else { return nil }
    let first = turns[index].next(of: party.member)
    if turns[index].isEmpty { turns.remove(at: index) }
    return first
  }

  /// A member's next item; nil if it has none.
  func first(of party: Party) -> Element? { turns.index(of: party.user).flatMap { turns[$0].first(of: party.member) } }

  /// A member's last item; nil if it has none.
  func last(of party: Party) -> Element? { turns.index(of: party.user).flatMap { turns[$0].last(of: party.member) } }

  /// Removes and returns a member's items, in order, unless `stays` accepts them.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = turns.index(of: party.user) else { return [] }
    let removed = turns[index].removeAll(of: party.member, unless: stays)
    if turns[index].isEmpty { turns.remove(at: index) }
    return removed
  }
}

/// The turn order of parties with work. They are few: users, or a user's sessions on a link.
private struct Rotation<Party: Equatable, Work> {
  /// The next one first.
  private var entries: [(party: Party, work: Work)] = []
  /// True if the last party had the last turn: newcomers go before it.
  private var hadTurn = false

  var isEmpty: Bool { entries.isEmpty }
  var indices: Range<Int> { entries.indices }

  subscript(index: Int) -> Work {
    get { entries[index].work }
    _modify { yield &entries[index].work }
  }

  func index(of party: Party) -> Int? { entries.firstIndex { $0.party == party } }

  /// The place of a party's work; a newcomer begins with `work`.
  /// - Parameter afterTurn: true for a newcomer that has just had its turn.
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
