import Adapter
import BledRPC
import Bluetooth
import Logging

/// Connects sessions with devices: finds the device and adapter of a request, and shares one connection among all
/// sessions that request the same device.
final class CentralBroker: ClientRoles {
  /// Maximum pending calls of a session for the same device.
  private static let maximumRequests = 16

  let directory: PeripheralDirectory
  let scheduler: any Scheduler
  let logger: Logger
  var watchers = LinkWatchers()
  /// Makes sockets for values; nil where none can be watched.
  var sockets: ValueSockets?
  /// Searches by name or service.
  let searches: DeviceSearches
  private let privateSearch: PrivateDeviceSearch
  let links: LinkRegistry
  let adapters: AdapterRegistry
  let rules: Rules
  /// The notes of calls for recordings.
  let annotations: CallAnnotations
  private var connections: [Peripheral: PeripheralConnection] = [:]
  private var refusedWriters: RefusedWriters

  init(
    adapters: AdapterRegistry, directory: PeripheralDirectory, links: LinkRegistry, scans: ScanBroker, rules: Rules,
    annotations: CallAnnotations, scheduler: any Scheduler, logger: Logger
  ) {
    self.links = links
    self.adapters = adapters
    self.rules = rules
    self.annotations = annotations
    self.directory = directory
    self.scheduler = scheduler
    self.logger = logger
    refusedWriters = RefusedWriters(logger: logger)
    privateSearch = PrivateDeviceSearch(directory, scans)
    searches = DeviceSearches(adapters: adapters, scans: scans, scheduler: scheduler)
    searches.onFound = { [unowned self] in found($1, by: $0) }
    scans.observer = self
    directory.onBondsChanged = { [unowned self, weak scans] in
      updateSearch()
      scans?.updateScans()
    }
  }

  // MARK: Requests of sessions

  func connect(
    _ params: PeripheralConnect.Params, for session: Session, _ reply: Reply<PeripheralConnect.Result>
  ) throws {
    let wish = try ConnectWish(params)
    switch try WantedDevice(params) {
    case .first(let criteria): try search(by: criteria, wish, on: params.adapter, for: session, reply)
    case .named(let reference):
      let (peripheral, slot) = try directory.find(reference, on: params.adapter, of: adapters)
      do {
        try connect(to: peripheral, on: slot, wish, for: session, reply, foundBy: nil)
      } catch {
        forgetUnmet(peripheral)
        throw error
      }
    }
  }

  /// Connects to a device.
  /// - Parameter criteria: the search criteria by which the device was found, if any.
  func connect(
    to peripheral: Peripheral, on slot: AdapterSlot, _ wish: ConnectWish, for session: Session,
    _ reply: Reply<PeripheralConnect.Result>, foundBy criteria: DeviceCriteria?
  ) throws {
    let connection = try connection(to: peripheral, on: slot, over: wish.phy, by: session)
    let pending = connection.machine.requests(of: session).count
    guard pending < Self.maximumRequests else {
      throw BledError.limitReached.error(
        "this session has \(pending) \(PeripheralConnect.name) calls in progress for this device")
    }
    connection.want(session, reply, wish, foundBy: criteria)
  }

  func disconnect(_ params: PeripheralDisconnect.Params, for session: Session) throws {
    let meant: [PeripheralConnection]
    switch try WantedDevice(params) {
    case .first(let criteria):
      let cancelled = GAPError.cancelled.error("the connection request was cancelled")
      if searches.end(of: session, by: criteria, cancelled) { return }
      meant = inOrder.filter { $0.machine.requests(of: session).contains { $0.criteria == criteria } }
    case .named(let reference):
      let named = try directory.known(reference)
      meant = inOrder.filter { named.contains($0.peripheral) }
    }
    let own = meant.filter { $0.concerns(session) }
    guard !own.isEmpty else {
      throw GAPError.notConnected.error("this session has neither a connection nor a pending connection to that device")
    }
    for connection in own { connection.release(session) }
  }

  /// The link over which a session may talk to a device.
  func link(to id: String, for session: Session) throws -> CentralLink {
    guard let connection = connections[try directory.find(id)], let link = connection.link,
      connection.machine.users.contains(session)
    else { throw GAPError.notConnected.error("this session is not connected to \(id): call peripheral.connect first") }
    return link
  }

  /// A session wants a PHY for this link and for later ones to the device, if it is connected to it.
  func prefer(_ phy: LinkPHY, on hub: LinkHub, for session: Session) {
    guard let connection = connections[hub.peripheral], connection.link?.hub === hub, connection.concerns(session)
    else { return }
    connection.phy = phy
  }

  /// The link with a device, whoever uses it, for a session that may know of the device.
  func anyLink(with id: String, for session: Session) throws -> LinkHub {
    let peripheral = try directory.find(id)
    guard let hub = connections[peripheral]?.link?.hub, mayKnow(peripheral, session) else {
      throw GAPError.notConnected.error("there is no link with \(id)")
    }
    return hub
  }

  private func mayKnow(_ peripheral: Peripheral, _ session: Session) -> Bool {
    rules.permissions(of: session).contains(.scan) || peripheral.isUsed(by: session.user)
  }

