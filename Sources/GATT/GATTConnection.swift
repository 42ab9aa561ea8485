import ATT
import Bluetooth

// One link: its bearers, the server towards the peer and the client of the peer's server. The bearer that every link
// has is the one meant where none is named; enhanced ones are in GATTConnection+Enhanced.
//
// State    Leaves it
// open     `linkEnded` · the bearer failed (30 s without an answer, or an answer that nobody asked for)
// ended    never; what is started then fails at once
//
// An enhanced bearer leaves the same state by `bearerEnded` and by its own failure, which the link survives.
//
// Inputs: `received`, `timePassed`, `linkEnded`, `securityChanged`, `openBearer`, `bearerEnded`; client: `start`,
// `resume`; server: `answerRead`, `answerWrite`, `notify`, `indicate`, `databaseChanged`, `serviceReturned`,
// `ownerGone`, `restore`, `takeSignatures`.
// Outputs: `GATTAction`, `deadline`.

/// Both GATT roles on one link (Core 5.4, Vol 3, Part G).
///
/// Every call appends the actions to execute to `actions`, in order; the caller executes them and empties the array.
public struct GATTConnection: Sendable {
  private var bearer: Bearer
  var server: GATTServer
  private(set) var client = GATTClient()
  /// The enhanced bearers that are open.
  var enhanced: [EnhancedBearer] = []

  /// Opens both roles on a link.
  /// - Parameters:
  ///   - maximumMTU: the largest packet the link carries, 23 to 517 octets.
  ///   - security: how the link is protected now.
  public init(maximumMTU: Int, security: SecurityState = .none) {
    bearer = Bearer(maximumMTU: maximumMTU)
    server = GATTServer(security: security)
    client.isEncrypted = security.level > 1
  }

  /// The ATT MTU in octets: 23 until either side exchanged it.
  public var mtu: Int { bearer.mtu }
  /// False when the bearer ended.
  public var isOpen: Bool { bearer.error == nil }
  /// When `timePassed` must be called, unless the state changes before.
  public var deadline: Instant? {
    let own = bearer.deadline.sooner(server.deadline)
    return enhanced.isEmpty ? own : enhanced.reduce(own) { $0.sooner($1.deadline) }
  }

  // MARK: - The link

  /// Handles one packet from the link.
  public mutating func received(
    _ packet: [UInt8], now: Instant, database: inout AttributeDatabase, actions: inout [GATTAction]
  ) {
    let mtu = bearer.mtu
    switch bearer.receive(packet) {
    case .request(let pdu), .command(let pdu):
      server.handle(pdu, now: now, bearer: &bearer, database: &database, actions: &actions)
    case .response(let pdu): client.handle(pdu, now: now, bearer: &bearer, actions: &actions)
    case .malformedResponse: client.handleMalformed(packet, actions: &actions)
    case .notification(let pdu): client.deliver(pdu, actions: &actions)
    case .indication(let pdu, let confirmation):
      actions.append(.send(confirmation))
      client.deliver(pdu, actions: &actions)
    case .confirmation: server.confirmed(now: now, bearer: &bearer, actions: &actions)
    case .answer(let packet): actions.append(.send(packet))
    case .ignored: break
    case .failed(let error): fail(error, &actions)
    }
    if bearer.mtu != mtu { actions.append(.mtuChanged(bearer.mtu)) }
  }

  /// Ends what has timed out; call it at `deadline` or later.
  public mutating func timePassed(now: Instant, actions: inout [GATTAction]) {
    if let error = bearer.timePassed(now: now) { return fail(error, &actions) }
    server.timePassed(now: now, bearer: &bearer, actions: &actions)
    if !enhanced.isEmpty { timePassedEnhanced(now, &actions) }
  }

  /// The link has ended: everything pending ends, once.
  public mutating func linkEnded(_ reason: BluetoothError, actions: inout [GATTAction]) {
    guard isOpen else { return }
    end(.linkEnded(reason), &actions)
  }

  /// Whether some attribute asks for more security than the link is known to have. A link is encrypted a little before
  /// that is told: where this is true, ask it again, and call `securityChanged`, before `received`.
  public func lacksSecurity(for database: AttributeDatabase) -> Bool {
    server.security.level < database.strictestLevel
  }

  /// The link's protection changed.
  public mutating func securityChanged(_ security: SecurityState) {
    server.security = security
    client.isEncrypted = security.level > 1
    for index in enhanced.indices { enhanced[index].client.isEncrypted = client.isEncrypted }
  }

  // MARK: - Client

  /// Whether a procedure that the peer refuses for lack of security waits for `resume`, instead of failing at once.
  public var asksForSecurity: Bool {
    get { client.asksForSecurity }
    set {
      client.asksForSecurity = newValue
      for index in enhanced.indices { enhanced[index].client.asksForSecurity = newValue }
    }
  }

  /// Starts a procedure. It ends with one `finished`.
  ///
  /// A bearer has one ATT request pending at a time (Core 5.4, Vol 3, Part F, 3.3.2), so one procedure runs on it at a
  /// time: a second one fails with `GATTError.busy`. Writes without a response need no answer and may be started at any
  /// time.
  /// - Parameter other: the enhanced bearer to use; nil: the one that every link has.
  public mutating func start(
    _ procedure: GATTProcedure, id: ProcedureID, on other: BearerID? = nil, now: Instant, actions: inout [GATTAction]
  ) {
    if let other { return startEnhanced(procedure, id, other, now, &actions) }
    client.start(procedure, id: id, now: now, bearer: &bearer, actions: &actions)
  }

