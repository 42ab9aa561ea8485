/// The turns for work that an actor does one at a time, in the order of arrival.
final class Turns {
  private(set) var isTaken = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Waits for a turn, which `end` is to follow.
  func begin(isolation: isolated (any Actor)? = #isolation) async {
    while isTaken { await withCheckedContinuation { waiters.append($0) } }
    isTaken = true
  }

  /// The next one has its turn.
  func end() {
    isTaken = false
    if !waiters.isEmpty { waiters.removeFirst().resume() }
  }
}
