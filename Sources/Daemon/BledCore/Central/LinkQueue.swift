import GATT

/// The queue of a link. Operations take turns by user, where the daemon counts as a user, and then by session; a
/// session's operations stay in order. On each bearer one operation at a time is in progress; Write Commands, which
/// have no response, only need room on the link (`RoomTurns`).
///
/// | Operation         | Begins when                                                           | Ends with              |
/// |-------------------|-----------------------------------------------------------------------|------------------------|
/// | any but a command | no other one is under way on its bearer, and no other it is behind    | its last result        |
/// | a Write Command   | its session has room; it changes no subscription and looks for nothing | being sent            |
/// | one that waited   | as above, and its session's earlier operations have their results     | being sent             |
/// | any               |                                                                       | removal                |
///
/// Between its procedures an operation goes back into the queue, before the rest of its session. One set aside until
/// the link is secured leaves its bearer to others, and returns in the same way; until then the operations behind it
/// wait.
///
/// Enhanced bearers take reads and short writes (`fits`), beside others; the fixed one takes any operation. Packets on
/// different bearers are unordered: so an operation that `isBehind` another waits for its end, Write Commands wait for
/// their session's operations on enhanced bearers, and operations behind Write Commands use the fixed bearer, too.
struct LinkQueue {
  /// An operation in progress. It stays until it has handled the result: its consequences come after it.
  private typealias Running = (id: ProcedureID, operation: LinkOperation)

  /// A bearer and the operation in progress on it.
  private struct Slot {
    let bearer: BearerID
    /// Maximum packet of an enhanced bearer; nil for the fixed one, which takes any operation.
    let enhancedMTU: Int?
    var current: Running?
    /// True after the bearer's end: nothing begins on it.
    var hasEnded = false

    var isFree: Bool { current == nil && !hasEnded }

    func accepts(_ operation: LinkOperation) -> Bool {
      enhancedMTU.map(operation.fits(enhancedMTU:)) ?? !operation.isCommand
    }
  }

  private var waiting = UserQueue<Int, LinkOperation>()
  /// The fixed bearer first, then the enhanced ones.
  private var slots = [Slot(bearer: .fixed, enhancedMTU: nil)]
  /// Operations refused by the device until the link is secured.
  private var aside: [Running] = []
  /// The last Write Commands, by the number of their session, without a later answer from the device on the same
  /// bearer. Only kept with several bearers.
  private var commanding: [Int: ProcedureID] = [:]
  private var lastProcedure: UInt64 = 0

  var isEmpty: Bool { waiting.isEmpty }

  /// Adds an operation behind the rest of its session.
  mutating func append(_ operation: LinkOperation) {
    let party = party(of: operation.session)
    if operation.isCommand {
      operation.isBehindOthers = waiting.last(of: party).map { !$0.isCommand || $0.isBehindOthers } ?? false
    }
    waiting.append(operation, of: party)
  }

  /// Begins an operation at once, if neither it nor any other has to wait.
  /// - Parameter hasRoom: true if the link has room for a command.
  mutating func beginAtOnce(_ operation: LinkOperation, hasRoom: Bool) -> ProcedureID? {
    guard waiting.isEmpty else { return nil }
    if operation.isCommand { return hasRoom && canSend(operation) ? begin(operation) : nil }
    guard slots[0].isFree, !running.contains(where: operation.isBehind) else { return nil }
    return begin(operation)
  }

  /// Begins the operation at its turn, unless it is a command. Another one may then follow for another bearer.
  mutating func beginNext() -> (id: ProcedureID, operation: LinkOperation)? {
    for index in slots.indices where slots[index].isFree {
      let (slot, commanding) = (slots[index], commanding)
      let next = waiting.nextInTurn(behind: running) { operation in
        slot.accepts(operation) && (index == 0 || commanding[operation.session?.id ?? 0] == nil)
      }
      if let next { return (begin(next, at: index), next) }
    }
    return nil
  }

