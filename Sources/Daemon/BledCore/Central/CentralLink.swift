import ATT
import BledRPC
import Bluetooth
import Capture
import GATT

/// Our client role on one link: the steps of sessions' operations, and the shared state: discovered attributes and
/// values sent by the device.
final class CentralLink: ClientRole, OperationHandler {
  unowned let hub: LinkHub
  /// The connection served by the link; nil if another link to the same device is in use, and after the end.
  weak var connection: PeripheralConnection?
  unowned let broker: CentralBroker

  private(set) lazy var operations = OperationRunner(self, on: hub, annotations: broker.annotations)
  var discovery: Discovery
  /// Receivers of notifications and indications.
  private(set) lazy var receivers = ValueReceivers(on: self)
  private(set) lazy var measurements = SignalMeasurements(on: hub)
  private(set) lazy var features = FeatureExchange(on: self)
  /// Brings the link into use.
  private(set) lazy var linkUp = LinkUpRunner(self)
  var serviceWatch = ServiceWatch()
  private var addressResolution = AddressResolutionCheck()
  private var hasIgnoredAnswers = false

  init(on hub: LinkHub, broker: CentralBroker) {
    self.hub = hub
    self.broker = broker
    discovery = Discovery(of: hub.peripheral, in: broker.directory)
  }

  /// The sessions using the device over this link.
  var users: [Session] { connection?.machine.users ?? [] }

  /// The sessions waiting for the link.
  var waiters: [Session] { connection?.machine.waiters ?? [] }

  /// The findings of a preserved session on this link; nil if it discovered nothing.
  func services(discoveredBy session: Session) -> [ServiceDescription]? { discovery.services(discoveredBy: session) }

  var attributeNotes: [AttributeNote] { discovery.known.notes(of: hub.peripheral.address) }

  func began() { broker.connected(self) }

  /// The requests of sessions for the device's attributes.
  var requests: AttributeRequests { AttributeRequests(link: self) }

  func enqueue(_ operation: LinkOperation) { operations.enqueue(operation) }

  // MARK: Sessions

  /// Discovers the services a session had on an earlier link, and restores its subscriptions.
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
  /// - Parameter isPreserved: true if the session is preserved without its program, with the operations that outlast
  ///   the program.
  func abandon(_ session: Session, _ error: BluetoothError, isPreserved: Bool = false) {
    measurements.end(error, of: session)
    operations.end(of: session, error) { isPreserved && $0.outlastsProgram }
  }

  /// Makes sockets for values; nil where none can be watched.
  var sockets: ValueSockets? { broker.sockets }

  /// Locates a known attribute; see `Discovery`.
  func locate(_ path: AttributePath, for session: Session) throws -> (handle: UInt16, uuid: BluetoothUUID?) {
    try discovery.locate(path, for: session)
  }

  // MARK: The link

  func finished(_ id: ProcedureID, _ result: Result<GATTResult, GATTError>) { operations.finished(id, result) }

  func bearerOpened(_ bearer: BearerID, mtu: Int) { operations.bearerOpened(bearer, mtu: mtu) }

  func bearerEnded(_ bearer: BearerID) { operations.bearerEnded(bearer) }

  func delaysCommands(of session: Session) -> Bool { operations.delaysCommands(of: session) }

  func sendCommand(of session: Session) { operations.sendCommand(of: session) }

  func roomAgain() { operations.roomAgain() }

  func mayBeProven() { useCache() }

  func securityChanged() {
    if hub.isProven { connection?.secured() }
    guard !linkUp.machine.isUnderWay else { return }
    features.securityChanged()
    checkAddressResolution()
  }

  /// The device may have sent a Service Changed indication as soon as the link was encrypted.
  private func useCache() {
    if hub.bond.tellsChanges { discovery.changesAreTold() }
    if discovery.takeRecall() { broker.annotations.add(attributeNotes) }
  }

  func bondMade() {
    // An earlier answer belonged to another bond.
    addressResolution = AddressResolutionCheck()
    if hub.isProven { connection?.secured() }
    checkAddressResolution()
  }

