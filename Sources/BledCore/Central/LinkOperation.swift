import BledRPC
import Bluetooth
import GATT

/// An operation in a link's queue: one GATT procedure, several in a row, or a Write Command.
struct LinkOperation {
  enum Task {
    case exchangeMTU
    case read(Reply<GATTRead.Result>)
    case write(Reply<AttributeFound>)
    /// A Write Command: it waits for room on the link instead of a response from the device.
    case command(handle: UInt16, [UInt8], isSigned: Bool, Reply<AttributeFound>)
    /// A Write Command of a program that writes over a socket.
    case acquiredCommand(AcquiredCharacteristic, [UInt8])
    /// The answer to a program that is about to do so, when its earlier operations are done.
    case acquisition(Reply<AttributeFound>)
    indirect case discovery(DiscoveryRequest, DiscoveryMachine)
    indirect case subscription(SubscriptionChange)
    /// Any other procedure.
    case procedure(Completion)
    /// Looks for the attributes that an operation names by UUIDs; the operation then goes on in its place.
    indirect case lookup(Lookup)
    /// Looks for the services of a preserved session, whose link is back, and subscribes it again.
    indirect case restoration(RestoredState.Peripheral, DiscoveryMachine)
    /// Finds the device's Service Changed characteristic and subscribes to it.
    indirect case serviceWatch(DiscoveryMachine)
    /// Tells the device what our client supports.
    case clientFeatures
    /// The operation was abandoned: a response of the device is ignored.
    case unawaited
  }

  /// What handles the outcome of a procedure.
  struct Completion {
    let succeed: (GATTResult) throws -> Void
    let fail: (BluetoothError) -> Void
  }

  /// Attributes to be looked for.
  struct Lookup {
    var machine: DiscoveryMachine
    /// The operation for the attributes, when all that it needs is known.
    let operation: () throws -> LinkOperation
    /// Answers that one was not found.
    let fail: (BluetoothError) -> Void
  }

  /// The session that asked; nil for the daemon itself.
  let session: Session?
  var task: Task
  /// What its answer says of the attribute: something if it was named by UUIDs.
  var found = AttributeFound()
  /// Whether the device was asked where its attributes are.
  var wasLookedUp = false
  /// What recordings say of the call that it is for; nil if nobody recorded when it was made.
  var note: CallNote?
  /// Whether a Write Command waits for the results of its session's earlier operations.
  fileprivate var isBehindOthers = false
  /// The procedure that is next; nil if it is decided when the operation's turn comes.
  var procedure: GATTProcedure?

  init(_ session: Session?, _ task: Task, _ procedure: GATTProcedure? = nil) {
    self.session = session
    self.task = task
    self.procedure = procedure
  }

  var isCommand: Bool {
    switch task {
    case .command, .acquiredCommand: true
    default: false
    }
  }

  fileprivate var isUnawaited: Bool { if case .unawaited = task { true } else { false } }

  /// Whether it continues when the program of the session disconnects and the session is preserved.
  var outlastsProgram: Bool { isSubscription }

  /// Whether it is the discovery that goes by this clock.
  func isDiscovery(with clock: DiscoveryClock) -> Bool {
    if case .discovery(.everything(_, let own), _) = task { own === clock } else { false }
  }

  /// Whether it asks by handles that were known when it was made.
  fileprivate var goesByHandle: Bool {
    switch task {
    case .read, .write, .command, .acquiredCommand, .procedure, .clientFeatures: true
    default: false
    }
  }

  fileprivate var isSubscription: Bool { if case .subscription = task { true } else { false } }

  /// Whether the Write Commands of its session stay behind it. A subscription may still have to look for its
  /// descriptor; a lookup may become a Write Command.
  fileprivate var holdsCommands: Bool { if case .lookup = task { true } else { isSubscription } }
}

