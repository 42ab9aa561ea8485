import ATT
import Bluetooth

// A link: its bearers, the server for the peer and the client of the peer's server.
//
// State    Leaves it
// open     `linkEnded` · the fixed bearer failed (30 s without an answer, or two requests at once)
// ended    never; new operations fail at once
//
// An enhanced bearer leaves the same state by `end` and by its own failure, which the link survives.
//
// Inputs: `received`, `timePassed`, `linkEnded`, `securityChanged`, `open` and `end` (a bearer); client: `start`,
// `resume`; server: `answerRead`, `answerWrite`, `notify`, `indicate`, `databaseChanged`, `serviceReturned`,
// `ownerGone`, `restore`, `acceptSignatures`.
// Outputs: `GATTAction`, `deadline`.

/// Both GATT roles on one link (Core 5.4, Vol 3, Part G).
///
/// Every call appends the actions to execute to `actions`, in order; the caller executes them and empties the array.
public struct GATTConnection: Sendable {
  /// The fixed bearer first, then the open enhanced ones. Each carries a request in each direction; values use the
  /// fixed one.
  private var bearers: [BearerState]
  private var server: GATTServer
  /// True if a procedure refused for lack of security waits for `resume`, instead of failing at once.
  public var asksForSecurity = false

  /// Opens both roles on a link.
  /// - Parameters:
  ///   - maximumMTU: the largest packet the link carries, 23 to 517 octets.
  ///   - security: how the link is protected now.
  public init(maximumMTU: Int, security: SecurityState = .none) {
    bearers = [BearerState(.fixed, Bearer(maximumMTU: maximumMTU))]
    server = GATTServer(security: security)
  }

  /// The fixed bearer's ATT MTU in octets: 23 before the exchange.
  public var mtu: Int { bearers[0].mtu }
  /// False when the fixed bearer ended.
  public var isOpen: Bool { bearers[0].att.error == nil }
  /// When `timePassed` must be called, unless the state changes before.
  public var deadline: Instant? {
    var deadline: Instant?
    for index in bearers.indices { deadline = deadline.sooner(bearers[index].deadline) }
    return deadline
  }

  // MARK: - The link

  /// Handles one packet from a bearer.
  public mutating func received(
    _ packet: [UInt8], on id: BearerID = .fixed, now: Instant, database: inout AttributeDatabase,
    actions: inout [GATTAction]
  ) {
    guard let index = index(of: id) else { return }
    let mtu = self.mtu
    switch bearers[index].att.receive(packet) {
    case .request(let pdu), .command(let pdu):
      server.handle(pdu, now: now, bearer: &bearers[index], database: &database, actions: &actions)
    case .response(let pdu):
      bearers[index].handle(response: pdu, asksForSecurity: asksForSecurity, now: now, actions: &actions)
    case .malformedResponse: bearers[index].handle(malformedResponse: packet, actions: &actions)
    case .notification(let pdu): deliver(pdu, &actions)
    case .indication(let pdu, let confirmation):
      actions.append(.send(id, confirmation))
      deliver(pdu, &actions)
    case .confirmation: server.confirmed(now: now, bearer: &bearers[index], actions: &actions)
    case .answer(let packet): actions.append(.send(id, packet))
    case .stray(let opcode): actions.append(.strayAnswer(id, opcode))
    case .ignored: break
    case .failed(let error): end(at: index, error, &actions)
    }
    if self.mtu != mtu { actions.append(.mtuChanged(self.mtu)) }
  }

  /// Passes on the server's notification or indication.
  private func deliver(_ pdu: ATTPDU, _ actions: inout [GATTAction]) {
    switch pdu {
    case .handleValueNotification(let handle, let value):
      actions.append(.value(handle: handle, [UInt8](value), isIndication: false))
    case .handleValueIndication(let handle, let value):
      actions.append(.value(handle: handle, [UInt8](value), isIndication: true))
    case .multipleHandleValueNotification(let list):
      for (handle, value) in HandleLengthValueList(list) {
        actions.append(.value(handle: handle, [UInt8](value), isIndication: false))
      }
    default: break
    }
  }