  private func checkAddressResolution() {
    guard !linkUp.machine.isUnderWay, let procedure = addressResolution.begin(on: hub) else { return }
    enqueue(LinkOperation(nil, .addressResolution, procedure))
  }

  func linkEnds(_ reason: BluetoothError) { linkUp.linkEnded(reason) }

  /// All pending operations fail; then the broker is notified.
  func linkEnded(_ error: BluetoothError, _ reason: BluetoothError) {
    operations.endAll(error)
    measurements.end(error)
    receivers.endAcquired(error) { _ in true }
    let used = connection
    connection = nil
    guard let used else { return }
    used.linkDown(reason)
    broker.replaced(self)
  }

  func ignored(_ answer: ATTOpcode) {
    hub.slot.strayAnswers += 1
    guard !hasIgnoredAnswers else { return }
    hasIgnoredAnswers = true
    broker.logger.notice(
      "\(hub.peripheral.address) sent the ATT answer \(answer), which nothing awaits; ignoring it, and others like it",
      metadata: .about(hub.peripheral, adapter: hub.slot))
  }

  // MARK: Operations

  func next(of operation: inout LinkOperation, _ result: Result<GATTResult, GATTError>?) -> GATTProcedure? {
    let session = operation.session
    do {
      switch operation.task {
      case .read(let reply):
        var answer = GATTRead.Result(
          value: HexBytes([]), handle: operation.found.handle, uuid: operation.found.uuid)
        switch try result?.orBluetoothError() {
        case .value(let value)?: answer.value = HexBytes(value)
        case .cutValue(let value)?: (answer.value, answer.truncated) = (HexBytes(value), true)
        default: throw GATTResult.unexpected()
        }
        reply.succeed(answer)
      case .write(let reply):
        _ = try result?.orBluetoothError()
        reply.succeed(operation.found)
      case .procedure(let completion):
        if let result { try completion.succeed(result.orBluetoothError()) }
      case .exchangeMTU:
        // A device that refuses keeps the MTU of 23; if the link is down, its end follows.
        if case .failure(.bearer(let error))? = result {
          // Any other failure on the bearer ends the link, too.
          if case .timeout = error { linkUp.exchangeTimedOut() }
        } else if hub.isOpen {
          // Calls waiting for the link have the MTU in their answers.
          hub.toldMTU = hub.mtu
          linkUp.exchanged()
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
        let next = try proceed(&change, for: session, operation.found, result)
        operation.task = .subscription(change)
        if let next { return next }
        change.reply?.succeed(operation.found)
        receivers.ended(change, of: session)
      case .lookup(var lookup):
        if let next = try discover(&lookup.machine, result) {
          operation.task = .lookup(lookup)
          return next
        }
        let annotation = operation.annotation
        operation = try lookup.operation()
        (operation.wasLookedUp, operation.annotation) = (true, annotation)
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
        features.servicesAreKnown()
        operation.task = .serviceSubscription
        return serviceWatch.subscribe(discovery.known)
      case .serviceSubscription:
        // One that refuses the subscription changes nothing, or does not say so.
        if case .failure(.att)? = result {
          hub.bond.refusedToTellChanges()
          discovery.changesAreNotTold()
        }
        _ = try result?.orBluetoothError()
        hub.bond.subscribedToChanges()
        useCache()
        operation.task = .serviceCheck
        return discovery.check
      case .serviceCheck:
        guard discovery.isOutdated(by: result) else { break }
        return compare(&operation, ServiceComparison(with: discovery.known), nil)
      case .serviceComparison(let comparison):
        return compare(&operation, comparison, result?.mapError(\.bluetoothError))
      case .serverFeatures:
        // A device that refuses to let us read them has no features we could use.
        if case .value(let value)? = try? result?.get() { features.receive(value) } else { features.receive([]) }
      case .clientFeatures(let told):
        _ = try result?.orBluetoothError()
        features.told(told)
      case .addressResolution:
        if let answer = AddressResolutionCheck.answer(result) {
          broker.directory.resolvesAddresses(hub.peripheral, answer)
        }
      case .acquisition(let reply): reply.succeed(operation.found)
      case .command, .acquiredCommand, .unawaited: break
      }
    } catch {
      fail(operation, error.asBluetoothError)
    }
    return nil
  }

  func fail(_ operation: LinkOperation, _ error: BluetoothError) {
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
      receivers.failed(change, of: operation.session, error)
      change.reply?.fail(error)
    case .restoration(let state, _):
      guard hub.isOpen, let session = operation.session else { return }
      for handle in state.subscriptions { receivers.tellLost(handle, session, error) }
    case .exchangeMTU, .serviceWatch, .serviceSubscription, .serviceCheck, .serviceComparison, .serverFeatures,
      .clientFeatures, .addressResolution, .unawaited:
      break
    }
  }

