import BledRPC

/// BatteryProviderManager1: the battery levels of devices that programs know, for instance by a protocol of the maker
/// (BlueZ, org.bluez.BatteryProvider). The objects below the registered path each have one device.
final class BatteryProviders: Registry, LinkObserver {
  private static let interface = "org.bluez.BatteryProvider1"
  /// Maximum paths of one program, and objects below each.
  private static let maximum = 64
  /// The longest source in octets.
  private static let longestSource = 248

  private final class Provider {
    let client: BusClient
    let root: String
    /// The path of the adapter.
    let place: String
    /// The devices with shown levels, by the paths of the program's objects.
    var levels: [String: Level] = [:]

    init(_ client: BusClient, _ root: String, place: String) {
      (self.client, self.root, self.place) = (client, root, place)
    }
  }

  private struct Level {
    let device: String
    var percentage: UInt8
    var source: String?
  }

  private let context: Context
  private let batteries: Batteries
  private var providers: [Provider] = []
  var finished: (BusClient) -> Void = { _ in }

  init(_ context: Context, _ batteries: Batteries) {
    self.context = context
    self.batteries = batteries
  }

  func has(_ client: BusClient) -> Bool { providers.contains { $0.client === client } }

  private func index(_ root: String, _ client: BusClient) -> Int? {
    providers.firstIndex { $0.client === client && $0.root == root }
  }

  func register(_ call: BusCall, _ client: BusClient) {
    guard let root = call.arguments[0].path else { return context.fail(call, .invalidArguments) }
    // Nothing is stored for a program that may not use devices.
    client.require(.connect) { [weak self, context] result in
      guard let self, case .success = result, !client.isClosed else { return context.finish(call, result) }
      guard index(root, client) == nil else { return context.fail(call, .alreadyExists) }
      guard providers.count(where: { $0.client === client }) < Self.maximum else {
        return context.fail(call, .limitsExceeded("a program can register \(Self.maximum) battery providers"))
      }
      let provider = Provider(client, root, place: call.path)
      providers.append(provider)
      context.bus.watch(client.name, true)
      context.reply(call)
      client.call(root, Interface.objectManager.rawValue, "GetManagedObjects") { [weak self] answer in
        guard let self, case .success(let values) = answer, let objects = try? ManagedObjects(values) else { return }
        for object in objects.objects { add(object.path, object.interfaces, provider) }
      }
    }
  }

  func unregister(_ call: BusCall, _ client: BusClient) {
    guard let index = call.arguments[0].path.flatMap({ index($0, client) }) else {
      return context.fail(call, .doesNotExist)
    }
    end(providers.remove(at: index))
    finished(client)
    context.reply(call)
  }

  private func end(_ provider: Provider) {
    for level in provider.levels.values { batteries.withdraw(level.device) }
  }

  private func add(_ path: String, _ interfaces: [String: [String: BusValue]], _ provider: Provider) {
    guard let properties = interfaces[Self.interface], provider.levels[path] == nil,
      providers.contains(where: { $0 === provider }), provider.levels.count < Self.maximum,
      let device = properties["Device"]?.path, device.utf8.starts(with: (provider.place + "/").utf8)
    else { return }
    var level = Level(device: device, percentage: 0)
    guard Self.read(properties, into: &level), batteries.provide(device, level.percentage, source: level.source) else {
      return
    }
    provider.levels[path] = level
  }

  /// - Returns: true if there is a level.
  private static func read(_ properties: [String: BusValue], into level: inout Level) -> Bool {
    if let source = properties["Source"]?.string, source.utf8.count <= longestSource { level.source = source }
    guard case .byte(let percentage)? = properties["Percentage"] else { return false }
    level.percentage = percentage
    return true
  }

  // MARK: Events

  /// A program's object was added, changed or removed.
  func signalled(_ signal: BusSignal, _ client: BusClient) {
    for provider in providers where provider.client === client {
      switch (signal.interface, signal.member) {
      case (Interface.objectManager.rawValue, "InterfacesAdded"): added(signal, provider)
      case (Interface.objectManager.rawValue, "InterfacesRemoved"): removed(signal, provider)
      case (Interface.properties.rawValue, "PropertiesChanged"): changed(signal, provider)
      default: break
      }
    }
  }

  private func added(_ signal: BusSignal, _ provider: Provider) {
    guard signal.arguments.count == 2, let path = signal.arguments[0].path, isBelow(path, provider.root) else { return }
    add(path, ManagedObjects.interfaces(signal.arguments[1]), provider)
  }

  private func removed(_ signal: BusSignal, _ provider: Provider) {
    guard signal.arguments.count == 2, let path = signal.arguments[0].path,
      signal.arguments[1].strings?.contains(Self.interface) == true
    else { return }
    if let level = provider.levels.removeValue(forKey: path) { batteries.withdraw(level.device) }
  }

  private func changed(_ signal: BusSignal, _ provider: Provider) {
    guard signal.arguments.count == 3, signal.arguments[0].string == Self.interface,
      var level = provider.levels[signal.path]
    else { return }
    _ = Self.read(ManagedObjects.properties(signal.arguments[1]), into: &level)
    provider.levels[signal.path] = level
    batteries.change(level.device, level.percentage, source: level.source)
  }

  private func isBelow(_ path: String, _ root: String) -> Bool {
    root == "/" || path == root || path.utf8.starts(with: (root + "/").utf8)
  }

  /// A device is disconnected: a program has to provide its level again.
  func disconnected(_ device: String) {
    for provider in providers { provider.levels = provider.levels.filter { $0.value.device != device } }
  }

  func left(_ client: BusClient) { end { $0.client === client } }

  func lost(_ adapter: String) {
    let clients = providers.filter { $0.place == adapter }.map(\.client)
    end { $0.place == adapter }
    for client in clients { finished(client) }
  }

  private func end(_ isMeant: (Provider) -> Bool) {
    let ended = providers.filter(isMeant)
    providers.removeAll(where: isMeant)
    for provider in ended { end(provider) }
  }
}
