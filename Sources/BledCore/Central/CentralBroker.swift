import Adapter
import BledRPC
import Bluetooth
import GATT
import Logging

/// Connects sessions with devices: shares links, and gives each session its own answer and its own end.
final class CentralBroker {
  let directory: PeripheralDirectory
  var watchers = LinkWatchers()
  let adapters: AdapterRegistry
  let scheduler: any Scheduler
  let logger: Logger
  /// What sessions of before this daemon had of the devices that they wait for.
  var revivals: [Peripheral: [Session: RestoredState.Peripheral]] = [:]
  private(set) var connections: [Peripheral: Connection] = [:]

  init(adapters: AdapterRegistry, directory: PeripheralDirectory, scheduler: any Scheduler, logger: Logger) {
    self.adapters = adapters
    self.directory = directory
    self.scheduler = scheduler
    self.logger = logger
  }

  // MARK: What sessions ask for

  func connect(
    _ params: PeripheralConnect.Params, for session: Session, _ reply: Reply<PeripheralConnect.Result>
  ) throws {
    if let timeout = params.timeout, !(timeout > 0 && timeout <= 86_400 * 365) {
      throw BledError.invalidParameter.error("\"timeout\" must be more than 0 seconds and at the most a year")
    }
    let connection = try connection(wanted: params, by: session)
    let peripheral = connection.peripheral
    // The answer to this call is the answer to one that waits for a program that is back, too.
    for other in connection.machine.requests(of: session) { other.reply.afterwards = nil }
    reply.afterwards = { [unowned self] outcome in decided(outcome, peripheral, for: session) }
    let request = Request(session, reply)
    if let timeout = params.timeout {
      request.alarm = scheduler.schedule(after: .seconds(timeout)) {
        [unowned self, unowned connection, unowned request] in
        let error = GAPError.timeout.error("no connection to \(peripheral.address) within \(timeout) s")
        perform(connection.machine.expired(request, error), on: connection)
      }
    }
    perform(connection.machine.want(session, request, keeps: params.reconnect ?? false), on: connection)
  }

  func disconnect(_ params: PeripheralDisconnect.Params, for session: Session) throws {
    let meant: [Connection]
    if let id = params.peripheral {
      meant = [connections[try directory.find(id)]].compactMap { $0 }
    } else if let address = params.address?.uppercased() {
      meant = inOrder.filter {
        "\($0.peripheral.address)" == address
          && "\($0.peripheral.address.kind)" == params.addressType ?? "\($0.peripheral.address.kind)"
      }
    } else {
      throw BledError.invalidParameter.error("give \"peripheral\" or \"address\"")
    }
    let own = meant.filter { $0.machine.isWaiting(session) || $0.machine.users.contains(session) }
    guard !own.isEmpty else {
      throw GAPError.notConnected.error("this session neither holds nor awaits a connection to that device")
    }
    for connection in own { release(connection, by: session) }
  }

  /// A session has ended.
  func ended(_ session: Session) {
    watchers.set(false, session)
    for connection in inOrder { release(connection, by: session) }
  }

  /// The link over which a session may talk to a device.
  func link(to id: String, for session: Session) throws -> DeviceLink {
    let peripheral = try directory.find(id)
    guard let connection = connections[peripheral], let device = connection.device,
      connection.machine.users.contains(session)
    else { throw GAPError.notConnected.error("this session is not connected to \(id): call peripheral.connect first") }
    return device
  }

  // MARK: What adapters and links tell

  func connected(_ device: DeviceLink) {
    let connection = connections[device.peripheral] ?? Connection(device.peripheral, on: device.slot)
    guard connection.device == nil else {
      if device.link.role == .central { device.disconnect() }
      return
    }
    if connections.updateValue(connection, forKey: device.peripheral) == nil { device.peripheral.holds += 1 }
    if connection.machine.state == .connecting, connection.slot != device.slot {
      // It came to another adapter than the one that waits for it.
      connection.slot.adapter.cancelConnect(to: device.peripheral.address)
    }
    connection.device = device
    connection.slot = device.slot
    connection.hasNegotiated = false
    if device.link.role == .central || device.peripheral.isKept { directory.connected(device.peripheral) }
    watchers.tell(device.peripheral, linked: true)
    perform(connection.machine.linkUp(isOurs: device.link.role == .central), on: connection)
  }