/// The one queue of a link. Operations take turns by user, the daemon itself being one more, and then by session; each
/// session's own stay in order. One operation at a time is in progress; Write Commands, which have no response, only
/// need room on the link, whose turns are `RoomTurns`.
///
/// | Operation         | Begins when                                                           | Ends with              |
/// |-------------------|-----------------------------------------------------------------------|------------------------|
/// | any but a command | no other one is under way                                             | its last result        |
/// | a Write Command   | its session has room; it changes no subscription and looks for nothing | being sent             |
/// | one that waited   | as above, and what its session asked for before has its result        | being sent             |
/// | any               |                                                                       | removal                |
///
/// Between its procedures an operation goes back into the queue, before the rest of its session.
struct LinkQueue {
  private var waiting = UserQueue<Int, LinkOperation>()
  /// The operation in progress. It stays until it has handled the result: what that leads to comes after
  /// it.
  private var current: (id: ProcedureID, operation: LinkOperation)?
  private var lastProcedure: UInt64 = 0

  /// Whether an operation waits for its result.
  var isBusy: Bool { current != nil }

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
    guard waiting.isEmpty, hasRoom || !operation.isCommand, canBegin(operation) else { return nil }
    return begin(operation)
  }

  /// Begins the operation whose turn it is, if it is no command.
  mutating func beginNext() -> (id: ProcedureID, operation: LinkOperation)? {
    guard current == nil, let next = waiting.next(where: { !$0.isCommand }) else { return nil }
    return (begin(next), next)
  }

  /// Begins the next Write Command of a session, for which there is room.
  mutating func beginCommand(of session: Session) -> (id: ProcedureID, operation: LinkOperation)? {
    guard !holdsCommands(of: session), let next = waiting.next(of: party(of: session)) else { return nil }
    return (begin(next), next)
  }

  /// Whether Write Commands of a session that wait here stay behind its other operations, or the results of these.
  func holdsCommands(of session: Session) -> Bool {
    guard let first = waiting.first(of: party(of: session)) else { return false }
    return !first.isCommand || !canBegin(first)
  }

  /// Whether something of a session waits.
  func contains(_ session: Session) -> Bool { waiting.first(of: party(of: session)) != nil }

  /// The operation in progress with this number; nil if there is none.
  func operation(asking id: ProcedureID) -> LinkOperation? { current?.id == id ? current?.operation : nil }

  /// The operation that has begun starts its first procedure.
  mutating func asks(_ operation: LinkOperation) {
    if let current, !current.operation.isUnawaited { self.current = (current.id, operation) }
  }

  /// The operation in progress has ended, or continues when its turn has come again.
  mutating func ended(continuing operation: LinkOperation? = nil) {
    if let operation, let current, !current.operation.isUnawaited {
      waiting.prepend(operation, of: party(of: operation.session))
    }
    current = nil
  }

  /// Removes the operations of a session, in order, except what `stays`. The device may still answer the first of them.
  mutating func removeAll(of session: Session, unless stays: (LinkOperation) -> Bool) -> [LinkOperation] {
    var removed: [LinkOperation] = []
    if let operation = current?.operation, operation.session == session, !stays(operation) {
      removed.append(operation)
      current?.operation.task = .unawaited
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
    var removed = current.map { [$0.operation] } ?? []
    current = nil
    while let next = waiting.next() { removed.append(next) }
    return removed
  }

  private mutating func begin(_ operation: LinkOperation) -> ProcedureID {
    lastProcedure += 1
    let id = ProcedureID(lastProcedure)
    if !operation.isCommand { current = (id, operation) }
    return id
  }

  /// Whether an operation can begin beside the one in progress, as far as room is not concerned.
  private func canBegin(_ operation: LinkOperation) -> Bool {
    guard let current = current?.operation else { return true }
    guard operation.isCommand else { return false }
    return current.session != operation.session || !operation.isBehindOthers && !current.holdsCommands
  }

  /// The party whose turn an operation takes; the daemon itself is member 0.
  private func party(of session: Session?) -> UserQueue<Int, LinkOperation>.Party {
    .init(user: session?.user, member: session?.id ?? 0)
  }
}
