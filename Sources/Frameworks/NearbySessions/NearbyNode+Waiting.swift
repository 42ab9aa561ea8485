import Synchronization

extension NearbyNode {
  /// Waits until something has happened, or the task is cancelled.
  func wait(at place: WaitingPlace) async {
    let number = waits.next()
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        // A cancellation before this point found no wait to end.
        if Task.isCancelled { continuation.resume() } else { waits.add(continuation, number, at: place) }
      }
    } onCancel: {
      Task { await endWait(number, at: place) }
    }
  }

  /// Something has happened at a place.
  func wake(at place: WaitingPlace) { waits.endAll(at: place) }

  private func endWait(_ number: Int, at place: WaitingPlace) { waits.end(number, at: place) }

  /// Does work to its end. A cancelled task only stops waiting, so nothing is left half done.
  /// - Returns: The work's result; nil if the task was cancelled before.
  @discardableResult
  static func outcome<Value: Sendable>(of work: @escaping @Sendable () async -> Value) async -> Value? {
    let (results, output) = AsyncStream.makeStream(of: Value.self)
    Task {
      output.yield(await work())
      output.finish()
    }
    for await result in results { return result }
    return nil
  }

  /// A session's next event; nil after the last one, and when the task is cancelled, which removes none.
  func nextEvent(of number: Int, for connection: NearbyConnection) async -> NearbyEvent? {
    while !Task.isCancelled, let peer = peers[number] {
      if let event = peer.events.next() {
        resumeReaders(of: number)
        finish(number)
        return event.event(of: connection)
      }
      guard !peer.hasEnded else { return nil }
      if let former = peer.eventWaiter {
        // There is one reader; a cancelled call may not have gone yet.
        guard former.wait.isCancelled else { return nil }
        endEventWait(former.wait, of: number)
      }
      guard await waitForEvent(of: number) else { return nil }
    }
    return nil
  }

  private func waitForEvent(of number: Int) async -> Bool {
    let wait = EventWait()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
        guard !Task.isCancelled, let peer = peers[number] else { return continuation.resume(returning: false) }
        peer.eventWaiter = (wait, continuation)
      }
    } onCancel: {
      wait.cancel()
      Task { await self.endEventWait(wait, of: number) }
    }
  }

  private func endEventWait(_ wait: EventWait, of number: Int) {
    guard let peer = peers[number], let waiter = peer.eventWaiter, waiter.wait === wait else { return }
    peer.eventWaiter = nil
    waiter.continuation.resume(returning: false)
  }
}

/// A call's wait for a session's next event.
final class EventWait: Sendable {
  private let cancellation = Atomic(false)

  /// True if its task is cancelled, which the node may not know yet.
  var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

  func cancel() { cancellation.store(true, ordering: .relaxed) }
}