  func attemptFailed(_ address: DeviceAddress, _ error: BluetoothError, on slot: AdapterSlot) {
    logger.debug("an attempt to connect to \(address) failed: \(error)")
    // Only what cannot be mended by trying again ends the wish.
    guard error.isConnectionLimit,
      let connection = connections.values.first(where: { $0.slot == slot && $0.peripheral.address == address })
    else { return }
    let held = inOrder.filter { $0.slot == slot && $0.device != nil }.map { connection in
      let names = connection.machine.users.map { $0.name.isEmpty ? "session \($0.id)" : $0.name }
      return "\(connection.peripheral.address) (\(names.isEmpty ? "its own wish" : names.joined(separator: ", ")))"
    }
    let message =
      "adapter \(slot.id) holds \(held.count) links and has no room for more: \(held.joined(separator: ", "))"
    perform(connection.machine.failed(GAPError.connectionLimitReached.error(message)), on: connection)
  }

  /// What was awaited on an adapter that turns out not to be usable has failed. One that worked comes back, and what is awaited
  /// on it goes on waiting.
  func adapterChanged(_ slot: AdapterSlot) {
    guard !slot.hasWorked, let error = slot.unusable else { return }
    for connection in inOrder where connection.slot == slot {
      perform(connection.machine.failed(error), on: connection)
    }
  }

  func handle(_ event: DeviceLink.Event, on device: DeviceLink) {
    guard let connection = connections[device.peripheral], connection.device === device else { return }
    switch event {
    case .value(let handle, let value): deliver(value, of: handle, on: device, to: connection.machine.users)
    case .packetsLost(let count): lost(count, on: device)
    case .servicesChanged(let range):
      device.hash = .unread
      device.peripheral.cache = nil
      directory.cacheChanged(device.peripheral)
      servicesChanged(range, on: connection, device)
    case .cacheVoid:
      directory.cacheChanged(device.peripheral)
      servicesChanged(1...0xFFFF, on: connection, device)
    case .cacheChanged: directory.cacheChanged(device.peripheral)
    case .ended(let reason):
      connection.device = nil
      perform(connection.machine.linkDown(reason, at: scheduler.now), on: connection)
      watchers.tell(device.peripheral, linked: false)
    default: break
    }
  }

  /// The sessions that use a device over this link.
  func users(of device: DeviceLink) -> [Session] {
    guard let connection = connections[device.peripheral], connection.device === device else { return [] }
    return connection.machine.users
  }

  // MARK: Inside

  /// All that is wanted or linked, in the order in which the devices became known: the order of whatever concerns several.
  var inOrder: [Connection] { connections.values.sorted { $0.peripheral.number < $1.peripheral.number } }

  /// The connection with a device that a session may want.
  /// - Parameter isRevived: whether it was wanted before the daemon was started: then it waits for its adapter, too.
  func connection(
    wanted params: PeripheralConnect.Params, by session: Session, isRevived: Bool = false
  ) throws -> Connection {
    let (peripheral, slot) = try choose(params)
    let connection = connections[peripheral] ?? Connection(peripheral, on: slot)
    try admit(session, connection.machine)
    // A wish that waits stays with its adapter: that is the one to take it back from.
    if connection.machine.state == .idle { connection.slot = slot }
    if !isRevived, connection.device == nil, let error = connection.slot.unusable { throw error }
    if connections.updateValue(connection, forKey: peripheral) == nil { peripheral.holds += 1 }
    directory.keep(peripheral)
    return connection
  }

  private func choose(_ params: PeripheralConnect.Params) throws -> (Peripheral, AdapterSlot) {
    let named = try params.adapter.map { try adapters.find($0) }
    let peripheral: Peripheral
    if let id = params.peripheral {
      peripheral = try directory.find(id)
    } else if let text = params.address {
      let kind: DeviceAddress.Kind? = try params.addressType.map { word in
        guard let kind = DeviceAddress.Kind.allCases.first(where: { "\($0)" == word }) else {
          throw BledError.invalidParameter.error("\"addressType\" must be \"public\" or \"random\"")
        }
        return kind
      }
      guard let asPublic = DeviceAddress(text, kind: .public) else {
        throw BledError.invalidParameter.error("\"address\" must be six pairs of hex digits with colons between them")
      }
      if kind == nil, let known = directory.find(address: text) {
        peripheral = known
      } else {
        let isStatic = DeviceAddress(value: asPublic.value, kind: .random).isStaticRandom
        let address = DeviceAddress(value: asPublic.value, kind: kind ?? (isStatic ? .random : .public))
        peripheral = directory.peripheral(at: address, on: try named ?? adapters.find(nil))
      }
    } else {
      throw BledError.invalidParameter.error("give \"peripheral\" or \"address\"")
    }
    return (peripheral, named ?? peripheral.adapter)
  }

