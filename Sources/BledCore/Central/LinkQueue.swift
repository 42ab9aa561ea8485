import GATT

/// The one queue of a link. Operations take turns by user, the daemon itself being one more, and then by session; each
/// session's own stay in order. On each bearer one operation at a time is in progress; Write Commands, which have no
/// response, only need room on the link, whose turns are `RoomTurns`.
///
/// | Operation         | Begins when                                                           | Ends with              |
/// |-------------------|-----------------------------------------------------------------------|------------------------|
/// | any but a command | no other one is under way on its bearer, and no other it is behind    | its last result        |
/// | a Write Command   | its session has room; it changes no subscription and looks for nothing | being sent            |
/// | one that waited   | as above, and what its session asked for before has its result        | being sent             |
/// | any               |                                                                       | removal                |
///
/// Between its procedures an operation goes back into the queue, before the rest of its session.
///
/// Enhanced bearers take reads and short writes (`fits`), which are then under way beside others; all else is asked on
/// the bearer that every link has, in the old order. Nothing keeps the packets of two bearers in order: so what is
/// `isBehind` another waits for its end, Write Commands wait for what their session has on enhanced bearers, and what
/// follows them is asked where they are sent.
struct LinkQueue {
  /// An operation in progress. It stays until it has handled the result: what that leads to comes after it.
  private typealias Running = (id: ProcedureID, operation: LinkOperation)

  /// An enhanced bearer.
  private struct Enhanced {
    let bearer: BearerID
    let mtu: Int
    var current: Running?
    /// Whether it has ended: nothing begins on it any more.
    var hasEnded = false
  }

  private var waiting = UserQueue<Int, LinkOperation>()
  /// What is in progress on the bearer that every link has.
  private var current: Running?
  private var enhanced: [Enhanced] = []
  /// The last Write Commands, by the number of their session, of those that have sent nothing since that the device has
  /// answered on the same bearer. Only kept where there are others.
  private var commanding: [Int: ProcedureID] = [:]
  private var lastProcedure: UInt64 = 0

  /// Whether nothing waits.
  var isEmpty: Bool { waiting.isEmpty }

  /// Adds an operation behind the rest of its session.
  mutating func append(_ operation: LinkOperation) {
    let party = party(of: operation.session)
    var operation = operation
    if operation.isCommand {
      operation.isBehindOthers = waiting.last(of: party).map { !$0.isCommand || $0.isBehindOthers } ?? false
    }
    waiting.append(operation, of: party)
  }

  /// Begins an operation at once, if neither it nor any other has to wait.
  /// - Parameter hasRoom: whether the link has room for a command.
  mutating func beginAtOnce(_ operation: LinkOperation, hasRoom: Bool) -> ProcedureID? {
    guard waiting.isEmpty else { return nil }
    if operation.isCommand { return hasRoom && canSend(operation) ? begin(operation) : nil }
    guard current == nil, enhanced.isEmpty || isFree(operation) else { return nil }
    return begin(operation)
  }

  /// Begins the operation whose turn it is, if it is no command. There may be another one for another bearer then.
  mutating func beginNext() -> (id: ProcedureID, operation: LinkOperation)? {
    if enhanced.isEmpty {
      guard current == nil, let next = waiting.next(where: { !$0.isCommand }) else { return nil }
      return (begin(next), next)
    }
    let running = running
    if current == nil {
      let next = waiting.nextInTurn(behind: running) { !$0.isCommand }
      if let next { return (begin(next), next) }
    }
    for index in enhanced.indices where enhanced[index].current == nil && !enhanced[index].hasEnded {
      let (mtu, commanding) = (enhanced[index].mtu, commanding)
      let next = waiting.nextInTurn(behind: running) {
        $0.fits(enhancedMTU: mtu) && commanding[$0.session?.id ?? 0] == nil
      }
      guard let next else { continue }
      let id = nextID()
      enhanced[index].current = (id, next)
      return (id, next)
    }
    return nil
  }

  /// Begins the next Write Command of a session, for which there is room.
  mutating func beginCommand(of session: Session) -> (id: ProcedureID, operation: LinkOperation)? {
    guard !holdsCommands(of: session), let next = waiting.next(of: party(of: session)) else { return nil }
    return (begin(next), next)
  }

  /// Whether Write Commands of a session that wait here stay behind its other operations, or the results of these.
  func holdsCommands(of session: Session) -> Bool {
    guard let first = waiting.first(of: party(of: session)) else { return false }
    return !first.isCommand || !canSend(first)
  }

  /// Whether something of a session waits.
  func contains(_ session: Session) -> Bool { waiting.first(of: party(of: session)) != nil }

  /// The operation in progress with this number; nil if there is none.
  func operation(asking id: ProcedureID) -> LinkOperation? {
    current?.id == id ? current?.operation : enhanced.first { $0.current?.id == id }?.current?.operation
  }

