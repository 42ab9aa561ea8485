import Adapter
import BledRPC
import BledSession
import Bluetooth

/// org.bluez on the bus, on top of bled: the calls and signals of the bus and the messages of bled go to the parts that
/// they concern. It does no I/O and belongs to one thread.
package final class Facade {
  let context: Context
  private let standard: StandardInterfaces
  let clients: Clients
  let own: OwnSession
  let adapters: Adapters
  let devices: Devices
  private let reports: Reports
  let discovery: Discovery
  let services: Services
  let links: Links
  private let values: Values
  let notifications: Notifications
  let acquisitions: Acquisitions
  private let removal: Removal
  private let identification: Identification
  let agents: Agents
  let pairing: Pairing
  private let batteries: Batteries
  private let information: Information
  let applications: Applications
  let advertisements: Advertisements
  let monitors: Monitors

  /// The time for which adapters that are starting are waited for.
  static let startTime = Duration.seconds(5)

  /// Whether programs may look: false until bled has told of its adapters, and while these start.
  var isServing = false
  /// Called when programs may look, at first and when bled is there again.
  package var whenServing: () -> Void = {}
  /// Called when bled is gone, or cannot be reached.
  package var whenLost: (BluetoothError) -> Void = { _ in }

  /// Called with lines for the log.
  package var said: (String) -> Void {
    get { context.say }
    set { context.say = newValue }
  }

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
    discovery = Discovery(context, clients, adapters, reports)
    services = Services(context, devices)
    links = Links(context, clients, devices, services)
    let places = AcquiredPlaces(context)
    values = Values(context, links, services, places)
    notifications = Notifications(context, clients, devices, links, services, places)
    acquisitions = Acquisitions(context, links, services, notifications, places)
    removal = Removal(context, devices)
    identification = Identification(devices) { [own] in own.readDevices($0) }
    agents = Agents(context, devices, identification)
    pairing = Pairing(context, adapters, devices, links, readBonds: { [own] in own.readBonds() })
    batteries = Batteries(context, clients, devices, services)
    information = Information(context, devices, services)
    applications = Applications(context, adapters, devices, identification)
    advertisements = Advertisements(context, adapters)
    monitors = Monitors(context, adapters, devices, reports)
    connect()
  }

  private func connect() {
    clients.observer = self
    own.observer = self
    adapters.powerChanged = { [unowned self] in discovery.powerChanged($0) }
    devices.identified = { [unowned self] in own.readBonds() }
    devices.leaving = { [unowned self] device in
      links.leaving(device)
      notifications.leaving(device)
      monitors.leaving(device)
      pairing.leaving(device)
      information.leaving(device)
      services.leaving(device)
    }
    links.resolved = { [unowned self] path, client in
      notifications.resolved(path)
      batteries.resolved(path, by: client)
      information.resolved(path, by: client)
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
    case .device: devices.set(call, name, value, client)
    default: context.fail(call, .readOnly(name))
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
}
