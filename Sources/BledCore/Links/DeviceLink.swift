import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT

/// One link with everything that happens on it: the GATT connection in both roles, its timer, the operations of sessions
/// that take turns, the commands that wait for room, and the subscriptions that sessions share.
final class DeviceLink {
  /// What a link tells the brokers.
  enum Event {
    /// A value for a subscription; `servicesChanged` for that of the Service Changed characteristic.
    case value(handle: UInt16, [UInt8])
    case servicesChanged(ClosedRange<UInt16>)
    /// So many packets of the device had no room on this machine.
    case packetsLost(Int)
    /// The cached attributes of the device are more, or are those of a database that it has no more.
    case cacheChanged
    case cacheVoid
    case mtuChanged
    case read(ReadQuestion)
    case write(WriteQuestion)
    case questionCancelled(QuestionToken)
    case subscriptionChanged(handle: UInt16, ClientConfiguration)
    case indicationFinished(IndicationID)
    case writable
    /// Nothing follows. All operations have failed before.
    case ended(BluetoothError)
  }

  /// The device's database hash, as far as it was asked for.
  enum DatabaseHash: Hashable {
    case unread
    case absent
    case read([UInt8])
  }

  let link: any Link
  let slot: AdapterSlot
  let peripheral: Peripheral
  /// What was discovered on the device since the link came up, or before under the same database hash.
  var known = KnownAttributes()
  /// Read with the first discovery on the link, and again when services have changed.
  var hash = DatabaseHash.unread
  /// The revision of `known` that the cache has.
  var keptRevision = 0
  /// The subscriptions that sessions share, by handle of the value.
  var subscriptions: [UInt16: SubscriptionMachine<Session>] = [:]
  /// What sessions that are kept when their programs go away discovered, by number of the session.
  var discovered: [Int: DiscoveredTree] = [:]
  /// Whether the daemon has asked the device to tell of changes of its services.
  var watchesServices = false
  /// Slows the link down for a reader that falls behind.
  var brake = Brake()
  var brakeAlarm: (any ScheduledWork)?
  /// The sessions whose services the device uses.
  private(set) var served: Set<Session> = []
  /// The measurements of the signal that wait for the controller, in the order in which they were asked for.
  var measurements: [(session: Session, reply: Reply<PeripheralRSSI.Result>)] = []
  private(set) var isOpen = true

  private let database: ServerDatabase
  let scheduler: any Scheduler
  private let onEvent: (DeviceLink, Event) -> Void
  private var connection: GATTConnection
  private var actions: [GATTAction] = []
  private var isExecuting = false
  private var alarm: (time: Instant, work: any ScheduledWork)?

  private var operations = FairQueue<Int, LinkOperation>()
  private var current: (id: ProcedureID, operation: LinkOperation)?
  private var lastProcedure: UInt64 = 0
  private var commands = FairQueue<Int, Command>()

  struct Command {
    let handle: UInt16
    let value: [UInt8]
    let reply: Reply<Empty>
  }

