import BledConnection
import BledRPC
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
  let values: Values
  let notifications: Notifications
  let acquisitions: Acquisitions
  let removal: Removal
  private let identification: Identification
  let agents: Agents
  let pairing: Pairing
  private let batteries: Batteries
  let batteryProviders: BatteryProviders
  private let information: Information
  let applications: Applications
  let autoConnections: AutoConnections
  let advertisements: Advertisements
  let monitors: Monitors

  /// Timeout for adapters that are starting.
  static let startTime = Duration.seconds(5)

  /// False until bled has reported its adapters and they have started.
  var isServing = false
  /// Called when programs are served, at first and when bled is available again.
  package var whenServing: () -> Void = {}
  /// Called when the connection to bled is lost, or cannot be made.
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
  ///   - host: its name (hostname(7)).
  ///   - settings: as `settingsChanged` was given them the last time.
  package init(
    bus: any Bus, clock: any Scheduler, connector: any DaemonConnector, sockets: any PacketSocketOpener,
    machine: String, host: String, settings: [String: DeviceSettings]
  ) {
    context = Context(bus: bus, clock: clock, connector: connector, sockets: sockets)
    standard = StandardInterfaces(machine: machine)
    clients = Clients(context)
    own = OwnSession(context)
    adapters = Adapters(context, host: host)
    devices = Devices(context, adapters, settings: settings)
    reports = Reports(context, devices)
    discovery = Discovery(context, clients, adapters, reports)
    services = Services(context, devices)
    links = Links(context, clients, own, devices, services)
    batteries = Batteries(context, devices, services)
    let places = AcquiredPlaces(context)
    values = Values(context, links, services, places, batteries)
    notifications = Notifications(context, clients, devices, links, services, places, batteries)
    acquisitions = Acquisitions(context, links, services, notifications, places)
    removal = Removal(context, devices, links)
    identification = Identification(devices) { [own] in own.readDevices($0) }
    agents = Agents(context, devices, identification)
    pairing = Pairing(context, adapters, devices, links, readBonds: { [own] in own.readBonds() })
    batteryProviders = BatteryProviders(context, batteries)
    information = Information(context, devices, services)
    applications = Applications(context, adapters, devices, identification)
    autoConnections = AutoConnections(context, devices, links, applications)
    advertisements = Advertisements(context, adapters)
    monitors = Monitors(context, adapters, devices, reports)
    connect()
  }

  private func connect() {
    clients.observer = self
    own.observer = self
    links.observers = LinkObservers([
      notifications, acquisitions, batteries, batteryProviders, information, autoConnections,
    ])
    devices.observers = DeviceObservers([
      links, notifications, monitors, pairing, information, services, autoConnections,
    ])
    for registry in registries { registry.finished = { [unowned self] in unwatch($0) } }
    devices.identified = { [own] in own.readBonds() }
    adapters.powerChanged = { [unowned self] in discovery.powerChanged($0) }
    reports.heard = { [unowned self] in autoConnections.discovered($0) }
  }

  /// The parts at which programs register objects of their own.
  var registries: [any Registry] { [applications, advertisements, monitors, batteryProviders] }

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
    case .set(let property, let value):
      withClient(call) { [unowned self] in
        property.setter?(self, PropertyChange(call: call, name: property.name, value: value, client: $0))
      }
    case .other: dispatch(call)
    }
  }

  /// A program that is watched has sent a signal.
  package func handle(_ signal: BusSignal) {
    guard let client = clients.known(signal.sender) else { return }
    for registry in registries { registry.signalled(signal, client) }
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
    guard let interface = candidates.first(where: { $0.description.method(call.member) != nil }),
      let method = interface.description.method(call.member), method.types == call.signature
    else { return context.fail(call, .unknownMethod(call)) }
    withClient(call) { [unowned self] client in
      // The object may have been removed while its user was determined.
      guard context.tree.has(call.path, interface) else { return context.fail(call, .unknownObject(call.path)) }
      method.handler?(self, call, client)
    }
  }

  func connectDevice(_ call: BusCall, _ client: BusClient) {
    guard adapters.isOn(call.path), let adapter = adapters.adapter(at: call.path) else {
      return context.fail(call, .notReady)
    }
    links.connectDevice(call, adapter: adapter, client)
  }
}

extension Facade {
  /// The signals of a program are not needed without a registration.
  private func unwatch(_ client: BusClient) {
    if !registries.contains(where: { $0.has(client) }) { context.bus.watch(client.name, false) }
  }
}
