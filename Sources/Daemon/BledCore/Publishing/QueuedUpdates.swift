import BledRPC

/// A session's values that wait for room on one link, oldest first. The program chose a policy for each.
///
/// | Input                                        | Effect                                               |
/// |----------------------------------------------|------------------------------------------------------|
/// | a value, fewer than `maximum` wait           | it waits                                             |
/// | "skip", `maximum` wait                       | it is missed                                         |
/// | "newest", one of its characteristic waits    | that one is missed; this one waits behind the others |
/// | "newest", `maximum` of others wait           | the oldest is missed; this one waits                 |
struct QueuedUpdates {
  /// Maximum waiting values of a session on a link.
  static let maximum = 16

  private var waiting: [ServerUpdate] = []

  var first: ServerUpdate? { waiting.first }
  var isEmpty: Bool { waiting.isEmpty }

  /// - Returns: the missed value, if any: this one or an earlier one.
  mutating func append(_ update: ServerUpdate, isNewest: Bool) -> ServerUpdate? {
    let missed: ServerUpdate?
    if isNewest, let index = waiting.firstIndex(where: { $0.handle == update.handle }) {
      missed = waiting.remove(at: index)
    } else if waiting.count < Self.maximum {
      missed = nil
    } else if isNewest {
      missed = waiting.removeFirst()
    } else {
      return update
    }
    waiting.append(update)
    return missed
  }

  mutating func removeFirst() -> ServerUpdate? { waiting.isEmpty ? nil : waiting.removeFirst() }

  /// - Returns: the removed values, oldest first.
  mutating func removeAll(where isMeant: (ServerUpdate) -> Bool) -> [ServerUpdate] {
    let removed = waiting.filter(isMeant)
    waiting.removeAll(where: isMeant)
    return removed
  }
}
