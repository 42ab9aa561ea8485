import BledRPC
import Bluetooth

/// AdvertisementMonitorManager1: passive scans. Each program's monitors share one scan, in a session of their own
/// beside its discovery's.
final class Monitors: Registry, DeviceObserver {
  private static let interface = "org.bluez.AdvertisementMonitor1"
  /// Maximum monitors below one path, and paths of one program.
  private static let maximum = 64

  /// Maximum filters of one scan of bled.
  private static let maximumFilters = 16

  private struct Entry {
    let monitor: Monitor
    /// The found devices, each with the last time at which it was strong enough.
    var found: [String: Instant] = [:]
    /// The devices that are strong enough to be found, each with the start of that time.
    var strong: [String: Instant] = [:]
  }

  /// The monitors of one program below one path.
  private final class Registration {
    let client: BusClient
    let root: String
    /// The path of the adapter, and bled's name of it.
    let place: String
    let adapter: String
    var entries: [String: Entry] = [:]

    init(_ client: BusClient, _ root: String, place: String, adapter: String) {
      (self.client, self.root, self.place, self.adapter) = (client, root, place, adapter)
    }
  }

  private let context: Context
  private let adapters: Adapters
  private let devices: Devices
  private let reports: Reports
  private var registrations: [Registration] = []
  private var sweep: (any ScheduledWork)?

  var finished: (BusClient) -> Void = { _ in }

  init(_ context: Context, _ adapters: Adapters, _ devices: Devices, _ reports: Reports) {
    self.context = context
    self.adapters = adapters
    self.devices = devices
    self.reports = reports
  }

  func has(_ client: BusClient) -> Bool { registrations.contains { $0.client === client } }

  func unregister(_ call: BusCall, _ client: BusClient) {
    guard let index = call.arguments[0].path.flatMap({ index($0, client) }) else {
      return context.fail(call, .doesNotExist)
    }
    registrations.remove(at: index)
    scan(client)
    finished(client)
    context.reply(call)
  }

  private func index(_ root: String, _ client: BusClient) -> Int? {
    registrations.firstIndex { $0.client === client && $0.root == root }
  }

  func register(_ call: BusCall, _ client: BusClient) {
    guard let root = call.arguments[0].path else { return context.fail(call, .invalidArguments) }
    guard index(root, client) == nil else { return context.fail(call, .alreadyExists) }
    guard let adapter = adapters.adapter(at: call.path) else { return context.fail(call, .doesNotExist) }
    guard hasRoom(client) else { return context.fail(call, Self.full) }
    // Nothing is stored for a program that may not scan.
    client.require(.scan, for: .monitoring) { [weak self, context] result in
      guard let self, case .success = result else {
        if self?.has(client) == false { client.endMonitoring() }
        return context.finish(call, result)
      }
      // Its session may be held while it has left.
      guard !client.isClosed else {
        client.endMonitoring()
        return context.fail(call, .doesNotExist)
      }
      guard hasRoom(client) else { return context.fail(call, Self.full) }
      guard index(root, client) == nil else { return context.fail(call, .alreadyExists) }
      register(call, root, client, adapter)
    }
  }

  private static var full: BusError { .limitsExceeded("a program can register \(maximum) roots of monitors") }

  private func hasRoom(_ client: BusClient) -> Bool {
    registrations.count { $0.client === client } < Self.maximum
  }

  private func register(_ call: BusCall, _ root: String, _ client: BusClient, _ adapter: String) {
    let registration = Registration(client, root, place: call.path, adapter: adapter)
    registrations.append(registration)
    context.bus.watch(client.name, true)
    context.reply(call)
    // Programs export their monitors before this call, or after its answer: then InterfacesAdded reports them.
    client.call(root, Interface.objectManager.rawValue, "GetManagedObjects") { [weak self] answer in
      guard let self, case .success(let values) = answer, let objects = try? ManagedObjects(values) else { return }
      for object in objects.objects { add(object.path, object.interfaces, registration) }
    }
  }

  private func add(_ path: String, _ interfaces: [String: [String: BusValue]], _ registration: Registration) {
    guard let properties = interfaces[Self.interface], registration.entries[path] == nil,
      registrations.contains(where: { $0 === registration }), registration.entries.count < Self.maximum
    else { return }
    let client = registration.client
    guard let monitor = try? Monitor(properties) else { return callMonitor(client, path, "Release") }
    registration.entries[path] = Entry(monitor: monitor)
    scan(client) { [weak self] result in
      if case .failure = result {
        registration.entries[path] = nil
        self?.callMonitor(client, path, "Release")
      } else {
        self?.callMonitor(client, path, "Activate")
      }
    }
  }