  /// Continues the procedure of `securityNeeded`: its request is sent again, once, or it fails with the peer's
  /// error.
  public mutating func resume(
    _ id: ProcedureID, isSecured: Bool, now: Instant, actions: inout [GATTAction]
  ) {
    client.resume(id, isSecured: isSecured, now: now, bearer: &bearer, actions: &actions)
    forEachEnhanced(&actions) { _, entry, actions in
      entry.client.resume(id, isSecured: isSecured, now: now, bearer: &entry.bearer, actions: &actions)
    }
  }

  // MARK: - Server

  /// Takes signed writes of the client from now on; without a key they are ignored.
  /// - Parameters:
  ///   - counter: what the last one was signed with that was taken, also on earlier links; nil if none was.
  ///   - verifier: checks their codes; nil if the client has no key.
  public mutating func takeSignatures(after counter: UInt32?, _ verifier: SignatureVerifier?) {
    server.lastSignCounter = counter
    server.signatureVerifier = verifier
  }

  /// The client's subscription to the value at this handle.
  public func subscription(of handle: UInt16) -> ClientConfiguration {
    isOpen ? server.subscriptions[handle] ?? [] : []
  }

  /// False while a client with robust caching is change-unaware: values for it are held back
  /// (Core 5.4, Vol 3, Part G, 2.5.2.1).
  public var isInSync: Bool { server.awareness == .aware }

  /// Answers a read: the value from the requested offset on, or an error.
  public mutating func answerRead(
    _ token: QuestionToken, _ answer: Result<[UInt8], ATTErrorCode>, now: Instant, database: inout AttributeDatabase,
    actions: inout [GATTAction]
  ) {
    server.answerRead(token, answer, now: now, bearer: &bearer, database: &database, actions: &actions)
    forEachEnhanced(&actions) { server, entry, actions in
      server.answerRead(token, answer, now: now, bearer: &entry.bearer, database: &database, actions: &actions)
    }
  }

  /// Answers a write: nil accepts it.
  public mutating func answerWrite(
    _ token: QuestionToken, _ error: ATTErrorCode?, now: Instant, database: inout AttributeDatabase,
    actions: inout [GATTAction]
  ) {
    server.answerWrite(token, error, now: now, bearer: &bearer, database: &database, actions: &actions)
    forEachEnhanced(&actions) { server, entry, actions in
      server.answerWrite(token, error, now: now, bearer: &entry.bearer, database: &database, actions: &actions)
    }
  }

  /// Notifies a value, truncated to MTU − 3 octets, if the client has subscribed. Call it while the link is writable.
  public func notify(_ value: [UInt8], of handle: UInt16, actions: inout [GATTAction]) -> NotifyOutcome {
    server.notify(value, of: handle, bearer: bearer, actions: &actions)
  }

  /// Notifies several values, in one packet if the client supports that. Call it while the link is writable.
  public func notify(
    _ values: [(handle: UInt16, value: [UInt8])], actions: inout [GATTAction]
  ) -> NotifyOutcome {
    server.notify(values, bearer: bearer, actions: &actions)
  }

  /// Indicates a value, truncated to MTU − 3 octets, when those before it are confirmed. Ends with one
  /// `indicationFinished`.
  public mutating func indicate(
    _ value: [UInt8], of handle: UInt16, id: IndicationID, now: Instant, actions: inout [GATTAction]
  ) {
    server.indicate(value, of: handle, id: id, now: now, bearer: &bearer, actions: &actions)
  }

  /// Indicates to the client, if it has subscribed, that services changed in a range of handles.
  public mutating func databaseChanged(
    _ range: ClosedRange<UInt16>, now: Instant, database: AttributeDatabase, actions: inout [GATTAction]
  ) {
    server.databaseChanged(range, now: now, bearer: &bearer, database: database, actions: &actions)
    forEachEnhanced(&actions) { server, entry, actions in
      server.endVanishedQuestion(&entry.bearer, database, &actions)
    }
  }

  /// Gives a bonded client its subscriptions to a service that is back at these handles.
  public mutating func serviceReturned(
    _ range: ClosedRange<UInt16>, database: AttributeDatabase, actions: inout [GATTAction]
  ) {
    guard isOpen else { return }
    server.wakeSubscriptions(range, database, &actions)
  }

  /// Ends the open request to an owner that cannot answer any more.
  public mutating func ownerGone(_ owner: AttributeOwner, actions: inout [GATTAction]) {
    server.ownerGone(owner, bearer: &bearer, actions: &actions)
    forEachEnhanced(&actions) { server, entry, actions in
      server.ownerGone(owner, bearer: &entry.bearer, actions: &actions)
    }
  }

  /// The state to store of the client if it is bonded; also after the link's end.
  public func clientState(database: inout AttributeDatabase) -> GATTClientState { server.clientState(&database) }

  /// Restores the state of a bonded client, and tells it where the database has changed since.
  public mutating func restore(
    _ state: GATTClientState, now: Instant, database: inout AttributeDatabase, actions: inout [GATTAction]
  ) {
    server.restore(state, now: now, bearer: &bearer, database: &database, actions: &actions)
  }

  // MARK: - The end

  private mutating func fail(_ error: BearerError, _ actions: inout [GATTAction]) {
    end(error, &actions)
    actions.append(.failed(error))
  }

  private mutating func end(_ error: BearerError, _ actions: inout [GATTAction]) {
    bearer.end(error)
    client.end(error, actions: &actions)
    endEnhanced(error, &actions)
    server.end(error, actions: &actions)
  }
}
