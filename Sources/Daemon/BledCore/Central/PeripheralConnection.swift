import Adapter
import BledRPC
import Bluetooth

/// A pending `peripheral.connect` call.
final class ConnectRequest {
  let session: Session
  let reply: Reply<PeripheralConnect.Result>
  /// The search criteria by which the device was found, if any.
  let criteria: DeviceCriteria?
  fileprivate var alarm: (any ScheduledWork)?

  init(_ session: Session, _ reply: Reply<PeripheralConnect.Result>, foundBy criteria: DeviceCriteria?) {
    self.session = session
    self.reply = reply
    self.criteria = criteria
  }
}

extension ConnectRequest: Hashable {
  static func == (left: ConnectRequest, right: ConnectRequest) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A device that a session uses or waits for, or that is linked: executes the actions of its `ConnectMachine`.
final class PeripheralConnection {
  let peripheral: Peripheral
  /// The adapter with the link or the pending connection.
  private(set) var slot: AdapterSlot
  private(set) var machine = ConnectMachine<Session, ConnectRequest>()
  /// The link; nil while there is none.
  private(set) var link: CentralLink?
  /// Called once, when the link has ended.
  var whenDown: [() -> Void] = []
  /// The pending connection's address.
  private var dialled: DeviceAddress?
  /// The requested parameters.
  private var requested = ConnectionParameters()
  private unowned let broker: CentralBroker
  /// The attempts before the present link whose links the device never answered on.
  private var missedAttempts = 0
  /// Fires when an unstable link is due to be requested again.
  private var retry: (any ScheduledWork)?
  /// The error of failing requests for sessions that may see others' resources.
  private var fullError: BluetoothError?
  /// The sessions' wishes for the link's parameters, for as long as they use the device or wait for it.
  var wished: [Session: CheckedWish] = [:]
  /// The last requested PHY.
  var phy: LinkPHY?
  /// The reason why the last attempt failed, or was not made, since the device was last ready for programs.
  var lastFailure: BluetoothError?
  /// The holdings of preserved sessions that wait for the link, from before the daemon's restart.
  private var preserved: [Session: RestoredState.Peripheral] = [:]

  init(to peripheral: Peripheral, on slot: AdapterSlot, broker: CentralBroker) {
    self.peripheral = peripheral
    self.slot = slot
    self.broker = broker
  }

  /// True if the session uses the link or waits for it.
  func concerns(_ session: Session) -> Bool { machine.isWaiting(session) || machine.users.contains(session) }

  // MARK: Requests of sessions

  /// Chooses the adapter. A pending connection stays with its adapter, which is the one to cancel it.
  func prefer(_ slot: AdapterSlot) {
    if machine.state == .idle { self.slot = slot }
  }

  /// A session requests the link.
  /// - Parameter criteria: the search criteria by which the device was found, if any.
  func want(
    _ session: Session, _ reply: Reply<PeripheralConnect.Result>, _ wish: ConnectWish, foundBy criteria: DeviceCriteria?
  ) {
    if machine.state == .idle { lastFailure = nil }
    if let parameters = wish.parameters { wished[session] = parameters }
    if let phy = wish.phy { self.phy = phy }
    // The answer to this call also answers one from before the program disconnected.
    for other in machine.requests(of: session) { other.reply.afterwards = nil }
    reply.afterwards = { [id = peripheral.id] outcome in
      switch outcome {
      case .success(let link): session.send(PeripheralConnected.self, link)
      case .failure(let error): session.send(PeripheralConnectFailed.self, .init(peripheral: id, reason: error))
      }
    }
    let request = ConnectRequest(session, reply, foundBy: criteria)
    if let timeout = wish.timeout {
      request.alarm = broker.scheduler.schedule(after: .seconds(timeout)) { [weak self, weak request] in
        guard let self, let request else { return }
        let cause = link?.linkUp.machine.awaited ?? lastFailure?.message
        let words = cause.map { ": \($0)" } ?? ""
        let error = GAPError.timeout.error("no connection to \(peripheral.address) within \(timeout) s\(words)")
        perform(machine.expired(request, error))
      }
    }
    perform(machine.want(session, request, persists: wish.persists))
    if wish.parameters != nil || wish.phy != nil { wishesChanged() }
    if let phy = wish.phy, machine.state == .connected { link?.hub.link.request(phy) { _ in } }
  }

