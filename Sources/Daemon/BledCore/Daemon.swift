import Adapter
import BledRPC
import Bluetooth
import GATT
import Logging

/// The daemon without its socket: adapters on one side, sessions on the other, and the brokers between them. Everything
/// runs on the thread of the scheduler and the adapters.
public final class Daemon {
  /// The daemon's version.
  public static let version = Release.version
  /// The version of the socket's protocol; incremented on an incompatible change.
  static let protocolVersion = 1
  /// The time for adapters to stop when the daemon stops. Programs are notified at once, and links and the radio are
  /// down within a second or so; a change of a controller's power may take longer, and must not be left half-way.
  static let timeout = Duration.seconds(5)

  /// This machine's identity as devices see it.
  public typealias Identity = ServerIdentity

  let adapters = AdapterRegistry()
  let directory: PeripheralDirectory
  let links: LinkRegistry
  let scans: ScanBroker
  let periodic: PeriodicBroker
  let central: CentralBroker
  let server: ServerBroker
  let advertising: AdvertisingBroker
  /// This machine's name as devices see it.
  let deviceName: DeviceName
  private let publishers: Publishers
  private let roles: LinkRoles
  let pairing: PairingBroker
  let channels: ChannelBroker
  let captures: CaptureBroker
  let store: Store
  private let quirks: QuirkDirectory
  /// The simulation that tests command; nil where no adapter is simulated.
  public weak var simulation: (any Simulation)?
  let rules: Rules
  private let router: Router
  /// All sessions.
  var sessions: [Session] { sessionRegistry.all }
  /// The measurements of calls.
  let calls: CallMetrics
  /// The commit it was built from; nil in a development build.
  let commit: String?
  /// When it was started, in seconds since the epoch.
  let startTime: Double
  let scheduler: any Scheduler
  let logger: Logger
  let sessionRegistry: SessionRegistry
  private lazy var root = PrivacyRoot.load(from: store)
  /// True if devices may open enhanced ATT bearers.
  private let servesBearers: Bool

