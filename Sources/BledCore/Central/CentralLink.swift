import ATT
import BledRPC
import Bluetooth
import GATT

/// Our client role on one link: the queue in which the operations of sessions take turns, and what sessions share, that
/// is what was discovered, and the values that the device sends.
final class CentralLink: ClientRole {
  unowned let hub: LinkHub
  /// The connection that the link is for; nil where another link to the same device is in use, and after the end.
  weak var connection: PeripheralConnection?
  unowned let broker: CentralBroker

  private var queue = LinkQueue()
  /// The call for which the last operation began.
  private var lastNote: CallNote?
  /// Whether the next operation begins when the loop has served others.
  private var isPausing = false
  var discovery: Discovery
  /// The receivers of values that the device sends by itself.
  private(set) lazy var receivers = ValueReceivers(on: self)
  private(set) lazy var measurements = SignalMeasurements(on: hub)
  private var serviceWatch = ServiceWatch()
  /// Whether enhanced bearers have to wait until the link is encrypted.
  var awaitsEncryption = false

  init(on hub: LinkHub, broker: CentralBroker) {
    self.hub = hub
    self.broker = broker
    discovery = Discovery(of: hub.peripheral, in: broker.directory)
  }

  /// The sessions that use the device over this link.
  var users: [Session] { connection?.machine.users ?? [] }

  /// The findings of a preserved session on this link; nil if it discovered nothing.
  func services(discoveredBy session: Session) -> [ServiceDescription]? { discovery.services(discoveredBy: session) }

  func began() { broker.connected(self) }

  // MARK: Requests of sessions

  /// Exchanges the MTU; `PeripheralConnection.negotiated` is called, also if the device refuses.
  func exchangeMTU() { enqueue(LinkOperation(nil, .exchangeMTU, .exchangeMTU)) }

  func discover(_ request: DiscoveryRequest, for session: Session) {
    enqueue(LinkOperation(session, .discovery(request, discovery.machine(for: request))))
  }

  /// Discovers all there is.
  func discoverEverything(_ params: GATTDiscover.Params, for session: Session, _ reply: Reply<GATTServices>) throws {
    let timeout = params.timeout ?? 60
    guard timeout > 0, timeout <= 86_400 else {
      throw BledError.invalidParameter.error("\"timeout\" must be more than 0 seconds and at most a day")
    }
    let clock = DiscoveryClock(broker.scheduler)
    clock.start(.seconds(timeout)) { [weak self, unowned clock] in
      guard let self else { return }
      let error = GAPError.timeout.error(
        "the discovery did not finish within \(timeout) s; \(discovery.known.services.count) services were found: give a longer \"timeout\", or discover only what you need with \(GATTDiscoverServices.name)"
      )
      for operation in queue.removeAll(of: session, unless: { !$0.isDiscovery(with: clock) }) { fail(operation, error) }
      beginNext()
    }
    discover(.everything(reply, clock), for: session)
  }

  /// Looks for the services that a session had on an earlier link, and subscribes it again to what is still there.
  func restore(_ state: RestoredState.Peripheral, for session: Session) {
    guard !state.services.isEmpty else { return }
    enqueue(LinkOperation(session, .restoration(state, DiscoveryMachine(.everything))))
  }

  /// A session disconnects from the device: its pending operations fail, and its subscriptions end.
  func release(_ session: Session) {
    let error = GAPError.cancelled.error("this session disconnected from the device")
    abandon(session, error)
    receivers.release(session, error)
    discovery.forget(session)
    hub.released(by: session)
  }

  /// Ends the pending operations of a session with this error.
  /// - Parameter isPreserved: whether the session is preserved without its program, and with it what outlasts the
  ///   program.
  func abandon(_ session: Session, _ error: BluetoothError, isPreserved: Bool = false) {
    let operations = queue.removeAll(of: session) { isPreserved && $0.outlastsProgram }
    for operation in operations { fail(operation, error) }
    measurements.end(error, of: session)
    beginNext()
  }

  /// Makes sockets for values; nil where none can be watched.
  var sockets: ValueSockets? { broker.sockets }

  // MARK: The queue

  /// Where an attribute is that is known; see `Discovery`.
  func locate(_ path: AttributePath, for session: Session) throws -> (handle: UInt16, uuid: BluetoothUUID?) {
    try discovery.locate(path, for: session)
  }