  /// A preserved session waits for the link again.
  func rejoin(_ session: Session, with state: RestoredState.Peripheral) {
    preserved[session] = state
    if let wish = state.parameters.flatMap({ try? CheckedWish($0) }) { wished[session] = wish }
    perform(machine.rejoin(session, persists: state.reconnect ?? false))
  }

  /// A session disconnects from the device, or no longer waits for it.
  func release(_ session: Session) {
    preserved[session] = nil
    if machine.users.contains(session) { link?.release(session) }
    perform(machine.release(session))
  }

  // MARK: Events

  /// A link to the device was established.
  func linkUp(_ new: CentralLink) {
    let hub = new.hub
    if machine.state == .connecting, slot != hub.slot {
      // The link was established on an adapter other than the one with the pending connection.
      cancel()
    }
    link = new
    new.connection = self
    slot = hub.slot
    let isOurs = hub.link.role == .central
    if isOurs { dialled = nil }
    if isOurs || broker.directory.stores(peripheral) { broker.directory.connected(peripheral) }
    broker.watchers.notify(peripheral, isIncoming: !isOurs)
    perform(machine.linkUp(isOurs: isOurs))
    // Encryption precedes, if we begin it.
    if !isOurs || !new.linkUp.machine.isEncrypting { improve() }
  }

  /// The link may have other parameters, longer packets and another PHY from now on.
  func improve() {
    wishesChanged()
    guard machine.state != .ending, let hub = link?.hub else { return }
    hub.paceBegins()
    hub.improve(phy, broker.links.defaults)
  }

  /// The link is ready for programs.
  func negotiated() {
    lastFailure = nil
    perform(machine.negotiated(at: broker.scheduler.now))
  }

  /// The link is useless to programs, and ends.
  func unusable(_ error: BluetoothError) { perform(machine.unusable(error, at: broker.scheduler.now)) }

  /// The link is protected by its bond's keys: programs waiting for that can use it.
  func secured() { if machine.state == .linked { perform(machine.secured()) } }

  /// No link is possible.
  /// - Parameter full: the error for sessions that may see others' resources.
  func failed(_ error: BluetoothError, inFull full: BluetoothError? = nil) {
    fullError = full
    perform(machine.failed(error))
    fullError = nil
  }

  /// The device is blocked: no session may use it or wait for it.
  func refuse(_ error: BluetoothError) {
    for session in machine.users { link?.release(session) }
    preserved = [:]
    perform(machine.refused(error))
  }

  /// The adapter cannot search for the device at present.
  func waiting(_ reason: BluetoothError) {
    lastFailure = reason
    var told: Set<Session> = []
    for session in machine.waiters where told.insert(session).inserted {
      session.send(PeripheralConnectWaiting.self, .init(peripheral: peripheral.id, reason: RPCError(reason)))
    }
  }

  /// The link has ended.
  func linkDown(_ reason: BluetoothError) {
    // Without an MTU exchange, the device was reported as connected before any packet from it was received.
    let isMissed = [.negotiating, .connected].contains(machine.state) && reason.isOfNoLink
    missedAttempts = isMissed ? missedAttempts + (link?.hub.link.attempts ?? 0) : 0
    link = nil
    // A call whose time is over names it.
    if machine.state == .negotiating || isMissed { lastFailure = reason }
    perform(machine.linkDown(reason, at: broker.scheduler.now))
    broker.watchers.notify(peripheral, ended: reason)
    let waiting = whenDown
    whenDown = []
    for done in waiting { done() }
  }

  /// A session's holdings on the device; nil if it has neither a connection nor a pending one.
  func state(for session: Session) -> RestoredState.Peripheral? {
    let isUser = machine.users.contains(session)
    guard isUser || machine.isWaiting(session) else { return nil }
    let link = isUser ? link : nil
    let had = preserved[session]
    let services = link?.services(discoveredBy: session) ?? had?.services ?? []
    let subscriptions = link?.receivers.subscriptions(of: session) ?? had?.subscriptions ?? []
    let indications = (link?.receivers.indications(of: session) ?? had?.indications)?.nonEmpty
    return .init(
      peripheral: peripheral.id, address: "\(peripheral.address)", addressType: Word(peripheral.address.kind),
      adapter: slot.id, name: peripheral.name, state: Word(isUser ? .connected : .connecting), mtu: link?.hub.mtu,
      services: services, subscriptions: subscriptions, indications: indications,
      reconnect: machine.persistent.contains(session) ? true : nil, parameters: wished[session]?.wish)
  }

  // MARK: The link's parameters