  private func callMonitor(_ client: BusClient, _ path: String, _ method: String, _ values: [BusValue] = []) {
    client.call(path, Self.interface, method, values)
  }

  /// Gives bled the filters of a program's monitors.
  private func scan(_ client: BusClient, _ completion: @escaping (Result<Void, BluetoothError>) -> Void = { _ in }) {
    let own = registrations.filter { $0.client === client && !$0.entries.isEmpty }
    guard let adapter = own.first?.adapter else { return client.endMonitoring() }
    let filters = own.flatMap { $0.entries.values.flatMap(\.monitor.filters) }
    client.monitoring.call(
      ScanStart.self,
      ScanStart.Params(
        adapter: own.allSatisfy { $0.adapter == adapter } ? adapter : nil, duplicates: true, active: false,
        filters: filters.count > Self.maximumFilters ? nil : filters)
    ) { completion($0.map { _ in }) }
    armSweep()
  }

  // MARK: Events

  /// A program's object was added or removed.
  func signalled(_ signal: BusSignal, _ client: BusClient) {
    guard signal.interface == Interface.objectManager.rawValue, signal.arguments.count == 2,
      let path = signal.arguments[0].path
    else { return }
    for registration in registrations where registration.client === client && Self.isBelow(path, registration.root) {
      if signal.member == "InterfacesAdded" {
        add(path, ManagedObjects.interfaces(signal.arguments[1]), registration)
      } else if signal.arguments[1].strings?.contains(Self.interface) == true {
        registration.entries[path] = nil
        scan(client)
      }
    }
  }

  private static func isBelow(_ path: String, _ root: String) -> Bool {
    root == "/" || path == root || path.utf8.starts(with: (root + "/").utf8)
  }

  /// A report of a program's passive scan.
  func received(_ report: ScanReport.Params, by client: BusClient) {
    reports.report(report, duplicates: nil)
    let key = Device.Key(peripheral: report.peripheral, adapter: report.adapter)
    guard let path = devices.path(key) else { return }
    let data = AdvertisingData(parsing: report.data.octets)
    for registration in registrations where registration.client === client && registration.adapter == report.adapter {
      for (place, entry) in registration.entries where entry.monitor.matches(data) {
        found(path, report.rssi, registration, place, entry)
      }
    }
  }

  private func found(_ device: String, _ rssi: Int?, _ registration: Registration, _ place: String, _ entry: Entry) {
    let now = context.clock.now
    if entry.found[device] != nil {
      if isStrong(rssi, entry.monitor.low) { registration.entries[place]?.found[device] = now }
    } else if isStrong(rssi, entry.monitor.high) {
      let since = entry.strong[device] ?? now
      registration.entries[place]?.strong[device] = since
      guard since.duration(to: now) >= entry.monitor.highTimeout else { return }
      registration.entries[place]?.found[device] = now
      callMonitor(registration.client, place, "DeviceFound", [.path(device)])
    } else {
      registration.entries[place]?.strong[device] = nil
    }
  }

  private func isStrong(_ rssi: Int?, _ threshold: Int?) -> Bool {
    threshold.map { least in rssi.map { $0 >= least } ?? false } ?? true
  }

  private func armSweep() {
    guard sweep == nil, registrations.contains(where: { $0.entries.values.contains { $0.monitor.low != nil } }) else {
      return
    }
    sweep = context.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      sweep = nil
      loseSilent()
      armSweep()
    }
  }

  private func loseSilent() {
    for registration in registrations {
      for (place, entry) in registration.entries where entry.monitor.low != nil {
        let limit = context.clock.now.advanced(by: .zero - entry.monitor.lowTimeout)
        for (device, time) in entry.found where time < limit {
          registration.entries[place]?.found[device] = nil
          registration.entries[place]?.strong[device] = nil
          callMonitor(registration.client, place, "DeviceLost", [.path(device)])
        }
      }
    }
  }

  /// bled is available again.
  func resume(_ client: BusClient) { if has(client) { scan(client) } }

  func leaving(_ device: Device) {
    for registration in registrations {
      for place in registration.entries.keys {
        registration.entries[place]?.found[device.path] = nil
        registration.entries[place]?.strong[device.path] = nil
      }
    }
  }

  func lost(_ adapter: String) {
    let gone = registrations.filter { $0.place == adapter }
    registrations.removeAll { $0.place == adapter }
    for registration in gone {
      for place in registration.entries.keys { callMonitor(registration.client, place, "Release") }
      scan(registration.client)
      finished(registration.client)
    }
  }

  func left(_ client: BusClient) { registrations.removeAll { $0.client === client } }
}