  /// Checks whether a session may want one more device.
  private func admit(_ session: Session, _ machine: ConnectMachine<Session, Request>) throws {
    guard !machine.users.contains(session), !machine.isWaiting(session) else { return }
    var (own, all, ownWaiting, allWaiting) = (0, 0, 0, 0)
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

  private func release(_ connection: Connection, by session: Session) {
    revivals[connection.peripheral]?[session] = nil
    if let device = connection.device, connection.machine.users.contains(session) {
      device.abandon(session, GAPError.cancelled.error("this session has let go of the device"))
      device.unsubscribeAll(session)
      device.discovered[session.id] = nil
    }
    perform(connection.machine.release(session), on: connection)
  }

  func perform(_ actions: [ConnectMachine<Session, Request>.Action], on connection: Connection) {
    let peripheral = connection.peripheral
    for action in actions {
      switch action {
      case .connect(let delay): connect(connection, after: delay)
      case .cancelConnect:
        connection.retry?.cancel()
        connection.slot.adapter.cancelConnect(to: peripheral.address)
      case .negotiate: negotiate(connection)
      case .disconnect: connection.device?.disconnect()
      case .answer(let request, let error): answer(request, error, connection)
      case .tellDisconnected(let session, let reason, let isReconnecting):
        session.costs.linkEnded(peripheral.number, at: scheduler.now)
        session.send(
          PeripheralDisconnected.self,
          .init(
            peripheral: peripheral.id, reason: reason.map { RPCError($0) }, reconnecting: isReconnecting ? true : nil))
      case .tellConnected(let session):
        // Unless it is the slow reader itself, the link is held no more.
        connection.device?.releaseBrake()
        session.costs.linkBegan(peripheral.number, at: scheduler.now)
        if let link = result(of: connection) { session.send(PeripheralConnected.self, link) }
        takeUp(session, connection)
      }
    }
    if connection.machine.users.count != 1 { connection.device?.releaseBrake() }
    if connection.machine.state == .idle, connections[peripheral] === connection {
      connections[peripheral] = nil
      revivals[peripheral] = nil
      peripheral.holds -= 1
    }
  }

  private func connect(_ connection: Connection, after delay: Duration) {
    connection.retry?.cancel()
    connection.retry = nil
    let address = connection.peripheral.address
    guard delay > .zero else { return connection.slot.adapter.connect(to: address, ConnectionParameters()) }
    connection.retry = scheduler.schedule(after: delay) { [weak connection] in
      guard let connection, connection.machine.state == .connecting else { return }
      connection.slot.adapter.connect(to: address, ConnectionParameters())
    }
  }

  private func negotiate(_ connection: Connection) {
    guard let device = connection.device else { return }
    guard !connection.hasNegotiated else {
      return perform(connection.machine.negotiated(at: scheduler.now), on: connection)
    }
    connection.hasNegotiated = true
    device.run(
      LinkOperation(session: nil, .exchangeMTU) { [unowned self, unowned connection, unowned device] _ in
        // A device that refuses keeps the MTU of 23; if the link is gone, its end follows.
        if device.isOpen { perform(connection.machine.negotiated(at: scheduler.now), on: connection) }
        return nil
      })
  }

  private func answer(_ request: Request, _ error: BluetoothError?, _ connection: Connection) {
    request.alarm?.cancel()
    if let error { return request.reply.fail(error) }
    guard let link = result(of: connection) else { return request.reply.fail(DeviceLink.gone) }
    request.session.costs.linkBegan(connection.peripheral.number, at: scheduler.now)
    request.reply.succeed(link)
    takeUp(request.session, connection)
  }

  /// A session of before this daemon has its link again.
  private func takeUp(_ session: Session, _ connection: Connection) {
    guard let device = connection.device, let had = revivals[connection.peripheral]?.removeValue(forKey: session)
    else { return }
    resubscribe(session, to: had, on: device)
  }

  private func result(of connection: Connection) -> PeripheralConnect.Result? {
    guard let device = connection.device else { return nil }
    let address = connection.peripheral.address
    return .init(
      peripheral: connection.peripheral.id, address: "\(address)", addressType: "\(address.kind)",
      adapter: device.slot.id, mtu: device.mtu, attempts: device.link.attempts)
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