  /// True if a session uses devices for itself. A gateway that opens sessions for its callers only observes connected
  /// devices: it must not keep its callers from forgetting them.
  private func isUser(_ session: Session) -> Bool {
    session.user == 0 || !rules.permissions(of: session).contains(.impersonate)
  }

  /// True if the session may see others' resources.
  func maySeeOthers(_ session: Session) -> Bool { rules.permissions(of: session).contains(.sessions) }

  /// A device that a session may forget, as no other user uses it.
  func forgettable(_ id: String, for session: Session) throws(BluetoothError) -> Peripheral {
    let peripheral = try directory.find(id)
    guard peripheral.users.allSatisfy({ $0 == session.user }) || maySeeOthers(session) else {
      throw BledError.notPermitted.error(
        "other users use \(peripheral.id): it can be forgotten by a program with the permission \"sessions\"")
    }
    return peripheral
  }

  /// Calls back when the link left by the last session has ended; at once if no link is ending.
  func whenLeft(_ peripheral: Peripheral, _ done: @escaping () -> Void) {
    guard let connection = connections[peripheral], connection.machine.state == .ending else { return done() }
    connection.whenDown.append(done)
  }

  // MARK: Ends of sessions

  /// A session has ended.
  func ended(_ session: Session) {
    watchers.set(false, session)
    refusedWriters.ended(session)
    searches.end(of: session, GAPError.cancelled.error("the session has ended"))
    for connection in inOrder { connection.release(session) }
  }

  /// The program of a session has disconnected: its calls are abandoned. Its links, subscriptions and pending
  /// connections stay; its watch of all links does not, as its events would fill the outbox kept for it. Nor do its
  /// searches: their devices have no identifier yet that would match an event to its call.
  func programGone(_ session: Session) {
    watchers.set(false, session)
    searches.end(of: session, GAPError.cancelled.error("the program has disconnected"))
    for connection in inOrder where connection.machine.users.contains(session) {
      let error = GAPError.cancelled.error("the program has disconnected")
      connection.link?.abandon(session, error, isPreserved: true)
      connection.link?.receivers.endAcquired(error) { $0.session === session }
      connection.link?.hub.brake.resume()
    }
  }

  /// The session's connected devices and pending connections.
  func restorableConnections(of session: Session) -> [RestoredState.Peripheral] {
    inOrder.compactMap { $0.state(for: session) }
  }

  /// Connects to a device that a preserved session used or requested before the daemon's restart, as soon as its
  /// adapter works.
  func restore(_ state: RestoredState.Peripheral, for session: Session) throws {
    let reference = try DeviceReference(address: state.address, kind: state.addressType.known)
    // The adapter may have gone for good.
    let adapter = try? adapters.find(state.adapter).id
    let (peripheral, slot) = try directory.find(reference, on: adapter, of: adapters)
    try connection(to: peripheral, on: slot, by: session, isRestored: true).rejoin(session, with: state)
  }

  // MARK: Events of adapters

  func clientRole(on hub: LinkHub) -> any ClientRole { CentralLink(on: hub, broker: self) }

  /// A link was established, by us or by a device.
  func connected(_ link: CentralLink) {
    let hub = link.hub
    let connection = connections[hub.peripheral] ?? PeripheralConnection(to: hub.peripheral, on: hub.slot, broker: self)
    guard connection.link == nil else {
      if hub.link.role == .central { hub.disconnect() }
      return
    }
    add(connection)
    connection.linkUp(link)
  }

  /// A link ended: one that the device established meanwhile replaces it. Controllers do not connect to a device with
  /// which they have a link (Core 5.4, Vol 6, Part B, 4.5).
  func replaced(_ ended: CentralLink) {
    if let link = links.incoming(from: ended.hub.peripheral)?.central as? CentralLink { connected(link) }
  }

  func attemptFailed(_ address: DeviceAddress, _ error: BluetoothError, on slot: AdapterSlot) {
    logger.debug(
      "an attempt to connect to \(address) failed: \(error)",
      metadata: .about(directory.known(at: address), adapter: slot))
    guard let connection = directory.known(at: address).flatMap({ connections[$0] }), connection.slot == slot
    else { return }
    connection.lastFailure = error
    // A pending connection ends only if further attempts cannot succeed.
    guard error.isConnectionLimit else { return }
    let held = inOrder.filter { $0.slot == slot && $0.link != nil }.map { connection in
      let names = connection.machine.users.map { $0.name.isEmpty ? "session \($0.id)" : $0.name }
      let holders = names.isEmpty ? "connected by the device itself" : names.joined(separator: ", ")
      return "\(connection.peripheral.address) (\(holders))"
    }
    // Without a link this is not a limit: the controller is tried again, and a time-out has its own reason.
    guard !held.isEmpty else { return }
    let message = "adapter \(slot.id) has reached its limit of \(held.count) links"
    connection.failed(
      GAPError.connectionLimitReached.error("\(message); callers with the permission \"sessions\" see the owners"),
      inFull: GAPError.connectionLimitReached.error("\(message): \(held.joined(separator: ", "))"))
  }

