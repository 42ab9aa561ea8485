import Synchronization

/// A clock that stands until a test advances it.
public final class HeldClock: Clock {
  /// A time of the clock, from its beginning.
  public struct Instant: InstantProtocol {
    fileprivate var elapsed = Duration.zero

    /// Conforms to `InstantProtocol`.
    public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
    /// Conforms to `InstantProtocol`.
    public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
    /// Conforms to `InstantProtocol`.
    public static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
  }

  private struct State {
    var now = Instant()
    var lastSleeper = 0
    var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
  }

  private let state = Mutex(State())

  /// Makes a clock at its beginning.
  public init() {}

  /// The time that the test has let pass.
  public var now: Instant { state.withLock { $0.now } }

  /// Conforms to `Clock`: any time can be represented.
  public var minimumResolution: Duration { .zero }

  /// Advances the time, and wakes the sleepers that are due.
  public func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.continuation)
    }
    for sleeper in woken { sleeper.resume() }
  }

  /// Waits until the test has advanced the clock to a time.
  /// - Throws: `CancellationError`.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let number = state.withLock { state in
      state.lastSleeper += 1
      return state.lastSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state in
          // A cancellation after this finds the sleeper.
          guard deadline > state.now, !Task.isCancelled else { return true }
          state.sleepers[number] = (deadline, continuation)
          return false
        }
        if isOver { continuation.resume(with: Result { try Task.checkCancellation() }) }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
    }
  }
}
