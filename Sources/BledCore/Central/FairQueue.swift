import Collections

/// Work of several parties that takes turns: in order for each party, one piece of each in a round.
struct FairQueue<Party: Hashable, Element> {
  private var queues: [Party: Deque<Element>] = [:]
  /// The parties with work, the next first.
  private var turns: Deque<Party> = []

  var isEmpty: Bool { turns.isEmpty }

  /// Adds work behind the rest of the same party.
  mutating func append(_ element: Element, of party: Party) {
    if queues[party] == nil { turns.append(party) }
    queues[party, default: []].append(element)
  }

  /// Adds work before the rest of the same party, whose turn comes after the others.
  mutating func prepend(_ element: Element, of party: Party) {
    if queues[party] == nil { turns.append(party) }
    queues[party, default: []].prepend(element)
  }

  /// Removes and returns the first work of the party whose turn it is.
  /// - Parameter canBegin: whether the first work of a party can be begun; a party whose work cannot is passed over.
  mutating func next(where canBegin: (Element) -> Bool = { _ in true }) -> (party: Party, element: Element)? {
    for (index, party) in turns.enumerated() {
      guard let first = queues[party]?.first, canBegin(first) else { continue }
      turns.remove(at: index)
      queues[party]?.removeFirst()
      if queues[party]?.isEmpty == true { queues[party] = nil } else { turns.append(party) }
      return (party, first)
    }
    return nil
  }

  /// The work of a party that was added last; nil if the party has none.
  func last(of party: Party) -> Element? { queues[party]?.last }

  /// Removes and returns the work of one party, in order, except what `stays`.
  mutating func removeAll(of party: Party, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let queue = queues.removeValue(forKey: party) else { return [] }
    let rest = queue.filter(stays)
    if rest.isEmpty { turns.removeAll { $0 == party } } else { queues[party] = Deque(rest) }
    return queue.filter { !stays($0) }
  }
}