  func enqueue(_ operation: LinkOperation) {
    let hub = hub
    guard hub.isOpen else { return fail(operation, LinkHub.gone) }
    var operation = operation
    operation.note = broker.notes.take(for: operation.session, on: hub.peripheral.id)
    if let id = queue.beginAtOnce(operation, hasRoom: hub.room.isFree && hub.link.isWritable) {
      begin(operation, id)
    } else {
      queue.append(operation)
      awaitRoom(for: operation)
    }
    beginNext()
  }

  private func beginNext() {
    guard !queue.isEmpty, !isPausing else { return }
    let hub = hub
    while hub.isOpen, !isPausing, let (id, operation) = queue.beginNext() {
      begin(operation, id)
      guard queue.operation(asking: id) == nil else { continue }
      // The operation was answered without the device. There may be thousands of these, and others want the loop, too.
      isPausing = true
      broker.scheduler.schedule(after: .zero) { [weak self] in
        self?.isPausing = false
        self?.beginNext()
      }
    }
    hub.room.give()
  }

  private func awaitRoom(for operation: LinkOperation) {
    if operation.isCommand, let session = operation.session { hub.room.wait(for: .commands(session), of: session) }
  }

  /// Whether the Write Commands of a session wait for more than room.
  func holdsCommands(of session: Session) -> Bool { queue.holdsCommands(of: session) }

  /// Sends a Write Command of a session, for which there is room.
  func sendCommand(of session: Session) {
    guard let (id, operation) = queue.beginCommand(of: session) else { return }
    if queue.contains(session) { hub.room.wait(for: .commands(session), of: session) }
    begin(operation, id)
    beginNext()
  }

  private func begin(_ operation: LinkOperation, _ id: ProcedureID) {
    if operation.note !== lastNote {
      lastNote = operation.note
      if let note = lastNote { broker.notes.begins(note) }
    }
    if operation.isCommand, let session = operation.session { hub.room.sent(by: session) }
    if case .command(let handle, let value, let isSigned, let reply) = operation.task {
      do throws(BluetoothError) {
        hub.start(isSigned ? try hub.signedWrite(handle, value) : .writeWithoutResponse(handle, value), id: id)
        reply.succeed(operation.found)
      } catch {
        reply.fail(error)
      }
      if operation.wasLookedUp { watchServices() }
      return
    }
    if case .acquiredCommand(let characteristic, let value) = operation.task {
      hub.start(.writeWithoutResponse(characteristic.handle, value), id: id)
      return characteristic.pipe.sent()
    }
    guard let procedure = operation.procedure else { return proceed(operation, nil, id) }
    hub.start(procedure, id: id, on: queue.bearer(asking: id))
  }

  /// Handles a result of the operation in progress; nil: its turn has come for the first time.
  private func proceed(_ operation: LinkOperation, _ result: Result<GATTResult, GATTError>?, _ id: ProcedureID) {
    var operation = operation
    let next = next(of: &operation, result)
    // The attribute found is to be written without response: the operation waits for room, not for a result.
    if operation.isCommand {
      queue.ended(id, continuing: operation)
      return awaitRoom(for: operation)
    }
    guard let next else {
      queue.ended(id)
      if operation.wasLookedUp { watchServices() }
      return
    }
    operation.procedure = next
    if result == nil {
      queue.asks(operation, id)
      hub.start(next, id: id)
    } else {
      queue.ended(id, continuing: operation)
    }
  }

  /// A procedure has ended.
  func finished(_ id: ProcedureID, _ result: Result<GATTResult, GATTError>) {
    guard let operation = queue.operation(asking: id) else { return }
    switch result {
    case .success, .failure(.att): queue.answered(id)
    default: break
    }
    if case .failure(.att(.databaseOutOfSync, _)) = result { outOfSync() }
    if case .failure(.bearer(let error)) = result, isRepeated(operation, id, after: error) {
      queue.ended(id, continuing: operation)
    } else {
      proceed(operation, result, id)
    }
    beginNext()
  }

  /// Whether an operation is asked once more, as the enhanced bearer that it was asked on has ended. Of a write nobody
  /// knows whether it is in force; and who has waited 30 s for an answer has waited enough.
  private func isRepeated(_ operation: LinkOperation, _ id: ProcedureID, after error: BearerError) -> Bool {
    guard hub.isOpen, operation.isRead, queue.bearer(asking: id) != .fixed else { return false }
    if case .timeout = error { return false }
    return true
  }

