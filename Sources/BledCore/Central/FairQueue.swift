import Collections

/// Work of several parties that takes turns: in order for each party, one piece of each in a round.
struct FairQueue<Party: Equatable, Element> {
  /// The parties with work, the next first. They are few: those that use one link.
  private var turns: [(party: Party, work: Deque<Element>)] = []

  var isEmpty: Bool { turns.isEmpty }

  /// Adds work behind the rest of the same party.
  mutating func append(_ element: Element, of party: Party) {
    if let index = index(of: party) {
      turns[index].work.append(element)
    } else {
      turns.append((party, [element]))
    }
  }

  /// Adds work before the rest of the same party, whose turn comes after the others.
  mutating func prepend(_ element: Element, of party: Party) {
    if let index = index(of: party) {
      turns[index].work.prepend(element)
    } else {
      turns.append((party, [element]))
    }
  }

  /// Removes and returns the first work of the party whose turn it is.
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

  /// The work of a party that was added last; nil if the party has none.
  func last(of party: Party) -> Element? { index(of: party).flatMap { turns[$0].work.last } }

  /// Removes and returns the work of one party, in order, except what `stays`.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let index = index(of: party) else { return [] }
    let work = turns[index].work
    let rest = work.filter(stays)
    if rest.isEmpty { turns.remove(at: index) } else { turns[index].work = Deque(rest) }
    return work.filter { !stays($0) }
  }

  private func index(of party: Party) -> Int? { turns.firstIndex { $0.party == party } }
}
