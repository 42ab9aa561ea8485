import Adapter
import BledRPC
import BledSession
import Bluetooth

/// org.bluez on the bus, on top of bled: the calls and signals of the bus and the messages of bled go to the parts that
/// they concern. It does no I/O and belongs to one thread.
package final class Facade {
  private let context: Context
  private let standard: StandardInterfaces
  private let clients: Clients
  private let own: OwnSession
  private let adapters: Adapters
  private let devices: Devices
  private let reports: Reports
  private let discovery: Discovery
  private let services: Services
  private let links: Links
  private let values: Values
  private let notifications: Notifications
  private let acquisitions: Acquisitions
  private let removal: Removal
  private let identification: Identification
  private let agents: Agents
  private let pairing: Pairing
  private let batteries: Batteries
  private let applications: Applications
  private let advertisements: Advertisements
  private let monitors: Monitors

  /// The time for which adapters that are starting are waited for.
  private static let startTime = Duration.seconds(5)

  /// Whether programs may look: false until bled has told of its adapters, and while these start.
  private var isServing = false
  /// Called when programs may look, at first and when bled is there again.
  package var whenServing: () -> Void = {}
  /// Called when bled is gone, or cannot be reached.
  package var whenLost: (BluetoothError) -> Void = { _ in }

  /// Called with the settings of all devices after a change.
  package var settingsChanged: ([String: DeviceSettings]) -> Void {
    get { devices.settingsChanged }
    set { devices.settingsChanged = newValue }
  }

  /// - Parameters:
  ///   - machine: the machine's identifier, 32 hex digits (machine-id(5)).
  ///   - settings: as `settingsChanged` was given them the last time.
  package init(
    bus: any Bus, clock: any Scheduler, connector: any DaemonConnector, sockets: any PacketSocketOpener,
    machine: String, settings: [String: DeviceSettings]
  ) {
    context = Context(bus: bus, clock: clock, connector: connector, sockets: sockets)
    standard = StandardInterfaces(machine: machine)
    clients = Clients(context)
    own = OwnSession(context)
    adapters = Adapters(context)
    devices = Devices(context, adapters, settings: settings)
    reports = Reports(context, devices)
    discovery = Discovery(context, adapters, reports)
    services = Services(context, devices)
    links = Links(context, clients, devices, services)
    values = Values(context, links, services)
    notifications = Notifications(context, clients, devices, links, services)
    acquisitions = Acquisitions(context, links, services, notifications)
    removal = Removal(context, devices)
    identification = Identification(devices) { [own] in own.readDevices($0) }
    agents = Agents(context, devices, identification)
    pairing = Pairing(context, adapters, devices, links, readBonds: { [own] in own.readBonds() })
    batteries = Batteries(context, clients, devices, services)
    applications = Applications(context, adapters, devices, identification)
    advertisements = Advertisements(context, adapters)
    monitors = Monitors(context, adapters, devices, reports)
    connect()
  }

  private func connect() {
    clients.observer = self
    own.observer = self
    devices.leaving = { [unowned self] device in
      links.leaving(device)
      notifications.leaving(device)
      monitors.leaving(device)
      pairing.leaving(device)
      services.leaving(device)
    }
    links.resolved = { [unowned self] path, client in
      notifications.resolved(path)
      batteries.resolved(path, by: client)
    }
    links.disconnected = { [unowned self] path in
      notifications.disconnected(path)
      acquisitions.disconnected(path)
      batteries.disconnected(path)
    }
    applications.finished = { [unowned self] in unwatch($0) }
    advertisements.finished = { [unowned self] in unwatch($0) }
    monitors.finished = { [unowned self] in unwatch($0) }
    values.told = { [unowned self] in batteries.value($0, $1) }
    notifications.told = { [unowned self] in batteries.value($0, $1) }
  }

  /// Begins to serve.
  package func start() {
    context.tree.add("/org/bluez", [(.agentManager, []), (.profileManager, [])])
    _ = context.tree.flush()
    own.start()
  }

  /// Ends all sessions of bled.
  package func close() {
    own.close()
    for client in clients.all { client.close() }
  }

  // MARK: From the bus

  /// A program calls a method. It is answered once, now or later.
  package func handle(_ call: BusCall) {
    context.flush()
    switch standard.handle(call, context.tree) {
    case .reply(let values): context.bus.reply(call, values)
    case .fail(let error): context.bus.fail(call, error)
    case .set(let interface, let name, let value):
      withClient(call) { [unowned self] in set(call, interface, name, value, $0) }
    case .other: dispatch(call)
    }
  }

  /// A program that is watched has sent a signal.
  package func handle(_ signal: BusSignal) {
    guard let client = clients.known(signal.sender) else { return }
    applications.signalled(signal, client)
    advertisements.signalled(signal, client)
    monitors.signalled(signal, client)
    context.flush()
  }

  /// The users of the programs that call.
  package var callers: Callers { clients.callers }

  /// A program has left the bus.
  package func left(_ name: String) { clients.left(name) }

  private func withClient(_ call: BusCall, _ work: @escaping (BusClient) -> Void) {
    clients.withClient(call.sender) { [context] client in
      guard let client else {
        return context.fail(call, .limitsExceeded("too many calls wait, or the bus does not know the caller's user"))
      }
      work(client)
      context.flush()
    }
  }

  private func dispatch(_ call: BusCall) {
    guard let interfaces = context.tree.interfaces(of: call.path) else {
      return context.fail(call, .unknownObject(call.path))
    }
    let candidates = call.interface.map { name in interfaces.filter { $0.rawValue == name } } ?? interfaces
    guard
      let interface = candidates.first(where: { $0.description.method(call.member) != nil }),
      interface.description.method(call.member)?.types == call.signature
    else { return context.fail(call, .unknownMethod(call)) }
    withClient(call) { [unowned self] in perform(call, interface, $0) }
  }

  private func perform(_ call: BusCall, _ interface: Interface, _ client: BusClient) {
    // While its user was asked for, the object may have gone.
    guard context.tree.has(call.path, interface) else { return context.fail(call, .unknownObject(call.path)) }
    switch interface {
    case .adapter: adapter(call, client)
    case .device: device(call, client)
    case .characteristic, .descriptor: attribute(call, client)
    case .agentManager: agents.handle(call, client)
    case .gattManager: applications.handle(call, client)
    case .advertisingManager: advertisements.handle(call, client)
    case .monitorManager: monitors.handle(call, client)
    default: context.fail(call, .notSupported)
    }
  }

  private func adapter(_ call: BusCall, _ client: BusClient) {
    switch call.member {
    case "RemoveDevice":
      removal.remove(call, client) { [links] in links.disconnectAll($0, $1, $2) }
    case "ConnectDevice":
      guard adapters.isOn(call.path), let adapter = adapters.adapter(at: call.path) else {
        return context.fail(call, .notReady)
      }
      links.connectDevice(call, adapter: adapter, client)
    default: discovery.handle(call, by: client)
    }
  }

  private func device(_ call: BusCall, _ client: BusClient) {
    switch call.member {
    case "Connect": links.connect(call, client)
    case "Disconnect": links.disconnect(call, client)
    case "Pair": pairing.pair(call, client)
    case "CancelPairing": pairing.cancel(call, client)
    case "ConnectProfile", "DisconnectProfile": context.fail(call, .notAvailable)
    default: context.fail(call, .notSupported)
    }
  }

  private func attribute(_ call: BusCall, _ client: BusClient) {
    switch call.member {
    case "ReadValue": values.read(call, client)
    case "WriteValue": values.write(call, client)
    case "StartNotify": notifications.start(call, client)
    case "StopNotify": notifications.stop(call, client)
    case "AcquireWrite", "AcquireNotify": acquisitions.acquire(call, client)
    default: context.fail(call, .notSupported)
    }
  }

  private func set(_ call: BusCall, _ interface: Interface, _ name: String, _ value: BusValue, _ client: BusClient) {
    switch interface {
    case .adapter: adapters.set(call.path, name, value, by: client) { [context] in context.finish(call, $0) }
    case .device: setDevice(call, name, value, client)
    default:
      context.tree.set(call.path, interface, name, value)
      context.reply(call)
    }
  }
}