  init(
    link: any Link, slot: AdapterSlot, peripheral: Peripheral, database: ServerDatabase, scheduler: any Scheduler,
    onEvent: @escaping (DeviceLink, Event) -> Void
  ) {
    self.link = link
    self.slot = slot
    self.peripheral = peripheral
    self.database = database
    self.scheduler = scheduler
    self.onEvent = onEvent
    connection = GATTConnection(maximumMTU: link.maximumMTU, security: SecurityState(link.security))
    link.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// The ATT MTU in force, 23 to 517 octets.
  var mtu: Int { connection.mtu }

  /// Ends the link; `.ended` follows.
  func disconnect() { link.disconnect() }

  /// Tells the brokers.
  func tell(_ event: Event) { onEvent(self, event) }

  // MARK: Client

  /// Has an operation done when its turn has come. It ends once, with the link's end at the latest.
  func run(_ operation: LinkOperation) {
    guard isOpen else { return operation.abandon(Self.gone) }
    operations.append(operation, of: operation.session?.id ?? 0)
    startNext()
  }

  /// Sends a Write Command when there is room for it, and after what the session asked before.
  func write(_ command: Command, of session: Session) {
    guard isOpen else { return command.reply.fail(Self.gone) }
    // A subscription that is under way may still look for its descriptor.
    let isSubscribing = current.map { $0.operation.session == session && $0.operation.outlastsProgram } ?? false
    guard !isSubscribing, !operations.holdsWork(of: session.id) else { return run(waiting(command, of: session)) }
    commands.append(command, of: session.id)
    sendCommands()
  }

  private func waiting(_ command: Command, of session: Session) -> LinkOperation {
    LinkOperation(session: session, nil) { [weak self] result in
      switch result {
      case .success:
        self?.commands.append(command, of: session.id)
        self?.sendCommands()
      case .failure(let error): command.reply.fail(error)
      }
      return nil
    }
  }

  /// Ends what a session has under way with this error.
  /// - Parameter isKept: whether the session stays without its program, and what outlasts that goes on.
  func abandon(_ session: Session, _ error: BluetoothError, isKept: Bool = false) {
    let stays = { (operation: LinkOperation) in isKept && operation.outlastsProgram }
    if let current, current.operation.session == session, !stays(current.operation) {
      current.operation.abandon(error)
    }
    for operation in operations.removeAll(of: session.id, unless: stays) { operation.abandon(error) }
    for command in commands.removeAll(of: session.id) { command.reply.fail(error) }
    abandonMeasurements(of: session, error)
    startNext()
  }

  /// Begins what is next. Who has a command that waits for room waits with what it asked after that.
  private func startNext() {
    while current == nil, isOpen, let operation = operations.next(unless: { commands.holdsWork(of: $0) })?.element {
      lastProcedure += 1
      let id = ProcedureID(lastProcedure)
      current = (id, operation)
      // What it begins with shows now: it is begun in the same turn.
      if operation.procedure == nil, !operation.proceed(.success(.done)) {
        current = nil
      } else if let procedure = operation.procedure {
        withConnection { $0.start(procedure, id: id, now: scheduler.now, actions: &$1) }
      }
    }
  }

  private func finished(_ id: ProcedureID, _ result: Result<GATTResult, GATTError>) {
    guard let current, current.id == id else { return }
    proceed(current.operation, result.mapError(\.bluetoothError))
    startNext()
  }

  /// The operation stays the current one until it has taken over the result: what it asks for meanwhile comes after it.
  private func proceed(_ operation: LinkOperation, _ result: Result<GATTResult, BluetoothError>) {
    let goesOn = operation.proceed(result)
    current = nil
    if goesOn { operations.prepend(operation, of: operation.session?.id ?? 0) }
  }

  private func sendCommands() {
    while isOpen, link.isWritable, let command = commands.next()?.element {
      lastProcedure += 1
      let id = ProcedureID(lastProcedure)
      withConnection {
        $0.start(.writeWithoutResponse(command.handle, command.value), id: id, now: scheduler.now, actions: &$1)
      }
      command.reply.succeed(Empty())
    }
    startNext()
  }

  // MARK: Server

  /// Sends or queues a value for a peer that subscribed.
  func notify(_ value: [UInt8], of handle: UInt16) {
    withConnection { _ = $0.notify(value, of: handle, actions: &$1) }
  }

  /// Queues an indication; `.indicationFinished` follows.
  func indicate(_ value: [UInt8], of handle: UInt16, id: IndicationID) {
    withConnection { $0.indicate(value, of: handle, id: id, now: scheduler.now, actions: &$1) }
  }

  /// What the peer subscribed to.
  func subscription(of handle: UInt16) -> ClientConfiguration { connection.subscription(of: handle) }

  /// False while the peer has not taken in a change of the services: it is sent no values until then.
  var isInSync: Bool { connection.isInSync }

  func answer(_ token: QuestionToken, _ result: Result<[UInt8], ATTErrorCode>) {
    withConnection { $0.answerRead(token, result, now: scheduler.now, database: &database.attributes, actions: &$1) }
  }

  func answer(_ token: QuestionToken, _ error: ATTErrorCode?) {
    withConnection { $0.answerWrite(token, error, now: scheduler.now, database: &database.attributes, actions: &$1) }
  }

  /// Tells the peer, where it wants to know, that attributes came or went.
  func databaseChanged(_ range: ClosedRange<UInt16>) {
    withConnection { $0.databaseChanged(range, now: scheduler.now, database: database.attributes, actions: &$1) }
  }

  /// The device uses a service of this session.
  func serves(_ session: Session) {
    // Unless it is the slow reader itself, the link is held no more.
    if served.insert(session).inserted { releaseBrake() }
  }

  /// Fails what the peer asked of a session that is no more.
  func ownerGone(_ session: Session) {
    if served.remove(session) != nil { releaseBrake() }
    withConnection { $0.ownerGone(session.owner, actions: &$1) }
  }

  // MARK: The connection and its actions

  private func handle(_ event: LinkEvent) {
    guard isOpen else { return }
    switch event {
    case .received(let packet):
      withConnection { $0.received(packet, now: scheduler.now, database: &database.attributes, actions: &$1) }
    case .lost(let count): onEvent(self, .packetsLost(count))
    case .writable:
      sendCommands()
      onEvent(self, .writable)
    case .parametersChanged:
      break
    case .securityChanged:
      connection.securityChanged(SecurityState(link.security))
    case .ended(let reason):
      end(reason)
    }
  }

  private func end(_ reason: BluetoothError) {
    isOpen = false
    alarm?.work.cancel()
    alarm = nil
    brakeAlarm?.cancel()
    let error = GAPError.disconnected.error("the connection ended: \(reason)")
    withConnection { $0.linkEnded(error, actions: &$1) }
    current?.operation.abandon(error)
    current = nil
    while let operation = operations.next()?.element { operation.abandon(error) }
    while let command = commands.next()?.element { command.reply.fail(error) }
    abandonMeasurements(of: nil, error)
    onEvent(self, .ended(reason))
  }

  /// Hands the connection to `body` and does what it then wants done. An action may lead back here; what that adds is
  /// done after what was there before.
  private func withConnection(_ body: (inout GATTConnection, inout [GATTAction]) -> Void) {
    body(&connection, &actions)
    guard !isExecuting else { return }
    isExecuting = true
    var batch: [GATTAction] = []
    while !actions.isEmpty {
      swap(&batch, &actions)
      for action in batch { execute(action) }
      batch.removeAll(keepingCapacity: true)
    }
    isExecuting = false
    setAlarm()
  }

  private func execute(_ action: GATTAction) {
    switch action {
    case .send(let packet): link.send(packet)
    case .failed: link.disconnect()
    case .mtuChanged: onEvent(self, .mtuChanged)
    case .finished(let id, let result): finished(id, result)
    case .value(let handle, let value, _): received(value, of: handle)
    case .read(let question): onEvent(self, .read(question))
    case .write(let question): onEvent(self, .write(question))
    case .questionCancelled(let token): onEvent(self, .questionCancelled(token))
    case .subscriptionChanged(let handle, let configuration):
      onEvent(self, .subscriptionChanged(handle: handle, configuration))
    case .indicationFinished(let id, _): onEvent(self, .indicationFinished(id))
    // Security is asked for only where `asksForSecurity` is set.
    case .stored, .clientStateChanged, .securityNeeded: break
    }
  }

  private func received(_ value: [UInt8], of handle: UInt16) {
    if handle == known.serviceChanged, value.count == 4 {
      let start = UInt16(value[0]) | UInt16(value[1]) << 8
      let end = UInt16(value[2]) | UInt16(value[3]) << 8
      if start <= end { onEvent(self, .servicesChanged(start...end)) }
    }
    onEvent(self, .value(handle: handle, value))
  }

  /// Sees to it that the connection hears when its deadline passes. An alarm that is set already and rings too early sets
  /// the next, which costs less than one alarm for each request.
  private func setAlarm() {
    guard isOpen, let deadline = connection.deadline else { return }
    if let alarm {
      guard deadline < alarm.time else { return }
      alarm.work.cancel()
    }
    let work = scheduler.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      alarm = nil
      withConnection { $0.timePassed(now: self.scheduler.now, actions: &$1) }
    }
    alarm = (deadline, work)
  }

  static var gone: BluetoothError { GAPError.disconnected.error("the connection has ended") }
}

extension DeviceLink: Hashable {
  static func == (left: DeviceLink, right: DeviceLink) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(link.id) }
}

extension SecurityState {
  init(_ security: LinkSecurity) {
    self.init(level: UInt8(clamping: security.level), keySize: UInt8(clamping: security.keySize))
  }
}