  /// Begins a session's next Write Command, after a check for room.
  mutating func beginCommand(of session: Session) -> (id: ProcedureID, operation: LinkOperation)? {
    guard !delaysCommands(of: session), let next = waiting.next(of: party(of: session)) else { return nil }
    return (begin(next), next)
  }

  /// True if a session's Write Commands that wait here stay behind its other operations, or their results.
  func delaysCommands(of session: Session) -> Bool {
    guard let first = waiting.first(of: party(of: session)) else { return false }
    return !first.isCommand || !canSend(first)
  }

  /// True if the session has queued operations.
  func contains(_ session: Session) -> Bool { waiting.first(of: party(of: session)) != nil }

  /// The operation in progress with this number; nil if there is none.
  func operation(asking id: ProcedureID) -> LinkOperation? {
    index(asking: id).flatMap { slots[$0].current?.operation } ?? aside.first { $0.id == id }?.operation
  }

  var hasAside: Bool { !aside.isEmpty }

  /// Sets an operation in progress aside.
  mutating func setAside(_ id: ProcedureID) {
    guard let index = index(asking: id), let current = slots[index].current else { return }
    aside.append(current)
    slots[index].current = nil
    removeIfDone(at: index)
  }

  /// Requeues the operations set aside, except this one.
  mutating func continueAside(except id: ProcedureID) {
    for (other, operation) in aside.reversed() where other != id {
      waiting.prepend(operation, of: party(of: operation.session))
    }
    aside.removeAll { $0.id != id }
  }

  /// The bearer of an operation in progress; Write Commands are sent on the fixed one.
  func bearer(asking id: ProcedureID) -> BearerID { index(asking: id).map { slots[$0].bearer } ?? .fixed }

  /// A started operation begins its first procedure.
  mutating func asks(_ operation: LinkOperation, _ id: ProcedureID) {
    guard let index = index(asking: id), slots[index].current?.operation.isUnawaited == false else { return }
    slots[index].current?.operation = operation
  }

  /// The device has answered a procedure: its session's earlier packets on the same bearer have arrived.
  mutating func answered(_ id: ProcedureID) {
    guard !commanding.isEmpty, let current = slots[0].current, current.id == id else { return }
    let session = current.operation.session?.id ?? 0
    if let command = commanding[session], command.value < id.value { commanding[session] = nil }
  }

  /// An operation in progress has ended, or continues at its next turn.
  mutating func ended(_ id: ProcedureID, continuing operation: LinkOperation? = nil) {
    guard let ended = remove(id), let operation, !ended.isUnawaited else { return }
    waiting.prepend(operation, of: party(of: operation.session))
  }

  /// Removes a session's operations, in order, unless `stays` accepts them. The device may still answer operations in
  /// progress.
  mutating func removeAll(of session: Session, unless stays: (LinkOperation) -> Bool) -> [LinkOperation] {
    var removed: [LinkOperation] = []
    for index in slots.indices {
      guard let operation = slots[index].current?.operation, operation.session == session, !stays(operation) else {
        continue
      }
      removed.append(operation)
      slots[index].current?.operation = operation.abandoned
    }
    removed += removeAside { $0.session == session && !stays($0) }
    return removed + waiting.removeAll(of: party(of: session), unless: stays)
  }

  /// Removes waiting operations whose handles are no longer valid; operations in progress stay.
  /// - Parameter sessions: all with operations; nil for the daemon itself.
  mutating func removeHandles(of sessions: [Session?]) -> [LinkOperation] {
    removeAside(where: \.goesByHandle) + sessions.flatMap { waiting.removeAll(of: party(of: $0)) { !$0.goesByHandle } }
  }

  /// Removes operations on a range of invalidated handles, in progress or waiting. The device may still answer
  /// operations in progress.
  /// - Parameter sessions: all with operations.
  mutating func removeHandles(in range: ClosedRange<UInt16>, of sessions: [Session]) -> [LinkOperation] {
    var removed: [LinkOperation] = []
    for index in slots.indices {
      guard let operation = slots[index].current?.operation, operation.session != nil,
        operation.handles.contains(where: range.contains)
      else { continue }
      removed.append(operation)
      slots[index].current?.operation = operation.abandoned
    }
    removed += removeAside { $0.session != nil && $0.handles.contains(where: range.contains) }
    return removed
      + sessions.flatMap { waiting.removeAll(of: party(of: $0)) { !$0.handles.contains(where: range.contains) } }
  }

