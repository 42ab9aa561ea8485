import Adapter

/// The order of the requests to raise the protection of one link. It does no I/O.
///
/// A pairing that replaces a bond's keys and requests that use these keys do not run beside each other: the adapter
/// would give both the same outcome. Requests of one kind do.
///
/// | State       | a request of the same kind | a request of the other kind | the last running one ends |
/// |-------------|----------------------------|-----------------------------|---------------------------|
/// | idle        | running                    | running                     |                           |
/// | running     | begins                     | waits                       | idle                      |
/// | … one waits | waits                      | waits                       | the next ones begin       |
struct SecurityTurns {
  private enum State {
    case idle
    /// - Parameter replaces: true if they replace a bond.
    case running(replaces: Bool, Set<Int>)
  }

  private var state = State.idle
  private var waiting: [(number: Int, replaces: Bool)] = []

  /// True if no request runs or waits.
  var isIdle: Bool { if case .idle = state { true } else { false } }

  /// The requests that wait, in their order.
  var waitingNumbers: [Int] { waiting.map(\.number) }

  /// A session or the daemon makes a request, under a number that no other one has.
  /// - Parameter replaces: true if it replaces a bond.
  /// - Returns: true if it may begin now.
  mutating func requested(_ number: Int, replaces: Bool) -> Bool {
    waiting.append((number, replaces))
    return waiting.count == 1 && !beginning().isEmpty
  }

  /// A running request has ended.
  /// - Returns: the numbers of the requests that may begin now.
  mutating func ended(_ number: Int) -> [Int] {
    guard case .running(let replaces, var numbers) = state else { return [] }
    numbers.remove(number)
    state = numbers.isEmpty ? .idle : .running(replaces: replaces, numbers)
    return beginning()
  }

  /// Lets the first waiting requests begin, up to one that must wait.
  private mutating func beginning() -> [Int] {
    var begun: [Int] = []
    while let next = waiting.first {
      switch state {
      case .idle: state = .running(replaces: next.replaces, [next.number])
      case .running(next.replaces, let numbers): state = .running(replaces: next.replaces, numbers.union([next.number]))
      case .running: return begun
      }
      begun.append(next.number)
      waiting.removeFirst()
    }
    return begun
  }
}

/// The turns of all links, with the bodies of the requests that wait.
struct LinkTurns {
  private var turns: [LinkID: SecurityTurns] = [:]
  private var bodies: [Int: () -> Void] = [:]

  /// - Returns: the body, if the request may begin now.
  mutating func requested(
    _ number: Int, on link: LinkID, replaces: Bool, _ body: @escaping () -> Void
  ) -> (() -> Void)? {
    if turns[link, default: SecurityTurns()].requested(number, replaces: replaces) { return body }
    bodies[number] = body
    return nil
  }

  /// A running request has ended.
  /// - Returns: the bodies of the requests that may begin now.
  mutating func ended(_ number: Int, on link: LinkID) -> [() -> Void] {
    let next = turns[link]?.ended(number) ?? []
    if turns[link]?.isIdle == true { turns[link] = nil }
    return next.compactMap { bodies.removeValue(forKey: $0) }
  }

  /// A link has ended.
  /// - Returns: the bodies of the requests that waited for it.
  mutating func linkEnded(_ link: LinkID) -> [() -> Void] {
    (turns.removeValue(forKey: link)?.waitingNumbers ?? []).compactMap { bodies.removeValue(forKey: $0) }
  }
}