  /// Ends operations that have timed out; call it at `deadline` or later.
  public mutating func timePassed(now: Instant, actions: inout [GATTAction]) {
    // In reverse order: an ended one is removed.
    for index in bearers.indices.reversed() {
      if let error = bearers[index].att.timePassed(now: now) {
        end(at: index, error, &actions)
      } else {
        bearers[index].cancelQuestion(&actions) { $0.deadline <= now }
      }
    }
  }

  /// The link has ended: everything pending ends, once.
  public mutating func linkEnded(_ reason: BluetoothError, actions: inout [GATTAction]) {
    if isOpen { endAll(.linkEnded(reason), &actions) }
  }

  /// Returns true if an attribute requires more security than the link is known to have. The encryption event may be
  /// late: if true, reread the link's security, and call `securityChanged`, before `received`.
  public func lacksSecurity(for database: AttributeDatabase) -> Bool {
    server.security.level < database.strictestLevel
  }

  /// The link's protection changed.
  public mutating func securityChanged(_ security: SecurityState) {
    server.security = security
  }

  // MARK: - Enhanced bearers

  /// Opens an enhanced bearer on its channel; its number must be new on this link.
  /// - Parameter mtu: the longest packet accepted by both ends of the channel, 64 or more octets.
  public mutating func open(_ id: BearerID, mtu: Int) {
    guard isOpen, index(of: id) == nil else { return }
    bearers.append(BearerState(id, Bearer(enhancedMTU: mtu)))
  }

  /// Ends a bearer after its channel has ended, and its pending operations.
  public mutating func end(_ id: BearerID, _ reason: BluetoothError, actions: inout [GATTAction]) {
    guard isOpen, let index = index(of: id) else { return }
    end(at: index, .linkEnded(reason), &actions)
  }

  // MARK: - Client

  /// Starts a procedure. It ends with one `finished`.
  ///
  /// A bearer has one ATT request pending at a time (Core 5.4, Vol 3, Part F, 3.3.2), so one procedure runs on it at a
  /// time: a second one fails with `GATTError.busy`. Writes without a response need no answer and may be started at any
  /// time.
  /// - Parameter bearer: the bearer to use, where `procedure` fits into the MTU.
  public mutating func start(
    _ procedure: GATTProcedure, id: ProcedureID, on bearer: BearerID = .fixed, now: Instant,
    actions: inout [GATTAction]
  ) {
    guard let index = index(of: bearer) else {
      let gone = GAPError.disconnected.error("the bearer has ended")
      return actions.append(.finished(id, .failure(.bearer(.linkEnded(gone)))))
    }
    bearers[index].start(
      procedure, id: id, isEncrypted: server.security.level > 1, now: now, actions: &actions)
  }

  /// Continues the procedure of `securityNeeded`, on its bearer: its request is sent again, once, or it fails with the
  /// peer's error.
  public mutating func resume(
    _ id: ProcedureID, on bearer: BearerID = .fixed, isSecured: Bool, now: Instant, actions: inout [GATTAction]
  ) {
    guard let index = index(of: bearer) else { return }
    bearers[index].resume(id, isSecured: isSecured, now: now, actions: &actions)
  }

  // MARK: - Server

  /// Accepts the client's signed writes from now on; without a key they are ignored.
  /// - Parameters:
  ///   - counter: the last accepted one's counter, also on earlier links; nil if there was none.
  ///   - verifier: checks their codes; nil if the client has no key.
  public mutating func acceptSignatures(after counter: UInt32?, _ verifier: SignatureVerifier?) {
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
    guard let index = index(of: token.bearer) else { return }
    server.answerRead(token, answer, now: now, bearer: &bearers[index], database: &database, actions: &actions)
  }