extension Facade {
  /// The signals of a program are not wanted if nothing of it is registered.
  private func unwatch(_ client: BusClient) {
    if !applications.has(client), !advertisements.has(client), !monitors.has(client) {
      context.bus.watch(client.name, false)
    }
  }

  private func setDevice(_ call: BusCall, _ name: String, _ value: BusValue, _ client: BusClient) {
    switch (name, value) {
    case ("Trusted", .boolean(let isTrusted)): devices.trust(call.path, isTrusted)
    case ("Alias", .string(let alias)): devices.rename(call.path, alias)
    case ("Blocked", .boolean(let isOn)): return devices.block(call, isOn, client)
    default: context.tree.set(call.path, .device, name, value)
    }
    context.reply(call)
  }
}

extension Facade: ClientObserver {
  func notified(_ client: BusClient, _ name: String, _ message: RPCMessage) {
    switch name {
    case ScanReport.name:
      if let report = try? message.params(ScanReport.Params.self) { discovery.heard(report, by: client) }
    case GATTValue.name:
      if let value = try? message.params(GATTValue.Params.self) { notifications.value(value, client) }
    case GATTSubscriptionLost.name:
      if let lost = try? message.params(GATTSubscriptionLost.Params.self) { notifications.lost(lost, client) }
    case GATTServicesChanged.name:
      guard let change = try? message.params(GATTServicesChanged.Params.self) else { return }
      for device in devices.all(change.peripheral) { links.servicesChanged(device.path, client) }
    case PeripheralDisconnected.name:
      if let end = try? message.params(PeripheralDisconnected.Params.self) { links.ended(end, client) }
    case GATTReleased.name:
      guard let release = try? message.params(GATTReleased.Params.self) else { return }
      for device in devices.all(release.peripheral) { acquisitions.released(release, client, at: device.path) }
    case PeripheralParametersChanged.name: pairing.linkChanged()
    case ServerSubscribed.name, ServerUnsubscribed.name:
      guard let subscriber = try? message.params(Subscriber.self) else { return }
      applications.subscribed(subscriber, name == ServerSubscribed.name, client)
    case AdvertisingChanged.name:
      if let change = try? message.params(AdvertisingChanged.Params.self) { advertisements.changed(change, client) }
    case ServerReady.name: applications.ready(client)
    case PairingShowPasskey.name:
      if let show = try? message.params(PairingShowPasskey.Params.self) { agents.show(show, client) }
    case PairingEnded.name:
      if let end = try? message.params(PairingEnded.Params.self) { agents.ended(end, client) }
      own.readBonds()
    default: break
    }
  }

