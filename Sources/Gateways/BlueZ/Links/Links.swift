import BledRPC
import Bluetooth

/// The links to devices, and which programs use them: Connect and Disconnect.
final class Links: DeviceObserver {
  /// The time of a connection attempt in seconds: callers give up after 25.
  private static let timeout = 20.0
  /// Timeout for bled to give an existing link to another program, in seconds.
  private static let handOverTimeout = 1.0

  private let context: Context
  private let clients: Clients
  private let devices: Devices
  private let services: Services
  private let resolution: Resolution
  private let views: LinkViews
  private let kept: KeptLinks
  private let foreign: ForeignLinks
  private let visits: Visits
  private var holders: [String: Holders] = [:]
  /// The calls of Connect that wait, by device and program.
  private var pending = WaitingPrograms()
  /// The calls of Disconnect that wait, by device and program.
  private var leaving = WaitingPrograms()
  /// The programs waiting for a device to come in range, by the number of the attempt. A cancelled one counts until
  /// bled has answered.
  private var inRange: [Int: (path: String, program: String)] = [:]
  private var lastInRange = 0

  /// Notified of all links.
  var observers = LinkObservers([])

  init(_ context: Context, _ clients: Clients, _ own: OwnSession, _ devices: Devices, _ services: Services) {
    self.context = context
    self.clients = clients
    self.devices = devices
    self.services = services
    views = LinkViews(context, clients, devices)
    kept = KeptLinks(context, clients, devices)
    resolution = Resolution(devices, services)
    foreign = ForeignLinks(context, devices)
    visits = Visits(context, own, devices, services, resolution)
    foreign.visited = { [visits] in visits.began($0) }
    foreign.isAwaited = { [unowned self] in pending.has($0) }
    kept.expired = { [unowned self] path, keeper in
      if let device = devices[path] { LinkRequests.leave(device.key.peripheral, keeper) }
      released(path, keeper)
    }
    resolution.resolved = { [unowned self] path, user in observers.notify { $0.resolved(path, by: user) } }
    resolution.isUser = { [unowned self] path, user in holders[path]?.has(user.name) == true }
    resolution.failed = { [unowned self] in notResolved($0, $1, tried: $2) }
  }

  func isConnected(_ path: String) -> Bool { devices.flag(path, "Connected") }

  // MARK: Connect

  func connect(_ call: BusCall, _ client: BusClient) {
    connect(call.path, client) { [context] in context.finish(call, $0) }
  }

  /// Connects a program to a device.
  func connect(_ path: String, _ client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    guard let device = devices[path] else { return completion(.failure(.doesNotExist)) }
    if holders[path]?.connected.contains(client.name) == true { return completion(.success(())) }
    guard pending.insert(client.name, at: path) else { return completion(.failure(.inProgress)) }
    LinkRequests.open(device, client, within: Self.timeout) { [weak self] result in
      guard let self else { return }
      pending.remove(client.name, at: path)
      defer { foreign.attemptEnded(path) }
      opened(device, client, result, completion)
    }
  }

  /// Connects a program to a device as soon as that is in range.
  func connectInRange(_ device: Device, _ client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void) {
    lastInRange += 1
    let number = lastInRange
    inRange[number] = (device.path, client.name)
    LinkRequests.open(device, client, within: nil) { [weak self] result in
      guard let self else { return }
      inRange[number] = nil
      opened(device, client, result, completion)
    }
  }

  /// A program no longer waits for a device, unless it has called Connect.
  func giveUp(_ path: String, _ client: BusClient) {
    guard let device = devices[path], holders[path]?.has(client.name) != true, !pending[path].contains(client.name)
    else { return }
    LinkRequests.leave(device.key.peripheral, client)
  }

