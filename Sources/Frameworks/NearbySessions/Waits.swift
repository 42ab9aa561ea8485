import Synchronization

/// The waits of an actor's calls until something has happened at a place, which each call checks again.
final class Waits<Place: Hashable & Sendable>: Sendable {
  private typealias Continuation = CheckedContinuation<Void, Never>

  private struct State {
    /// The numbers of the waits, in the order of their beginnings.
    var waits: [Place: [Int]] = [:]
    var continuations: [Int: Continuation] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  /// The number of waits.
  var count: Int { state.withLock { $0.waits.values.reduce(0) { $0 + $1.count } } }

  func count(at place: Place) -> Int { state.withLock { $0.waits[place]?.count ?? 0 } }

  /// Waits until something has happened at a place, or the task is cancelled.
  func wait(at place: Place, isolation: isolated (any Actor)? = #isolation) async {
    // Counted while the actor is not left yet: an event after the caller's check is not missed.
    let number = state.withLock { state in
      state.last += 1
      state.waits[place, default: []].append(state.last)
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let isOver = state.withLock { state in
          guard state.waits[place]?.contains(number) == true else { return true }
          state.continuations[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.waits[place]?.removeAll { $0 == number }
        if state.waits[place]?.isEmpty == true { state.waits[place] = nil }
        return state.continuations.removeValue(forKey: number)
      }
      continuation?.resume()
    }
  }

  /// Something has happened at a place.
  func wake(at place: Place) {
    let continuations = state.withLock { state in
      (state.waits.removeValue(forKey: place) ?? []).compactMap { state.continuations.removeValue(forKey: $0) }
    }
    for continuation in continuations { continuation.resume() }
  }
}