  /// A device cannot be searched for at present.
  func waiting(_ address: DeviceAddress, _ reason: BluetoothError, on slot: AdapterSlot) {
    logger.debug(
      "\(address) cannot be looked for at present: \(reason)",
      metadata: .about(directory.known(at: address), adapter: slot))
    guard let connection = directory.known(at: address).flatMap({ connections[$0] }), connection.slot == slot else {
      return
    }
    connection.waiting(reason)
  }

  /// Pending connections fail on an adapter that turns out not to be usable. An adapter that worked before is expected
  /// back: pending connections wait for it.
  func adapterChanged(_ slot: AdapterSlot) {
    guard !slot.hasWorked, let error = slot.unusable else { return }
    for connection in inOrder where connection.slot == slot { connection.failed(error) }
  }

  /// A write without response was refused.
  func commandRefused(of session: Session, _ params: GATTWrite.Params, _ error: any Error) {
    refusedWriters.refused(params, of: session, to: try? directory.find(params.peripheral), error)
  }

  // MARK: Descriptions

  /// The devices a session may know of: all if it may scan, else those requested by its user.
  func list(for session: Session) -> [PeripheralList.Entry] {
    let maySeeAll = rules.permissions(of: session).contains(.scan)
    let now = scheduler.now
    return directory.all.filter { maySeeAll || $0.isUsed(by: session.user) }.map {
      .init($0, connections[$0], for: session, isBlocked: links.blocked.contains($0), now: now)
    }
  }

  // MARK: Connections

  /// All connections in the order in which the devices became known; events that concern several use it.
  var inOrder: [PeripheralConnection] {
    connections.values.sorted { $0.peripheral.number < $1.peripheral.number }
  }

  /// The connection to the device requested by a session.
  /// - Parameter isRestored: true if it was pending before the daemon's restart: then it also waits for its adapter.
  private func connection(
    to peripheral: Peripheral, on slot: AdapterSlot, over phy: LinkPHY? = nil, by session: Session,
    isRestored: Bool = false
  ) throws -> PeripheralConnection {
    if let error = links.blocked.refusal(of: peripheral) { throw error }
    let connection = connections[peripheral] ?? PeripheralConnection(to: peripheral, on: slot, broker: self)
    try admit(session, connection.machine)
    connection.prefer(slot)
    if !isRestored, connection.link == nil, let error = connection.slot.unusable { throw error }
    if let phy { try connection.slot.check(has: phy.phy) }
    add(connection)
    if isUser(session) {
      peripheral.used(by: session.user)
      directory.store(peripheral)
    }
    return connection
  }

  private func add(_ connection: PeripheralConnection) {
    if connections.updateValue(connection, forKey: connection.peripheral) == nil {
      connection.peripheral.references += 1
    }
  }

  /// No session wants the device, and it is not linked.
  func forget(_ connection: PeripheralConnection) {
    guard connections[connection.peripheral] === connection else { return }
    connections[connection.peripheral] = nil
    connection.peripheral.references -= 1
    directory.released(connection.peripheral)
    forgetUnmet(connection.peripheral)
  }

  /// A blocked device keeps its identifier, by which it is unblocked.
  private func forgetUnmet(_ peripheral: Peripheral) {
    if !links.blocked.contains(peripheral) { directory.forgetUnmet(peripheral) }
  }

  // MARK: Private addresses

  func moved(_ peripheral: Peripheral) { connections[peripheral]?.moved() }

  /// The pending connections have changed, or the knowledge about their devices.
  func updateSearch() { privateSearch.update(connections.values) }

  /// Checks whether a session may connect to one more device.
  private func admit(_ session: Session, _ machine: ConnectMachine<Session, ConnectRequest>) throws {
    guard !machine.users.contains(session), !machine.isWaiting(session) else { return }
    try admit(session)
  }

  /// Checks whether a session may connect to another device, or search for it.
  func admit(_ session: Session) throws {
    let (ownSearches, allSearches) = (
      searches.count { $0 === session }, searches.count { $0.user == session.user }
    )
    var (own, all, ownWaiting, allWaiting) = (ownSearches, allSearches, ownSearches, allSearches)
    for connection in connections.values {
      let waiting = Set(connection.machine.waiters.filter { $0.user == session.user })
      let wanting = waiting.union(connection.machine.users.filter { $0.user == session.user })
      allWaiting += waiting.count
      all += wanting.count
      if waiting.contains(session) { ownWaiting += 1 }
      if wanting.contains(session) { own += 1 }
    }
    try session.rules.admit(.connections, of: session, own: own, all: all)
    try session.rules.admit(.connects, of: session, own: ownWaiting, all: allWaiting)
  }
}

extension BluetoothError {
  /// Connection Limit Exceeded or Rejected due to Limited Resources (Core 5.4, Vol 1, Part F, 2.9 and 2.13).
  fileprivate var isConnectionLimit: Bool {
    switch domain {
    case .hci: code == 0x09 || code == 0x0D
    case .gap: code == GAPError.connectionLimitReached.rawValue
    case .att, .bled: false
    }
  }
}