  /// Operations may be asked on another bearer, too.
  func bearerOpened(_ bearer: BearerID, mtu: Int) {
    queue.add(bearer, mtu: mtu)
    beginNext()
  }

  /// A bearer has ended; what is pending on it fails next.
  func bearerEnded(_ bearer: BearerID) { queue.remove(bearer) }

  /// The session that asked for a procedure; nil for the daemon itself.
  func session(asking id: ProcedureID) -> Session? {
    queue.operation(asking: id).flatMap { $0.isExtra ? nil : $0.session }
  }

  /// Everything that is pending fails; then the broker is notified.
  func linkEnded(_ error: BluetoothError, _ reason: BluetoothError) {
    for operation in queue.removeAll() { fail(operation, error) }
    measurements.end(error)
    receivers.endAcquired(error) { _ in true }
    connection?.linkDown(reason)
    connection = nil
  }

  // MARK: Operations

  /// The next procedure of an operation after the result of its last one; nil if it has ended.
  private func next(
    of operation: inout LinkOperation, _ result: Result<GATTResult, GATTError>?
  ) -> GATTProcedure? {
    let session = operation.session
    do {
      switch operation.task {
      case .read(let reply):
        guard case .value(let value)? = try result?.orBluetoothError() else { throw GATTResult.unexpected() }
        reply.succeed(.init(value: HexBytes(value), handle: operation.found.handle, uuid: operation.found.uuid))
      case .write(let reply):
        _ = try result?.orBluetoothError()
        reply.succeed(operation.found)
      case .procedure(let completion):
        if let result { try completion.succeed(result.orBluetoothError()) }
      case .exchangeMTU:
        // A device that refuses keeps the MTU of 23; if the link is gone, its end follows. One that does not answer at
        // all can be asked nothing more on this link, which ends; the next one is used without this question.
        if case .failure(.bearer(.timeout))? = result {
          broker.logger.warning(
            "\(hub.peripheral.address) did not answer Exchange MTU; the next link keeps the default MTU",
            metadata: .about(hub.peripheral, adapter: hub.slot))
          broker.directory.ignoresMTU(hub.peripheral)
        } else if hub.isOpen {
          // The MTU is in the answers to the calls that wait for the link.
          hub.toldMTU = hub.mtu
          connection?.negotiated()
        }
      case .discovery(let request, var machine):
        if let next = try discover(&machine, result) {
          operation.task = .discovery(request, machine)
          reportProgress(of: request, to: session)
          return next
        }
        request.succeed(try discovery.answer(request, of: session))
        watchServices()
      case .subscription(var change):
        let next = try proceed(&change, for: session, result)
        operation.task = .subscription(change)
        if let next { return next }
        change.reply?.succeed(operation.found)
        receivers.ended(change, of: session)
      case .lookup(var lookup):
        if let next = try discover(&lookup.machine, result) {
          operation.task = .lookup(lookup)
          return next
        }
        let note = operation.note
        operation = try lookup.operation()
        (operation.wasLookedUp, operation.note) = (true, note)
        if operation.isCommand { return nil }
        return operation.procedure ?? self.next(of: &operation, nil)
      case .restoration(let state, var machine):
        if let next = try discover(&machine, result) {
          operation.task = .restoration(state, machine)
          return next
        }
        if let session { restored(state, for: session) }
        watchServices()
      case .serviceWatch(var machine):
        if let next = try discover(&machine, result) {
          operation.task = .serviceWatch(machine)
          return next
        }
        tellFeatures()
        operation.task = .serviceCheck(isSubscribed: false)
        return serviceWatch.subscribe(discovery.known)
      case .serviceCheck(isSubscribed: false):
        // One that refuses the subscription changes nothing, or does not say so.
        _ = try result?.orBluetoothError()
        operation.task = .serviceCheck(isSubscribed: true)
        return discovery.check
      case .serviceCheck(isSubscribed: true):
        guard discovery.isOutdated(by: result) else { break }
        discovery.databaseChanged()
        changed(1...0xFFFF)
      case .serverFeatures:
        // One that does not let us read them has nothing that we could use.
        if case .value(let value)? = try? result?.get() { takeServerFeatures(value) } else { takeServerFeatures([]) }
      case .clientFeatures(let features):
        _ = try result?.orBluetoothError()
        toldFeatures(features)
      case .acquisition(let reply): reply.succeed(operation.found)
      case .command, .acquiredCommand, .unawaited: break
      }
    } catch {
      fail(operation, error.asBluetoothError)
    }
    return nil
  }

