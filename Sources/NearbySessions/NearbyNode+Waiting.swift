/// A place where calls of the program wait until something has happened there, which each checks again.
enum WaitingPlace: Hashable {
  /// Room in the queue of messages of a session.
  case messages(Int)
  /// A stream or resource of a session.
  case flow(UInt32, of: Int)
}

extension NearbyNode {
  /// Waits until something has happened, or the task is cancelled.
  func wait(at place: WaitingPlace) async {
    let number = newWait()
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        // A cancellation before this point found no wait to end.
        if Task.isCancelled { continuation.resume() } else { waits[place, default: [:]][number] = continuation }
      }
    } onCancel: {
      Task { await self.endWait(number, at: place) }
    }
  }

  /// Something has happened at a place.
  func wake(at place: WaitingPlace) {
    for (_, wait) in (waits.removeValue(forKey: place) ?? [:]).sorted(by: { $0.key < $1.key }) { wait.resume() }
  }

  private func endWait(_ number: Int, at place: WaitingPlace) {
    waits[place]?.removeValue(forKey: number)?.resume()
    if waits[place]?.isEmpty == true { waits[place] = nil }
  }

  /// The next event of a session; nil behind the last one, and when the task is cancelled: that takes none away.
  func nextEvent(of number: Int, for connection: NearbyConnection) async -> NearbyEvent? {
    guard let peer = peers[number] else { return nil }
    if let event = peer.events.next() {
      resumeReaders(of: number)
      finish(number)
      return event.event(of: connection)
    }
    guard !peer.hasEnded, peer.eventWaiter == nil else { return nil }
    let wait = newWait()
    let event = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<QueuedEvent?, Never>) in
        if Task.isCancelled { continuation.resume(returning: nil) } else { peer.eventWaiter = (wait, continuation) }
      }
    } onCancel: {
      Task { await self.endEventWait(wait, of: number) }
    }
    return event?.event(of: connection)
  }

  private func endEventWait(_ wait: Int, of number: Int) {
    guard let peer = peers[number], let waiter = peer.eventWaiter, waiter.number == wait else { return }
    peer.eventWaiter = nil
    waiter.continuation.resume(returning: nil)
  }

  private func newWait() -> Int {
    lastWait += 1
    return lastWait
  }
}
