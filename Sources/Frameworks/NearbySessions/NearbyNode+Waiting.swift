/// A place where calls wait until something has happened there, which each checks again.
enum WaitingPlace: Hashable {
  /// A session's next event.
  case event(Int)
  /// Room for a session's events, so more is read from a channel.
  case reading(Frame.Lane, of: Int)
  /// Room in a session's message queue.
  case messages(Int)
  /// A session's stream or resource.
  case flow(UInt32, of: Int)
  /// The peer's own invitation, instead of its answer to this side's one with that number.
  case crossing(Int)
  /// The end of channels, of any session.
  case channels
}

extension NearbyNode {
  /// A session's next event; nil after the last one, and when the task is cancelled, which removes none.
  func nextEvent(of number: Int, for connection: NearbyConnection) async -> NearbyEvent? {
    while !Task.isCancelled, let peer = peers[number] {
      if let event = peer.events.next() {
        resumeReaders(of: number)
        finish(number)
        return event.event(of: connection)
      }
      // There is one reader.
      guard !peer.hasEnded, waits.count(at: .event(number)) == 0 else { return nil }
      await waits.wait(at: .event(number))
    }
    return nil
  }
}