  /// Adds a result to the known attributes, and returns the next procedure.
  private func discover(
    _ machine: inout DiscoveryMachine, _ result: Result<GATTResult, GATTError>?
  ) throws -> GATTProcedure? {
    hub.pace.discovers(at: hub.scheduler.now)
    var result = result
    if case .failure(let error)? = result, !machine.isWide(discovery.known) {
      switch error {
      case .irregularHandles(let found, let opcode):
        warn("returned out-of-order handles (\(opcode)); ignoring the rest")
        result = .success(found)
      case .partlyRefused(let found, let code, let handle):
        warn("refused to tell more from handle \(handle.handleText) on (\(code.name)); ignoring the rest")
        discovery.isIncomplete()
        result = .success(found)
      default: break
      }
    }
    if let result, try discovery.add(result.mapError(\.bluetoothError), to: &machine) { forget(1...0xFFFF) }
    if discovery.takeRecall() { broker.annotations.add(attributeNotes) }
    let next = try discovery.next(&machine)
    if next == nil, !machine.refusals.isEmpty {
      let (listed, count) = (machine.refusals.prefix(8), machine.refusals.count)
      warn("refused to tell \(listed.joined(separator: ", "))\(count > 8 ? " and \(count - 8) more" : "")")
    }
    return next
  }

  private func warn(_ words: String) {
    broker.logger.warning(
      "\(hub.peripheral.address) \(words)", metadata: .about(hub.peripheral, adapter: hub.slot))
  }

  private func proceed(
    _ change: inout SubscriptionChange, for session: Session?, _ found: AttributeFound,
    _ result: Result<GATTResult, GATTError>?
  ) throws -> GATTProcedure? {
    let result = try result?.orBluetoothError()
    if case .descriptors(let found)? = result { discovery.add(found, of: change.handle) }
    return try receivers.proceed(&change, hasAnswered: result != nil, for: session, found, watched: serviceWatch.handle)
  }

  /// Reports the discovery's progress to the waiting session, now and then.
  private func reportProgress(of request: DiscoveryRequest, to session: Session?) {
    guard case .everything(_, let clock) = request, clock.isReportDue() else { return }
    let services = discovery.known.services
    session?.send(
      GATTDiscoveryProgress.self,
      .init(
        peripheral: hub.peripheral.id, services: services.count,
        characteristics: services.reduce(0) { $0 + ($1.characteristics?.count ?? 0) }))
  }

  /// All services of the device are known: restores a preserved session's subscriptions.
  private func restored(_ state: RestoredState.Peripheral, for session: Session) {
    let isSame = discovery.restore(state.services, for: session)
    for handle in state.subscriptions {
      do {
        guard isSame else {
          throw BledError.unknownHandle.error("the device's services changed; discover them again")
        }
        let indications = state.indications?.contains(handle) == true ? true : nil
        try requests.subscribe(
          .init(peripheral: hub.peripheral.id, attribute: .handle(handle), indications: indications), for: session,
          Reply())
      } catch {
        receivers.tellLost(handle, session, error.asBluetoothError)
      }
    }
    guard !isSame else { return }
    session.send(GATTServicesChanged.self, .init(peripheral: hub.peripheral.id, start: 1, end: 0xFFFF))
  }

  /// The device sent a value.
  func received(_ value: [UInt8], of handle: UInt16) {
    // The known attributes may be void, but the subscription is not.
    if handle == serviceWatch.handle ?? discovery.known.serviceChanged { servicesChanged(value) }
    receivers.received(value, of: handle)
  }
}