  func asked(_ client: BusClient, _ id: RequestID, _ method: String, _ message: RPCMessage) {
    if method == PairingConfirm.name, let params = try? message.params(PairingConfirm.Params.self) {
      return agents.confirm(params, id, client)
    }
    if method == PairingEnterPasskey.name, let params = try? message.params(PairingEnterPasskey.Params.self) {
      return agents.enter(params, id, client)
    }
    if method == ServerRead.name, let params = try? message.params(ServerRead.Params.self) {
      return applications.read(params, id, client)
    }
    if method == ServerWrite.name, let params = try? message.params(ServerWrite.Params.self) {
      return applications.write(params, id, client)
    }
    client.session.refuse(
      id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
  }

  func monitored(_ client: BusClient, _ name: String, _ message: RPCMessage) {
    guard name == ScanReport.name, let report = try? message.params(ScanReport.Params.self) else { return }
    monitors.heard(report, by: client)
  }

  func left(_ client: BusClient) {
    discovery.left(client)
    notifications.left(client)
    acquisitions.left(client)
    agents.left(client)
    applications.left(client)
    advertisements.left(client)
    monitors.left(client)
    context.bus.watch(client.name, false)
    links.left(client)
  }
}

extension Facade: OwnSessionObserver {
  func began(_ adapters: [AdapterDescription]) {
    listed(adapters)
    _ = context.schedule(after: Self.startTime) { [weak self] in self?.serve() }
    for client in clients.all {
      resume(client, .everything)
      resume(client, .monitoring)
    }
  }

  private func resume(_ client: BusClient, _ purpose: BusClient.Purpose) {
    switch purpose {
    case .everything:
      discovery.resume(client)
      agents.resume(client)
      applications.resume(client)
      advertisements.resume(client)
    case .monitoring: monitors.resume(client)
    }
  }

  func lost(_ client: BusClient, _ purpose: BusClient.Purpose) {
    if purpose == .everything {
      notifications.lost(client)
      links.lost(client)
    }
    // With bled itself, all of them are resumed as soon as it is there again.
    _ = context.schedule(after: .seconds(1)) { [weak self] in
      guard let self, own.isReady, clients.known(client.name) === client else { return }
      resume(client, purpose)
    }
  }

  func listed(_ adapters: [AdapterDescription]) {
    for adapter in adapters { self.adapters.update(adapter) }
    context.flush()
    if !adapters.contains(where: { $0.state == "starting" }) { serve() }
  }

  private func serve() {
    guard !isServing else { return }
    isServing = true
    whenServing()
  }

  func listed(_ peripherals: [PeripheralList.Entry]) {
    for entry in peripherals where entry.state == "connected" || entry.blocked == true {
      let key = Device.Key(peripheral: entry.peripheral, adapter: entry.adapter)
      let path = devices.add(key, address: entry.address, addressType: entry.addressType.text)
      if let path, entry.blocked == true { devices.set(path, "Blocked", .boolean(true)) }
      if entry.state == "connected" { links.linkChanged(entry.peripheral, isLinked: true) }
    }
  }

  func listed(_ bonds: [BondDescription]) { pairing.update(bonds) }

  func changed(_ adapter: AdapterDescription) {
    let path = adapters.path(of: adapter.adapter)
    if adapter.state == "absent", let path {
      devices.remove(of: adapter.adapter)
      discovery.lost(path)
      applications.lost(path)
      advertisements.lost(path)
      monitors.lost(path)
    }
    adapters.update(adapter)
    if adapter.state != "starting", !isServing { own.readAdapters() }
  }

  func linkChanged(_ change: PeripheralLinkChanged.Params) {
    // A device that has connected to this machine has no object yet.
    if change.linked, devices.all(change.peripheral).isEmpty { own.readDevices() }
    links.linkChanged(change.peripheral, isLinked: change.linked)
    // The device may have paired of its own accord.
    if !change.linked { own.readBonds() }
  }

  func lost(_ error: BluetoothError) {
    isServing = false
    links.lose()
    adapters.lose()
    whenLost(error)
  }
}
