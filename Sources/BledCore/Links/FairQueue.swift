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
  /// - Parameter waits: whose turn has to wait.
  mutating func next(unless waits: (Who) -> Bool = { _ in false }) -> (who: Who, element: Element)? {
    guard let turn = turns.firstIndex(where: { !waits($0) }) else { return nil }
    let who = turns.remove(at: turn)
    guard var queue = queues.removeValue(forKey: who), let element = queue.popFirst() else { return nil }
    if !queue.isEmpty {
      queues[who] = queue
      turns.append(who)
    }
    return (who, element)
  }

  /// Whether a party has work.
  func holdsWork(of who: Who) -> Bool { queues[who] != nil }

  /// Takes the work of one party, in order, but for what `stays`.
  mutating func removeAll(of who: Who, unless stays: (Element) -> Bool = { _ in false }) -> [Element] {
    guard let queue = queues.removeValue(forKey: who) else { return [] }
    let rest = queue.filter(stays)
    if rest.isEmpty { turns.removeAll { $0 == who } } else { queues[who] = Deque(rest) }
    return queue.filter { !stays($0) }
  }
}
