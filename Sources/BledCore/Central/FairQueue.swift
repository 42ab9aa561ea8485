import Collections

/// A queue in which parties take turns: in order for each party, one item of each in a round.
struct FairQueue<Party: Equatable, Element> {
  /// The parties with work, the next one first. They are few: the users of one link.
  private var turns: [(party: Party, work: Deque<Element>)] = []

  var isEmpty: Bool { turns.isEmpty }

  /// Adds an item behind the others of the same party.
  mutating func append(_ element: Element, of party: Party) {
    if let index = index(of: party) {
      turns[index].work.append(element)
    } else {
      turns.append((party, [element]))
    }
  }

  /// Adds an item before the others of the same party, whose turn comes last.
  mutating func prepend(_ element: Element, of party: Party) {
    if let index = index(of: party) {
      turns[index].work.prepend(element)
    } else {
      turns.append((party, [element]))
    }
  }

  /// Removes and returns the first item of the party whose turn it is.
  /// - Parameter canBegin: whether the first work of a party can be begun; a party whose work cannot is passed over.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> (party: Party, element: Element)? {
    for index in turns.indices {
      guard let first = turns[index].work.first, canBegin(first) else { continue }
      turns[index].work.removeFirst()
      let party = turns[index].party
      if turns[index].work.isEmpty {
        turns.remove(at: index)
      } else if turns.count > 1 {
        turns.append(turns.remove(at: index))
      }
      return (party, first)
    }
    return nil
  }

  /// The item of a party that was added last; nil if the party has none.
  func last(of party: Party) -> Element? { index(of: party).flatMap { turns[$0].work.last } }

  /// Removes and returns the items of one party, in order, except those that `stays` accepts.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = index(of: party) else { return [] }
    let work = turns[index].work
    let rest = work.filter(stays)
    if rest.isEmpty { turns.remove(at: index) } else { turns[index].work = Deque(rest) }
    return work.filter { !stays($0) }
  }

  private func index(of party: Party) -> Int? { turns.firstIndex { $0.party == party } }
}