  /// Makes a daemon without adapters and sessions.
  /// - Parameters:
  ///   - identity: the identity presented to devices.
  ///   - policy: permissions.
  ///   - limits: the limits of resources.
  ///   - restoration: how sessions outlast their programs.
  ///   - storage: the storage of state across restarts; nil for none.
  ///   - makeIdentifier: makes the identifiers of devices; nil for random ones.
  ///   - commit: the commit the program was built from, for `session.open` and the metrics; nil if unknown.
  public init(
    identity: Identity, policy: Policy, limits: Limits = Limits(), scheduler: any Scheduler, logger: Logger,
    restoration: RestorationSettings = RestorationSettings(), storage: (any DocumentStorage)? = nil,
    makeIdentifier: (() -> String)? = nil, commit: String? = nil
  ) {
    self.commit = commit
    self.scheduler = scheduler
    self.logger = logger
    servesBearers = identity.hasEnhancedBearers
    calls = CallMetrics(scheduler)
    startTime = scheduler.secondsSinceEpoch
    captures = CaptureBroker(adapters: adapters, scheduler: scheduler)
    router = Router(calls, annotations: captures.annotations)
    rules = Rules(policy: policy, limits: limits)
    store = Store(storage, scheduler: scheduler, logger: logger)
    quirks = QuirkDirectory(store: store, at: scheduler.secondsSinceEpoch)
    deviceName = DeviceName(configured: identity.name, store: store)
    adapters.deviceName = deviceName.current
    let restorations = Restorations(settings: restoration, store: store, scheduler: scheduler, logger: logger)
    var remembered = PeripheralDirectory.Limits()
    remembered.peripherals = limits.total[.peripherals] ?? .max
    let bonds = BondDirectory(store: store, logger: logger)
    if let makeIdentifier {
      directory = PeripheralDirectory(
        bonds: bonds, store: store, scheduler: scheduler, limits: remembered, makeIdentifier: makeIdentifier)
    } else {
      directory = PeripheralDirectory(bonds: bonds, store: store, scheduler: scheduler, limits: remembered)
    }
    links = LinkRegistry(directory: directory, store: store, scheduler: scheduler)
    scans = ScanBroker(adapters: adapters, directory: directory, scheduler: scheduler)
    periodic = PeriodicBroker(adapters: adapters, directory: directory, scans: scans, scheduler: scheduler)
    central = CentralBroker(
      adapters: adapters, directory: directory, links: links, scans: scans, rules: rules,
      annotations: captures.annotations,
      scheduler: scheduler, logger: logger)
    var identity = identity
    identity.name = deviceName.current
    server = ServerBroker(adapters: adapters, links: links, identity: identity, logger: logger)
    advertising = AdvertisingBroker(adapters: adapters, directory: directory, scheduler: scheduler)
    publishers = Publishers(server, advertising)
    pairing = PairingBroker(
      adapters: adapters, directory: directory, links: links, publishers: publishers, bonds: bonds,
      scheduler: scheduler, logger: logger)
    server.observer = pairing
    advertising.observer = pairing
    channels = ChannelBroker(adapters: adapters, pairing: pairing, scheduler: scheduler, logger: logger)
    roles = LinkRoles(client: central, server: server, channels: channels, protection: pairing)
    let holdings = Holdings(
      scans: scans, periodic: periodic, central: central, server: server, advertising: advertising, pairing: pairing,
      channels: channels, captures: captures)
    sessionRegistry = SessionRegistry(
      holdings, restorations, adapters: adapters, rules: rules, router: router, scheduler: scheduler, logger: logger,
      commit: commit)
    bonds.onStored = { [unowned self] in notifySessions(PairingBonded.self, $0) }
    bonds.onRemoved = { [unowned self] in notifySessions(PairingForgotten.self, $0) }
    router.serveSession(self, sessionRegistry)
    router.serveScan(scans)
    router.servePeriodic(periodic, advertising, central, server)
    router.servePeripheral(central, pairing, scans)
    router.serveLinks(central, server)
    router.serveGATT(central)
    router.servePublishing(server, advertising)
    router.servePairing(pairing, central)
    router.serveChannels(channels, central)
    router.serveCaptures(captures)
    captures.attributes = { [unowned self] in links.links.flatMap(\.central.attributeNotes) }
    captures.annotations.describe = { [unowned self] id in directory.known(id).map { ($0.name, $0.address) } }
    router.serveSimulation { [unowned self] in simulation }
  }

  /// Adds an adapter and starts it, unless the daemon is stopping. The first one is the default.
  public func add(_ adapter: any Adapter) {
    guard !sessionRegistry.isStopping else { return }
    let slot = adapters.add(adapter)
    directory.added(slot)
    // Blocked devices missing in the device store can be listed and unblocked, too.
    for address in links.blocked.inOrder { _ = directory.peripheral(at: address, on: slot) }
    adapter.onEvent = { [unowned self, unowned slot] event in handle(event, on: slot) }
    adapter.setQuirks(quirks)
    pairing.adding(slot)
    adapter.setLongestInterval(links.defaults.longestInterval)
    adapter.start()
    if servesBearers { EnhancedBearers.listen(on: adapter, logger) }
    captures.added(slot)
    scans.added(slot)
    central.searches.update()
  }

  /// The answers to pairing devices if there is no session to ask; initially none may pair.
  public func setPairing(_ policy: PairingPolicy) { pairing.consent.set(policy) }

  /// A private address's lifetime for adapters added from now on; nil for none.
  public func setPrivacy(_ rotation: Duration?) {
    pairing.privacy = rotation.map { PrivacySettings(root: root, rotation: $0) }
  }

  /// The static random address for an adapter with this name whose controller has none: equal at every start.
  public func spareAddress(of adapter: String) -> DeviceAddress { PrivacyRoot.address(of: adapter, from: root) }

  /// The settings of new links from now on, where both sides can.
  public func setLinks(_ defaults: LinkDefaults) {
    links.defaults = defaults
    for slot in adapters.slots { slot.adapter.setLongestInterval(defaults.longestInterval) }
  }

  /// Programs can have sockets for values from now on.
  func passDescriptors(_ sockets: ValueSockets) {
    central.sockets = sockets
    server.sockets = sockets
  }