  /// The sessions' wishes.
  var wishes: [CheckedWish] { Array(wished.values) }

  /// The pending connection, or the link, gets the present requests.
  private func wishesChanged() {
    guard machine.state != .ending else { return }
    if let link { return link.hub.wishesChanged() }
    guard machine.state == .connecting, let dialled, parameters != requested else { return }
    requested = parameters
    slot.adapter.connect(to: dialled, requested)
  }

  private var parameters: ConnectionParameters {
    let isQuick = slot.linkCount <= LinkPace.maximumOthers
    var best: ConnectionParameters =
      .best(of: wishes.map(\.parameters)) ?? (isQuick ? LinkPace.quick : ConnectionParameters())
    if phy?.phy == .leCoded || peripheral.advertisement?.primaryPHY == .leCoded { best.phys.insert(.leCoded) }
    return best
  }

  /// Drops the wishes of sessions that have released the device.
  private func dropWishes() {
    if machine.users.isEmpty, machine.waiters.isEmpty { phy = nil }
    let count = wished.count
    guard count > 0 else { return }
    wished = wished.filter { concerns($0.key) }
    if wished.count < count { wishesChanged() }
  }

  // MARK: Actions

  private func perform(_ actions: [ConnectMachine<Session, ConnectRequest>.Action]) {
    for action in actions {
      switch action {
      case .connect(let delay): connect(after: delay)
      case .cancelConnect:
        retry?.cancel()
        cancel()
      case .negotiate: link?.linkUp.begin()
      case .disconnect: link?.hub.disconnect()
      case .answer(let request, let error): answer(request, error)
      case .tellDisconnected(let session, let reason, let isReconnecting):
        session.costs.linkEnded(peripheral.number, at: broker.scheduler.now)
        session.send(
          PeripheralDisconnected.self,
          .init(
            peripheral: peripheral.id, reason: reason.map { RPCError($0) }, reconnecting: isReconnecting ? true : nil,
            time: broker.scheduler.secondsSinceEpoch))
      case .tellFailed(let session, let error):
        session.send(
          PeripheralConnectFailed.self, .init(peripheral: peripheral.id, reason: RPCError(error)))
      case .tellConnected(let session):
        // The link is no longer held for a slow reader, unless the session is that reader.
        link?.hub.brake.resume()
        session.costs.linkBegan(peripheral.number, at: broker.scheduler.now)
        if let result { session.send(PeripheralConnected.self, result) }
        restore(session)
      }
    }
    if machine.users.count != 1 { link?.hub.brake.resume() }
    dropWishes()
    if machine.state == .idle { broker.forget(self) }
    broker.updateSearch()
  }

  private func connect(after delay: Duration) {
    retry?.cancel()
    retry = nil
    guard delay > .zero else { return dial() }
    retry = broker.scheduler.schedule(after: delay) { [weak self] in
      guard let self, machine.state == .connecting else { return }
      dial()
    }
  }

  private func dial() {
    let address = reachable
    dialled = address
    requested = parameters
    slot.adapter.connect(to: address, requested)
  }

  /// The address to connect to.
  private var reachable: DeviceAddress { slot.address(of: peripheral) }

  private func cancel() {
    slot.adapter.cancelConnect(to: dialled ?? reachable)
    dialled = nil
  }

  /// The device is reached under another address than before.
  func moved() {
    guard machine.state == .connecting, let dialled, dialled != reachable else { return }
    cancel()
    dial()
  }

  private func answer(_ request: ConnectRequest, _ error: BluetoothError?) {
    request.alarm?.cancel()
    if let error {
      let full = broker.maySeeOthers(request.session) ? fullError : nil
      return request.reply.fail(full ?? error)
    }
    guard let result else { return request.reply.fail(LinkHub.gone) }
    request.session.costs.linkBegan(peripheral.number, at: broker.scheduler.now)
    request.reply.succeed(result)
    restore(request.session)
  }

  /// A session preserved before the daemon's restart has its link again.
  private func restore(_ session: Session) {
    guard let link, let state = preserved.removeValue(forKey: session) else { return }
    link.restore(state, for: session)
  }

  private var result: PeripheralConnect.Result? {
    guard let hub = link?.hub else { return nil }
    return .init(
      peripheral: peripheral.id, address: "\(peripheral.address)", addressType: Word(peripheral.address.kind),
      adapter: hub.slot.id, mtu: hub.mtu, attempts: missedAttempts + hub.link.attempts)
  }
}
