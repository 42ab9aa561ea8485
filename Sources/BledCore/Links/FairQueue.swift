import Collections

/// Work of several parties that takes turns: in order for each, one of each in the round.
struct FairQueue<Who: Hashable, Element> {
  private var queues: [Who: Deque<Element>] = [:]
  /// Those with work, the next first.
  private var turns: Deque<Who> = []

  var isEmpty: Bool { turns.isEmpty }

  /// Adds work behind the rest of the same party.
  mutating func append(_ element: Element, of who: Who) {
    if queues[who] == nil { turns.append(who) }
    queues[who, default: []].append(element)
  }

  /// Adds work before the rest of the same party, whose turn comes after the others.
  mutating func prepend(_ element: Element, of who: Who) {
    if queues[who] == nil { turns.append(who) }
    queues[who, default: []].prepend(element)
  }

  /// Takes what is next.
  mutating func next() -> (who: Who, element: Element)? {
    guard let who = turns.popFirst(), var queue = queues.removeValue(forKey: who), let element = queue.popFirst() else {
      return nil
    }
    if !queue.isEmpty {
      queues[who] = queue
      turns.append(who)
    }
    return (who, element)
  }

  /// Takes all work of one party, in order.
  mutating func removeAll(of who: Who) -> [Element] {
    turns.removeAll { $0 == who }
    return queues.removeValue(forKey: who).map(Array.init) ?? []
  }
}
