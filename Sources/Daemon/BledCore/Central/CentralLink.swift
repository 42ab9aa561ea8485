import ATT
import BledRPC
import Bluetooth
import Capture
import GATT

/// Our client role on one link, and its shared state: discovered attributes and values sent by the device.
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
    let completion = discovering(DiscoveryMachine(.everything)) { [unowned self] _ in
      restored(state, for: session)
      watchServices()
      return nil
    } fail: { [unowned self] error in
      guard hub.isOpen else { return }
      for handle in state.subscriptions { receivers.reportLost(handle, session, error) }
    }
    enqueue(LinkOperation(session, .discovery(nil), completion))
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
        receivers.reportLost(handle, session, error.asBluetoothError)
      }
    }
    guard !isSame else { return }
    session.send(GATTServicesChanged.self, .init(peripheral: hub.peripheral.id, start: 1, end: 0xFFFF))
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
  func useCache() {
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
    let completion = LinkOperation.Completion { [unowned self] outcome in
      guard let answer = AddressResolutionCheck.answer(outcome) else { return }
      broker.directory.resolvesAddresses(hub.peripheral, answer)
    }
    enqueue(LinkOperation(nil, .other, completion, procedure))
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

  /// The device sent a value.
  func received(_ value: [UInt8], of handle: UInt16) {
    // The known attributes may be void, but the subscription is not.
    if handle == serviceWatch.handle ?? discovery.serviceChanged { servicesChanged(value) }
    receivers.received(value, of: handle)
  }
}
