import Synchronization

/// The waits of an actor's calls until something has happened at a place, which each call checks again.
final class Waits<Place: Hashable & Sendable>: Sendable {
  private typealias Continuation = CheckedContinuation<Void, Never>

  private struct State {
    /// The numbers of the waits, in the order of their beginnings.
    var waits: [Place: [Int]] = [:]
    var continuations: [Int: Continuation] = [:]
    var last = 0

    mutating func begin(at place: Place) -> Int {
      last += 1
      waits[place, default: []].append(last)
      return last
    }

    /// - Returns: false if the wait is over.
    mutating func add(_ continuation: Continuation, _ number: Int, at place: Place) -> Bool {
      guard waits[place]?.contains(number) == true else { return false }
      continuations[number] = continuation
      return true
    }

    mutating func cancel(_ number: Int, at place: Place) -> Continuation? {
      waits[place]?.removeAll { $0 == number }
      if waits[place]?.isEmpty == true { waits[place] = nil }
      return continuations.removeValue(forKey: number)
    }

    mutating func endAll(at place: Place) -> [Continuation] {
      (waits.removeValue(forKey: place) ?? []).compactMap { continuations.removeValue(forKey: $0) }
    }
  }

  private let state = Mutex(State())

  /// The number of waits.
  var count: Int { state.withLock { $0.waits.values.reduce(0) { $0 + $1.count } } }

  func count(at place: Place) -> Int { state.withLock { $0.waits[place]?.count ?? 0 } }

  /// Waits until something has happened at a place, or the task is cancelled.
  func wait(at place: Place, isolation: isolated (any Actor)? = #isolation) async {
    // Counted while the actor is not left yet: an event after the caller's check is not missed.
    let number = state.withLock { $0.begin(at: place) }
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        if !state.withLock({ $0.add(continuation, number, at: place) }) { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.cancel(number, at: place) }?.resume()
    }
  }

  /// Something has happened at a place.
  func wake(at place: Place) {
    for continuation in state.withLock({ $0.endAll(at: place) }) { continuation.resume() }
  }
}