  /// Opens a session for a connected client.
  public func open(_ transport: any SessionTransport, credentials: PeerCredentials?) -> SessionConnection {
    sessionRegistry.open(transport, credentials: credentials)
  }

  /// A client has disconnected: its resources are released, or preserved if its session has a restoration identifier.
  public func closed(_ connection: SessionConnection) { sessionRegistry.closed(connection) }

  /// Ends everything in order: sessions are notified and closed, links end, advertisements and scans stop, the store is
  /// written.
  /// - Parameter done: called once, within 5 seconds.
  public func stop(_ done: @escaping () -> Void) {
    guard !sessionRegistry.isStopping else { return }
    sessionRegistry.stop()
    var running = adapters.slots.count
    var isDone = false
    var alarm: (any ScheduledWork)?
    func finish() {
      guard !isDone else { return }
      isDone = true
      alarm?.cancel()
      done()
    }
    func rest() {
      running -= 1
      if running <= 0 { store.flush(finish) }
    }
    alarm = scheduler.schedule(after: Self.timeout) { [logger] in
      logger.warning("the adapters or the store did not stop in time")
      finish()
    }
    if running == 0 { rest() }
    for slot in adapters.slots { slot.adapter.stop { rest() } }
  }

  private func handle(_ event: AdapterEvent, on slot: AdapterSlot) {
    switch event {
    case .stateChanged: stateChanged(slot)
    case .scanning(let isOn): slot.scanningChanged(to: isOn)
    case .watching(let isWatching): scans.monitorChanged(isWatching, on: slot)
    case .presence(let device, let isThere): scans.monitorReported(device, isThere: isThere, on: slot)
    case .report(let report): scans.received(report, on: slot)
    case .advertising(let id, let status): advertising.changed(id, status, on: slot)
    case .responses(let id, let responses): advertising.received(responses, of: id, on: slot)
    case .periodic(let train, let event): periodic.handle(train, event, on: slot)
    case .connected(let link): links.add(link, on: slot, roles: roles)
    case .pairing(let address, let event): pairing.handle(event, with: address, on: slot)
    case .connectAttemptFailed(let address, let error): central.attemptFailed(address, error, on: slot)
    case .connectWaiting(let address, let reason): central.waiting(address, reason, on: slot)
    }
  }

  private func stateChanged(_ slot: AdapterSlot) {
    slot.stateChanged()
    logState(of: slot)
    reportChange(slot)
    if slot.adapter.state != .on { scans.monitorChanged(false, on: slot) }
    scans.updateScans()
    advertising.adapterChanged(slot)
    periodic.adapterChanged(slot)
    central.adapterChanged(slot)
    if slot.adapter.state == .on, !sessionRegistry.isStopping { sessionRegistry.reviveSessions() }
  }

  private func reportChange(_ slot: AdapterSlot) {
    sessionRegistry.broadcast(try? RPCEncoding.notification(AdapterChanged.self, slot.description))
  }

  private func notifySessions<Notification: RPCNotification>(_: Notification.Type, _ bond: Bond)
  where Notification.Params == PairingForgotten.Params {
    let params = PairingForgotten.Params(
      peripheral: directory.find(identity: bond.peer)?.id, address: "\(bond.peer)", addressType: Word(bond.peer.kind),
      adapterAddress: "\(bond.local)")
    sessionRegistry.broadcast(try? RPCEncoding.notification(Notification.self, params), permission: .bonds)
  }

  /// Devices see this machine under another name from now on.
  func nameChanged() {
    guard adapters.deviceName != deviceName.current else { return }
    adapters.deviceName = deviceName.current
    server.identify(name: deviceName.current)
    for slot in adapters.slots { reportChange(slot) }
  }

  /// Logs each state once: changes in quick succession are logged together, with the last state.
  private func logState(of slot: AdapterSlot) {
    guard slot.loggedState != slot.adapter.state else { return }
    slot.loggedState = slot.adapter.state
    if case .failed(let problem) = slot.adapter.state {
      logger.error("adapter \(slot.id): \(problem.text)", metadata: .about(adapter: slot))
    } else {
      logger.info("adapter \(slot.id) is \(slot.adapter.state.condition)", metadata: .about(adapter: slot))
    }
  }
}