  /// The enhanced bearer on which an operation is in progress; nil if it is on the one that every link has.
  func bearer(asking id: ProcedureID) -> BearerID? {
    enhanced.isEmpty ? nil : enhanced.first { $0.current?.id == id }?.bearer
  }

  /// The operation that has begun starts its first procedure.
  mutating func asks(_ operation: LinkOperation, _ id: ProcedureID) {
    if let current, current.id == id, !current.operation.isUnawaited { self.current = (id, operation) }
  }

  /// The device has answered a procedure: what its session sent before on the same bearer has arrived.
  mutating func answered(_ id: ProcedureID) {
    guard !commanding.isEmpty, let current, current.id == id else { return }
    let session = current.operation.session?.id ?? 0
    if let command = commanding[session], command.value < id.value { commanding[session] = nil }
  }

  /// An operation in progress has ended, or continues when its turn has come again.
  mutating func ended(_ id: ProcedureID, continuing operation: LinkOperation? = nil) {
    guard let ended = take(id), let operation, !ended.isUnawaited else { return }
    waiting.prepend(operation, of: party(of: operation.session))
  }

  /// Removes the operations of a session, in order, except what `stays`. The device may still answer those in progress.
  mutating func removeAll(of session: Session, unless stays: (LinkOperation) -> Bool) -> [LinkOperation] {
    var removed: [LinkOperation] = []
    if let operation = current?.operation, operation.session == session, !stays(operation) {
      removed.append(operation)
      current?.operation.task = .unawaited
    }
    for index in enhanced.indices {
      guard let operation = enhanced[index].current?.operation, operation.session == session, !stays(operation) else {
        continue
      }
      removed.append(operation)
      enhanced[index].current?.operation.task = .unawaited
    }
    return removed + waiting.removeAll(of: party(of: session), unless: stays)
  }

  /// Removes what waits to ask by handles that are not valid any more; what is in progress stays.
  /// - Parameter sessions: all that have operations; nil for the daemon itself.
  mutating func removeHandles(of sessions: [Session?]) -> [LinkOperation] {
    sessions.flatMap { waiting.removeAll(of: party(of: $0)) { !$0.goesByHandle } }
  }

  /// Removes all operations.
  mutating func removeAll() -> [LinkOperation] {
    var removed = running
    current = nil
    enhanced = []
    while let next = waiting.next() { removed.append(next) }
    return removed
  }

  // MARK: Enhanced bearers

  /// An enhanced bearer is there.
  mutating func add(_ bearer: BearerID, mtu: Int) { enhanced.append(Enhanced(bearer: bearer, mtu: mtu)) }

  /// An enhanced bearer has ended; what is in progress on it ends next.
  mutating func remove(_ bearer: BearerID) {
    guard let index = enhanced.firstIndex(where: { $0.bearer == bearer }) else { return }
    if enhanced[index].current == nil { leave(at: index) } else { enhanced[index].hasEnded = true }
  }

  private mutating func leave(at index: Int) {
    enhanced.remove(at: index)
    if enhanced.isEmpty { commanding = [:] }
  }

  // MARK: Inside

  private var running: [LinkOperation] {
    var running = current.map { [$0.operation] } ?? []
    for slot in enhanced { if let current = slot.current { running.append(current.operation) } }
    return running
  }

  private mutating func begin(_ operation: LinkOperation) -> ProcedureID {
    let id = nextID()
    if !operation.isCommand {
      current = (id, operation)
    } else if !enhanced.isEmpty, let session = operation.session {
      commanding[session.id] = id
    }
    return id
  }

  private mutating func nextID() -> ProcedureID {
    lastProcedure += 1
    return ProcedureID(lastProcedure)
  }

  private mutating func take(_ id: ProcedureID) -> LinkOperation? {
    if let current, current.id == id {
      self.current = nil
      return current.operation
    }
    guard let index = enhanced.firstIndex(where: { $0.current?.id == id }) else { return nil }
    let ended = enhanced[index].current?.operation
    enhanced[index].current = nil
    if enhanced[index].hasEnded { leave(at: index) }
    return ended
  }

  /// Whether an operation is behind none of those in progress.
  private func isFree(_ operation: LinkOperation) -> Bool { !running.contains(where: operation.isBehind) }

  /// Whether a Write Command can be sent beside what is in progress, as far as room is not concerned.
  private func canSend(_ command: LinkOperation) -> Bool {
    for slot in enhanced { if let other = slot.current, other.operation.session == command.session { return false } }
    guard let current = current?.operation else { return true }
    return current.session != command.session || !command.isBehindOthers && !current.holdsCommands
  }

  /// The party whose turn an operation takes; the daemon itself is member 0.
  private func party(of session: Session?) -> UserQueue<Int, LinkOperation>.Party {
    .init(user: session?.user, member: session?.id ?? 0)
  }
}

extension UserQueue<Int, LinkOperation> {
  /// The next operation that is suitable, and behind none of those in progress. Those that are passed over keep their
  /// turn: nothing overtakes them that they would then be behind.
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