  /// Answers a write: nil accepts it.
  public mutating func answerWrite(
    _ token: QuestionToken, _ error: ATTErrorCode?, now: Instant, database: inout AttributeDatabase,
    actions: inout [GATTAction]
  ) {
    guard let index = index(of: token.bearer) else { return }
    server.answerWrite(token, error, now: now, bearer: &bearers[index], database: &database, actions: &actions)
  }

  /// Notifies a value, truncated to MTU − 3 octets, if the client has subscribed. Call it while the link is writable.
  public func notify(_ value: [UInt8], of handle: UInt16, actions: inout [GATTAction]) -> NotifyOutcome {
    isOpen ? server.notify(value, of: handle, mtu: mtu, actions: &actions) : .closed
  }

  /// Notifies several values, in one packet if the client supports that. Call it while the link is writable.
  public func notify(
    _ values: [(handle: UInt16, value: [UInt8])], actions: inout [GATTAction]
  ) -> NotifyOutcome {
    isOpen ? server.notify(values, mtu: mtu, actions: &actions) : .closed
  }

  /// Indicates a value, truncated to MTU − 3 octets, when earlier ones are confirmed. Ends with one
  /// `indicationFinished`.
  public mutating func indicate(
    _ value: [UInt8], of handle: UInt16, id: IndicationID, now: Instant, actions: inout [GATTAction]
  ) {
    server.indicate(value, of: handle, id: id, now: now, bearer: &bearers[0], actions: &actions)
  }

  /// Indicates to a subscribed client that services changed in a handle range.
  public mutating func databaseChanged(
    _ range: ClosedRange<UInt16>, now: Instant, database: AttributeDatabase, actions: inout [GATTAction]
  ) {
    for index in bearers.indices {
      bearers[index].cancelQuestion(&actions) { database.position(of: $0.handle) == nil }
    }
    server.databaseChanged(range, now: now, bearer: &bearers[0], database: database, actions: &actions)
  }

  /// Restores a bonded client's subscriptions to a service that is back at these handles.
  public mutating func serviceReturned(
    _ range: ClosedRange<UInt16>, database: AttributeDatabase, actions: inout [GATTAction]
  ) {
    guard isOpen else { return }
    server.wakeSubscriptions(range, database, &actions)
  }

  /// Ends the open request to an owner that can no longer answer.
  public mutating func ownerGone(_ owner: AttributeOwner, actions: inout [GATTAction]) {
    for index in bearers.indices { bearers[index].cancelQuestion(&actions) { $0.owner == owner } }
  }

  /// The client's state to store if it is bonded; also after the link's end.
  public func clientState(database: inout AttributeDatabase) -> GATTClientState { server.clientState(&database) }

  /// Restores a bonded client's state, and reports the database's changes since.
  public mutating func restore(
    _ state: GATTClientState, now: Instant, database: inout AttributeDatabase, actions: inout [GATTAction]
  ) {
    server.restore(state, now: now, bearer: &bearers[0], database: &database, actions: &actions)
  }

  // MARK: - Bearers

  private func index(of id: BearerID) -> Int? {
    id == .fixed ? 0 : bearers.firstIndex { $0.id == id }
  }

  private mutating func end(at index: Int, _ error: BearerError, _ actions: inout [GATTAction]) {
    // First the end itself: no procedure is started on it because of the failures.
    actions.append(.bearerEnded(bearers[index].id, error))
    guard index > 0 else { return endAll(error, &actions) }
    bearers[index].end(error, &actions)
    bearers.remove(at: index)
  }

  /// The fixed bearer has ended, and all others with it.
  private mutating func endAll(_ error: BearerError, _ actions: inout [GATTAction]) {
    bearers[0].end(error, &actions)
    while bearers.count > 1 { end(at: 1, error, &actions) }
    server.end(error, actions: &actions)
  }
}
