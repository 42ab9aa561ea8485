/// A link's room, shared in turns by its senders: Write Commands, values of descriptors and of queues, and calls of
/// `server.notify` that do not queue.
/// Requests and responses need none: there is one at a time.
final class LinkRoom {
  private unowned let hub: LinkHub
  private var turns = RoomTurns()
  private var isGiving = false
  /// True if there may be room for waiting senders once the hub's actions are executed.
  private var isDue = false

  init(of hub: LinkHub) { self.hub = hub }

  /// True if a packet may be sent now: no sender waits, and earlier packets have reached the link.
  var isFree: Bool { turns.isEmpty && !hub.isExecuting }

  /// Queues a session's sender; called when the link has room for its packet, at once if there is room.
  func wait(for sender: RoomTurns.Sender, of session: Session) {
    turns.wait(sender, of: session.user)
    give()
  }

  /// A sender has no further packets.
  func leave(_ sender: RoomTurns.Sender, of session: Session) { turns.leave(sender, of: session.user) }

  /// Counts packets sent by a session.
  func sent(_ count: Int = 1, by session: Session) { turns.sent(count, by: session) }

  /// A session's value was refused for lack of room on this link.
  func refuse(_ session: Session) { turns.refuse(session) }

  /// True if the session may send a value even without room.
  func hasShare(_ session: Session) -> Bool { turns.hasShare(session) }

  /// There may be room for waiting senders: the turns are taken.
  func give() {
    guard !turns.isEmpty, !isGiving else { return }
    guard !hub.isExecuting else { return isDue = true }
    isGiving = true
    defer { isGiving = false }
    while hub.isOpen, let sender = turns.next(where: canSend) {
      switch sender {
      case .commands(let session): hub.central.sendCommand(of: session)
      case .values(let handle): hub.server.sendValue(of: handle)
      case .queued(let session): hub.server.sendQueued(of: session)
      }
    }
  }

  /// The hub has executed its actions.
  func actionsExecuted() {
    guard isDue else { return }
    isDue = false
    give()
  }

  /// There is room again.
  /// - Returns: the refused sessions whose next value may be sent.
  func again() -> [Session] {
    give()
    return turns.giveShares()
  }

  func forget(_ session: Session) { turns.forget(session) }

  /// The link has ended.
  /// - Returns: the refused sessions.
  func end() -> [Session] { turns.removeAll() }

  private func canSend(_ sender: RoomTurns.Sender) -> Bool {
    switch sender {
    case .commands(let session): hub.link.isWritable && !hub.central.delaysCommands(of: session)
    case .values(let handle): hub.server.canSendValue(of: handle)
    case .queued(let session): hub.server.canSendQueued(of: session)
    }
  }
}