  /// Ends an operation with an error.
  private func fail(_ operation: LinkOperation, _ error: BluetoothError) {
    switch operation.task {
    case .read(let reply): reply.fail(error)
    case .write(let reply): reply.fail(error)
    case .command(_, _, _, let reply): reply.fail(error)
    case .acquiredCommand(let characteristic, _): characteristic.pipe.failed()
    case .acquisition(let reply): reply.fail(error)
    case .discovery(let request, _): request.fail(error)
    case .procedure(let completion): completion.fail(error)
    case .lookup(let lookup): lookup.fail(error)
    case .subscription(let change):
      change.reply?.fail(error)
      receivers.failed(change, of: operation.session, error)
    case .restoration(let state, _):
      guard hub.isOpen, let session = operation.session else { return }
      for handle in state.subscriptions { receivers.tellLost(handle, session, error) }
    case .exchangeMTU, .serviceWatch, .serviceCheck, .serverFeatures, .clientFeatures, .unawaited: break
    }
  }

  /// Adds a result to what is known, and returns what to ask next.
  private func discover(
    _ machine: inout DiscoveryMachine, _ result: Result<GATTResult, GATTError>?
  ) throws -> GATTProcedure? {
    var result = result
    if case .failure(.irregularHandles(let found, let opcode))? = result, !machine.isWide(discovery.known) {
      broker.logger.warning(
        "\(hub.peripheral.address) returned out-of-order handles (\(opcode)); ignoring the rest",
        metadata: .about(hub.peripheral, adapter: hub.slot))
      result = .success(found)
    }
    if let result, try discovery.add(result.mapError(\.bluetoothError), to: &machine) { forget(1...0xFFFF) }
    return try discovery.next(&machine)
  }

  private func proceed(
    _ change: inout SubscriptionChange, for session: Session?, _ result: Result<GATTResult, GATTError>?
  ) throws -> GATTProcedure? {
    let result = try result?.orBluetoothError()
    if case .descriptors(let found)? = result { discovery.add(found, of: change.handle) }
    return try receivers.proceed(&change, hasAnswered: result != nil, for: session, watched: serviceWatch.handle)
  }

  // MARK: Changes of the device's services

  private func watchServices() {
    guard serviceWatch.begin() else { return }
    enqueue(LinkOperation(nil, .serviceWatch(DiscoveryMachine(.serviceChanged))))
  }

  private func servicesChanged(_ value: [UInt8]) {
    guard let range = ServiceWatch.range(value), connection != nil else { return }
    discovery.databaseChanged()
    changed(range)
  }

  /// Requests by handles of this range would reach other attributes, or none (Core 5.4, Vol 3, Part G, 2.5.2).
  private func changed(_ range: ClosedRange<UInt16>) {
    for operation in queue.removeHandles(in: range, of: users) { fail(operation, BledError.servicesChanged) }
    forget(range)
    beginNext()
  }

  /// The device's services changed behind our back (Core 5.4, Vol 3, Part G, 2.5.2.1). It did not do what was asked,
  /// and does what is asked from now on: by handles that are discovered anew.
  private func outOfSync() {
    discovery.databaseChanged()
    // The device would do it, with whatever is at those handles now.
    for waiting in queue.removeHandles(of: users.map { $0 } + [nil]) { fail(waiting, BledError.servicesChanged) }
    forget(1...0xFFFF)
    // The daemon's own subscription is asked for again with the next discovery.
    serviceWatch = ServiceWatch()
  }

  /// Handles of the device are no longer valid: its users are told.
  private func forget(_ range: ClosedRange<UInt16>) {
    let error = BledError.servicesChanged
    receivers.forget(range, error)
    discovery.forget(range)
    receivers.endAcquired(error) { range.contains($0.handle) }
    for session in users {
      session.send(
        GATTServicesChanged.self,
        .init(peripheral: hub.peripheral.id, start: range.lowerBound, end: range.upperBound))
    }
  }

  /// The device sent a value.
  func received(_ value: [UInt8], of handle: UInt16) {
    // The attributes that are known may be void, but the subscription is not.
    if handle == serviceWatch.handle ?? discovery.known.serviceChanged { servicesChanged(value) }
    receivers.received(value, of: handle)
  }
}