  /// A program has got the link, or not.
  private func opened(
    _ device: Device, _ client: BusClient, _ result: Result<PeripheralConnect.Result, BluetoothError>,
    _ completion: (Result<Void, BusError>) -> Void
  ) {
    let path = device.path
    switch result {
    case .success(let link):
      guard clients.known(client.name) != nil, devices[path] != nil else {
        LinkRequests.leave(link.peripheral, client)
        return completion(.failure(.failed("le-connection-abort-by-local")))
      }
      devices.identify(path, as: Device.Key(peripheral: link.peripheral, adapter: device.key.adapter))
      connected(path, client, mtu: link.mtu)
      completion(.success(()))
      resolution.begin(path, client)
    case .failure(let error): completion(.failure(.connecting(error)))
    }
  }

  /// ConnectDevice: connects a program to an unknown device; its object is added with the link.
  func connectDevice(_ call: BusCall, adapter: String, _ client: BusClient) {
    let named: NamedDevice
    do throws(BusError) {
      named = try NamedDevice(call.arguments[0])
    } catch {
      return context.fail(call, error)
    }
    let path = Device.path(call.path, named.address)
    guard devices[path] == nil else { return context.fail(call, .alreadyExists) }
    guard pending.insert(client.name, at: path) else { return context.fail(call, .inProgress) }
    client.session.call(
      PeripheralConnect.self,
      PeripheralConnect.Params(
        address: named.address, addressType: named.addressType, adapter: adapter, timeout: Self.timeout)
    ) { [weak self, context] result in
      guard let self else { return }
      pending.remove(client.name, at: path)
      defer { foreign.attemptEnded(path) }
      switch result {
      case .success(let link):
        let key = Device.Key(peripheral: link.peripheral, adapter: link.adapter)
        guard clients.known(client.name) != nil,
          let path = devices.add(key, address: link.address, addressType: link.addressType.text)
        else {
          LinkRequests.leave(link.peripheral, client)
          return context.fail(call, .failed("le-connection-abort-by-local"))
        }
        connected(path, client, mtu: link.mtu)
        context.reply(call, .path(path))
        resolution.begin(path, client)
      case .failure(let error): context.fail(call, .connecting(error))
      }
    }
  }

  private func connected(_ path: String, _ client: BusClient, mtu: Int) {
    holders[path, default: Holders()].connect(client.name)
    if let device = devices[path] { foreign.forget(device.key.peripheral) }
    devices.connected(path)
    views.show(path, to: client)
    services.link(path, mtu: mtu)
    // bled may give a link just before the request to end it.
    if !leaving.has(path, client.name) { observers.notify { $0.connected(path) } }
  }

