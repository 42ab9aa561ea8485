import Synchronization

/// The invitations that the program has not fetched, in their order. One whose session has ended leaves, so that none
/// that has timed out keeps another one out.
final class InvitationQueue: Sendable {
  private struct State {
    var invitations: [NearbyInvitation] = []
    var waiter: CheckedContinuation<NearbyInvitation?, Never>?
    var hasFinished = false
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// - Returns: false if there is no room.
  func add(_ invitation: NearbyInvitation) -> Bool {
    let (isAdded, waiter) = state.withLock { state -> (Bool, CheckedContinuation<NearbyInvitation?, Never>?) in
      guard !state.hasFinished, state.invitations.count < limit else { return (false, nil) }
      guard let waiter = state.waiter else {
        state.invitations.append(invitation)
        return (true, nil)
      }
      state.waiter = nil
      return (true, waiter)
    }
    waiter?.resume(returning: invitation)
    return isAdded
  }

  /// The session of this number has ended.
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
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          guard state.invitations.isEmpty, state.waiter == nil, !state.hasFinished, !Task.isCancelled else {
            return false
          }
          state.waiter = continuation
          return true
        }
        if !isWaiting { continuation.resume(returning: fetch()) }
      }
    } onCancel: {
      wake()
    }
  }

  /// No further ones come.
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

  private func wake() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }
}