  /// Removes all operations.
  mutating func removeAll() -> [LinkOperation] {
    var removed = running
    slots.removeLast(slots.count - 1)
    slots[0].current = nil
    aside = []
    while let next = waiting.next() { removed.append(next) }
    return removed
  }

  // MARK: Enhanced bearers

  /// An enhanced bearer is open.
  mutating func add(_ bearer: BearerID, mtu: Int) { slots.append(Slot(bearer: bearer, enhancedMTU: mtu)) }

  /// An enhanced bearer has ended; the operation in progress on it ends next.
  mutating func remove(_ bearer: BearerID) {
    guard let index = slots.firstIndex(where: { $0.bearer == bearer }) else { return }
    slots[index].hasEnded = true
    removeIfDone(at: index)
  }

  private mutating func removeIfDone(at index: Int) {
    guard slots[index].hasEnded, slots[index].current == nil else { return }
    slots.remove(at: index)
    if slots.count == 1 { commanding = [:] }
  }

  // MARK: Inside

  /// Operations in progress or set aside.
  private var running: [LinkOperation] { slots.compactMap { $0.current?.operation } + aside.map(\.operation) }

  private func index(asking id: ProcedureID) -> Int? { slots.firstIndex { $0.current?.id == id } }

  private mutating func begin(_ operation: LinkOperation, at index: Int = 0) -> ProcedureID {
    let id = nextID()
    if !operation.isCommand {
      slots[index].current = (id, operation)
    } else if slots.count > 1, let session = operation.session {
      commanding[session.id] = id
    }
    return id
  }

  private mutating func nextID() -> ProcedureID {
    lastProcedure += 1
    return ProcedureID(lastProcedure)
  }

  private mutating func remove(_ id: ProcedureID) -> LinkOperation? {
    guard let index = index(asking: id), let ended = slots[index].current?.operation else {
      guard let place = aside.firstIndex(where: { $0.id == id }) else { return nil }
      return aside.remove(at: place).operation
    }
    slots[index].current = nil
    removeIfDone(at: index)
    return ended
  }

  private mutating func removeAside(where isMeant: (LinkOperation) -> Bool) -> [LinkOperation] {
    let removed = aside.map(\.operation).filter(isMeant)
    aside.removeAll { isMeant($0.operation) }
    return removed
  }

  /// True if a Write Command may be sent beside the operations in progress, leaving room aside.
  private func canSend(_ command: LinkOperation) -> Bool {
    guard !aside.contains(where: { $0.operation.session == command.session && command.isDelayed(by: $0.operation) })
    else { return false }
    return slots.allSatisfy { slot in
      guard let other = slot.current?.operation, other.session == command.session else { return true }
      return slot.bearer == .fixed && !command.isDelayed(by: other)
    }
  }

  /// The party for an operation's turn; the daemon itself is member 0.
  private func party(of session: Session?) -> UserQueue<Int, LinkOperation>.Party {
    .init(user: session?.user, member: session?.id ?? 0)
  }
}

extension LinkOperation {
  /// True if this Write Command waits for another operation of its session.
  fileprivate func isDelayed(by other: LinkOperation) -> Bool { isBehindOthers || other.delaysCommands }
}

extension UserQueue<Int, LinkOperation> {
  /// The next suitable operation that is behind none in progress. Skipped operations keep their turn: no operation they
  /// would be behind overtakes them.
  fileprivate mutating func nextInTurn(
    behind running: [LinkOperation], where isSuitable: (LinkOperation) -> Bool
  ) -> LinkOperation? {
    var others = running
    return next { operation in
      if isSuitable(operation), !others.contains(where: operation.isBehind) { return true }
      if !operation.isCommand { others.append(operation) }
      return false
    }
  }
}