  /// Gives a program the link that others have.
  func join(_ path: String, _ client: BusClient, _ completion: @escaping (Result<Device, BusError>) -> Void) {
    guard let device = devices[path] else { return completion(.failure(.doesNotExist)) }
    if holders[path]?.has(client.name) == true { return completion(.success(device)) }
    guard isConnected(path) else { return completion(.failure(.failed("Not connected"))) }
    client.session.call(
      PeripheralConnect.self,
      PeripheralConnect.Params(peripheral: device.key.peripheral, adapter: device.key.adapter, timeout: Self.timeout)
    ) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let link):
        // The program may have left meanwhile, and the device or its link may have been removed.
        guard clients.known(client.name) != nil, isConnected(path) else {
          LinkRequests.leave(link.peripheral, client)
          return completion(.failure(.failed("Not connected")))
        }
        holders[path, default: Holders()].join(client.name)
        completion(.success(device))
      case .failure(let error): completion(.failure(BusError(error, otherwise: .failed("Not connected"))))
      }
    }
  }

  /// Gives a program the link that others have, once the services of the device are known.
  func use(_ path: String, _ client: BusClient, _ completion: @escaping (Result<Device, BusError>) -> Void) {
    join(path, client) { [weak self] joined in
      guard let self, case .success(let device) = joined else { return completion(joined) }
      holders[path]?.use(client.name)
      kept.used(path, by: client)
      resolution.wait(path, client) { completion($0.map { device }) }
    }
  }

  /// The program that requested the services may have left; another one requests them then. A device that does not
  /// answer is disconnected, so that no program waits for it in vain.
  private func notResolved(_ path: String, _ client: any SessionHolder, tried: Set<String>) {
    let others = (holders[path]?.all ?? []).subtracting(tried).sorted()
    if let other = others.lazy.compactMap({ self.clients.known($0) }).first { return resolution.retry(path, other) }
    resolution.end(path)
    guard let device = devices[path] else { return }
    for name in (holders[path]?.connected ?? []).sorted() {
      guard let client = clients.known(name) else { continue }
      LinkRequests.leave(device.key.peripheral, client)
      released(path, client)
    }
  }

  /// The device's attributes have changed.
  func servicesChanged(_ path: String, _ client: any SessionHolder) {
    resolution.changed(path, client)
    context.flush()
  }

  // MARK: Disconnect

  /// Disconnects the caller's process: libraries have a connection to the bus for each use of a device, and a forgotten
  /// one must not keep the link. Without a connected program of the process, it disconnects the programs of its user,
  /// and all programs for root.
  ///
  /// The reply precedes the signal that `Connected` is false, as from BlueZ before 5.79: bleak closes its connection to
  /// the bus at that signal, and before its release 3.0 a later reply was an error to it.
  func disconnect(_ call: BusCall, _ client: BusClient) {
    observers.notify { $0.disconnecting(call.path, by: client) }
    disconnect(call.path, concerned(call.path, client), replying: { [context] in context.reply(call) })
  }

  /// Disconnects all programs that the caller may speak for, before a device is removed. bled does not forget a device
  /// that a program waits for.
  func disconnectAll(_ path: String, _ client: BusClient, _ completion: @escaping () -> Void) {
    observers.notify { $0.removing(path, by: client) }
    let waiting = Set(inRange.values.lazy.filter { $0.path == path }.map(\.program))
    disconnect(path, spokenFor(path, by: client, and: waiting), completion: completion)
  }

  /// The removal of a device has failed.
  func isNotRemoved(_ path: String, _ client: BusClient) {
    observers.notify { $0.isNotRemoved(path, by: client) }
  }

  /// - Parameters:
  ///   - reply: called when bled has answered for all of them.
  ///   - completion: called after that, when their links are shown as ended.
  private func disconnect(
    _ path: String, _ concerned: [BusClient], replying reply: @escaping () -> Void = {},
    completion: @escaping () -> Void = {}
  ) {
    var left = concerned.count
    let last = { [weak self] in
      reply()
      for other in concerned {
        self?.leaving.remove(other.name, at: path)
        self?.released(path, other)
      }
      completion()
    }
    guard let device = devices[path], left > 0 else { return last() }
    for other in concerned {
      leaving.insert(other.name, at: path)
      LinkRequests.leave(device.key.peripheral, other) {
        left -= 1
        if left == 0 { last() }
      }
    }
  }

  private func concerned(_ path: String, _ client: BusClient) -> [BusClient] {
    let users = users(of: path)
    let own = users.filter { $0.isOfSameProcess(as: client) }
    guard !own.isEmpty else { return spokenFor(path, by: client) }
    return own + users.filter { !$0.isOnBus && $0.credentials.user == client.credentials.user }
  }

  /// The programs that use a device, or are about to, and others.
  private func users(of path: String, and others: Set<String> = []) -> [BusClient] {
    (holders[path]?.all ?? []).union(pending[path]).union(others).sorted().compactMap { clients.known($0) }
  }

  /// The programs of the same user that use a device, and others of that user; for root, all.
  private func spokenFor(_ path: String, by client: BusClient, and others: Set<String> = []) -> [BusClient] {
    users(of: path, and: others).filter {
      client.credentials.user == 0 || $0.credentials.user == client.credentials.user
    }
  }

  /// A program no longer uses the link, and bled was notified.
  private func released(_ path: String, _ client: BusClient, reason: LinkEndReason = .local) {
    guard let device = devices[path] else { return }
    for other in remove(client, from: path) {
      if let other = clients.known(other) { LinkRequests.leave(device.key.peripheral, other) }
    }
    settle(path, client, reason: reason)
  }

  private func remove(_ client: BusClient, from path: String) -> Set<String> {
    defer { if !client.isOnBus { kept.forget(path, client) } }
    return holders[path]?.remove(client.name) { clients.known($0)?.isOfSameProcess(as: client) == true } ?? []
  }

  /// Shows that a program's link has ended: to all if no program has one, else to its process.
  private func settle(_ path: String, _ client: BusClient, reason: LinkEndReason) {
    guard isConnected(path) else { return }
    guard let others = holders[path]?.all, !others.isEmpty else { return end(path, reason: reason) }
    if client.isOnBus, !others.contains(where: { clients.known($0)?.isOfSameProcess(as: client) == true }) {
      views.hide(path, from: client)
    }
  }

  private func end(_ path: String, reason: LinkEndReason, isLeaving: Bool = false) {
    holders[path] = nil
    views.forget(path)
    kept.forget(path)
    observers.notify { $0.disconnected(path) }
    devices.set(path, "ServicesResolved", .boolean(false))
    context.tree.emit(
      path, .device, "Disconnected", [.string("org.bluez.Reason." + reason.name), .string(reason.text)])
    devices.set(path, "Connected", .boolean(false))
    resolution.end(path)
    if !isLeaving { observers.notify { $0.ended(path) } }
  }

  // MARK: Events

  /// bled reports that a program's link has ended.
  func ended(_ params: PeripheralDisconnected.Params, _ client: BusClient) {
    for device in devices.all(params.peripheral) where holders[device.path]?.has(client.name) == true {
      // Its call of Disconnect is answered first.
      if leaving.has(device.path, client.name) { continue }
      _ = remove(client, from: device.path)
      settle(device.path, client, reason: LinkEndReason(params.reason?.bluetoothError))
    }
  }

  /// A link of any program is up.
  /// - Parameter isIncoming: true if the device has made it.
  func linkUp(_ peripheral: String, isIncoming: Bool) { foreign.began(peripheral, isIncoming: isIncoming) }

  /// A link of any program has ended.
  func linkDown(_ peripheral: String, _ reason: LinkEndReason) {
    foreign.forget(peripheral)
    visits.ended(peripheral)
    for device in devices.all(peripheral) where holders[device.path]?.isEmpty != false && isConnected(device.path) {
      end(device.path, reason: reason)
    }
  }

  func left(_ client: BusClient) {
    for (path, holder) in holders where holder.has(client.name) {
      let isLast = holder.all == [client.name]
      if isLast, holder.isIdle(client.name) || devices.flag(path, "Trusted"), let device = devices[path] {
        handOver(device, client)
      } else {
        released(path, client)
      }
    }
    views.left(client)
  }

  /// Keeps the link of a program that has left, for the next ones of its user.
  private func handOver(_ device: Device, _ client: BusClient) {
    let path = device.path
    let keeper = kept.keep(path, of: client)
    holders[path]?.connect(keeper.name)
    _ = remove(client, from: path)
    client.hold()
    // The link exists: the keeper makes none of its own.
    let params = PeripheralConnect.Params(
      peripheral: device.key.peripheral, adapter: device.key.adapter, timeout: Self.handOverTimeout)
    keeper.session.call(PeripheralConnect.self, params) { [weak self] result in
      client.release()
      if case .failure = result { self?.released(path, keeper) }
    }
  }

  /// A program's session of bled has ended, and with it its links; the program is still there.
  func lost(_ client: BusClient) {
    for (path, holder) in holders where holder.has(client.name) { released(path, client, reason: .unknown) }
  }

  func leaving(_ device: Device) {
    if isConnected(device.path) { end(device.path, reason: .local, isLeaving: true) }
    holders[device.path] = nil
    views.forget(device.path)
    pending.removeAll(at: device.path)
    leaving.removeAll(at: device.path)
    resolution.end(device.path)
    foreign.forget(device.key.peripheral)
    visits.leaving(device)
  }

  /// The connection to bled is lost, and all links with it.
  func lose() {
    foreign.forgetAll()
    visits.forgetAll()
    for device in devices.all where isConnected(device.path) { end(device.path, reason: .unknown) }
  }
}
