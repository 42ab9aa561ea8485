import Synchronization

/// The invitations not fetched by the program, in order. An invitation leaves with its session, so an expired one keeps
/// no other out.
final class InvitationQueue: Sendable {
  private typealias Continuation = CheckedContinuation<NearbyInvitation?, Never>

  private struct State {
    var invitations: [NearbyInvitation] = []
    var waiter: (number: Int, continuation: Continuation)?
    /// The last wait's number.
    var lastNumber = 0
    var hasFinished = false
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// True if a reader waits.
  var isAwaited: Bool { state.withLock { $0.waiter != nil } }

  /// - Returns: false if there is no room.
  func add(_ invitation: NearbyInvitation) -> Bool {
    let (isAdded, waiter) = state.withLock { state -> (Bool, Continuation?) in
      guard !state.hasFinished, state.invitations.count < limit else { return (false, nil) }
      guard let waiter = state.waiter else {
        state.invitations.append(invitation)
        return (true, nil)
      }
      state.waiter = nil
      return (true, waiter.continuation)
    }
    waiter?.resume(returning: invitation)
    return isAdded
  }

  /// The session with this number has ended.
  func remove(_ number: Int) {
    // Released behind the lock: the last reference to a session ends more than this.
    _ = state.withLock { state in
      let ended = state.invitations.filter { $0.connection.number == number }
      state.invitations.removeAll { $0.connection.number == number }
      return ended
    }
  }

  /// Waits for the next one; nil behind `finish`, when the task is cancelled, and while another reader waits.
  func next() async -> NearbyInvitation? {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          guard state.invitations.isEmpty, state.waiter == nil, !state.hasFinished, !Task.isCancelled else {
            return false
          }
          state.waiter = (number, continuation)
          return true
        }
        if !isWaiting { continuation.resume(returning: fetch()) }
      }
    } onCancel: {
      wake { $0 == number }
    }
  }

  /// Ends the queue: further invitations cannot follow.
  func finish() {
    let rest = state.withLock { state in
      state.hasFinished = true
      defer { state.invitations = [] }
      return state.invitations
    }
    withExtendedLifetime(rest) { wake() }
  }

  private func fetch() -> NearbyInvitation? {
    state.withLock { $0.invitations.isEmpty || Task.isCancelled ? nil : $0.invitations.removeFirst() }
  }

  /// Ends the wait if its number matches: another reader's wait continues.
  private func wake(where isMeant: (Int) -> Bool = { _ in true }) {
    let continuation = state.withLock { state -> Continuation? in
      guard let waiter = state.waiter, isMeant(waiter.number) else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    continuation?.resume(returning: nil)
  }
}
