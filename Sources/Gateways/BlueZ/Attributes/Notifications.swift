import BledRPC
import Bluetooth

/// StartNotify and StopNotify. Each program has its own subscription in its session of bled; each value is sent once,
/// to all.
final class Notifications: LinkObserver, DeviceObserver {
  private let context: Context
  private let clients: Clients
  private let devices: Devices
  private let links: Links
  private let services: Services
  private let places: AcquiredPlaces
  private let batteries: Batteries
  /// The subscribed programs of each characteristic. They stay subscribed while the device is disconnected.
  private var subscribers: [String: Subscribers] = [:]

  init(
    _ context: Context, _ clients: Clients, _ devices: Devices, _ links: Links, _ services: Services,
    _ places: AcquiredPlaces, _ batteries: Batteries
  ) {
    self.context = context
    self.clients = clients
    self.devices = devices
    self.links = links
    self.services = services
    self.places = places
    self.batteries = batteries
  }

  /// True if a program of the same user is subscribed.
  func has(_ path: String, for client: BusClient) -> Bool {
    subscribers[path]?.names.contains { clients.known($0)?.credentials.user == client.credentials.user } == true
  }

  func start(_ call: BusCall, _ client: BusClient) {
    guard let attribute = services[call.path], case .characteristic(let properties) = attribute.kind else {
      return context.fail(call, .doesNotExist)
    }
    guard properties.contains(.notify) || properties.contains(.indicate) else {
      return context.fail(call, .notSupported)
    }
    if isSubscribed(call.path, client) { return context.reply(call) }
    // The place is claimed once bled has permitted the program to use the device.
    guard links.isConnected(attribute.device) else {
      return client.require(.connect) { [weak self, context] result in
        if case .failure(let error) = result { return context.fail(call, error) }
        guard let self, claim(call, client) else { return }
        context.reply(call)
        // The device may have been connected meanwhile; if its services are not known yet, `resolved` follows.
        let device = attribute.device
        if links.isConnected(device), devices.flag(device, "ServicesResolved") {
          goOn(call.path, attribute, device, client)
        }
      }
    }
    links.use(attribute.device, client) { [weak self, context] used in
      guard let self else { return }
      switch used {
      case .failure(let error): context.fail(call, error)
      case .success(let device):
        if isSubscribed(call.path, client) { return context.reply(call) }
        guard claim(call, client) else { return }
        subscribe(call.path, attribute, device, client) { [weak self] result in
          if case .failure = result { self?.remove(call.path, client.name) }
          context.finish(call, result)
        }
      }
    }
  }

  private func isSubscribed(_ path: String, _ client: BusClient) -> Bool {
    subscribers[path]?.names.contains(client.name) == true
  }

  /// Adds a program to the subscribers, or fails its call.
  private func claim(_ call: BusCall, _ client: BusClient) -> Bool {
    guard clients.known(client.name) != nil, services[call.path] != nil else {
      context.fail(call, .doesNotExist)
      return false
    }
    guard !places.isTaken(call.path, .values, for: client) else {
      context.fail(call, .notPermitted("Notify acquired"))
      return false
    }
    if !isSubscribed(call.path, client) { subscribers[call.path, default: Subscribers()].add(client.name) }
    return true
  }

  private func subscribe(
    _ path: String, _ attribute: Attribute, _ device: Device, _ client: BusClient,
    _ completion: @escaping (Result<Void, BusError>) -> Void
  ) {
    client.session.call(
      GATTSubscribe.self, GATTSubscribe.Params(peripheral: device.key.peripheral, handle: attribute.handle)
    ) { [weak self, context] result in
      if case .success = result {
        self?.subscribers[path]?.begin(client.name)
        context.tree.set(path, .characteristic, "Notifying", .boolean(true))
      }
      completion(result.map { _ in }.mapError { BusError($0, otherwise: .failed($0.message)) })
    }
  }

  func stop(_ call: BusCall, _ client: BusClient) {
    guard let attribute = services[call.path], let device = devices[attribute.device] else {
      return context.fail(call, .doesNotExist)
    }
    guard subscribers[call.path]?.names.contains(client.name) == true else {
      return context.fail(call, .failed("No notify session started"))
    }
    remove(call.path, client.name)
    guard links.isConnected(attribute.device) else { return context.reply(call) }
    client.session.call(
      GATTUnsubscribe.self, AttributeReference(peripheral: device.key.peripheral, handle: attribute.handle)
    ) { [context] _ in context.reply(call) }
  }

  private func remove(_ path: String, _ name: String) {
    signal(path, subscribers[path]?.remove(name) ?? [])
    guard subscribers[path]?.names.isEmpty != false else { return }
    subscribers[path] = nil
    context.tree.set(path, .characteristic, "Notifying", .boolean(false))
  }

  // MARK: Events

  /// A value was received in a program's session.
  func value(_ params: GATTValue.Params, _ client: BusClient) {
    for device in devices.all(params.peripheral) {
      guard let path = services.path(device.path, params.handle) else { continue }
      signal(path, subscribers[path]?.received(params.value.octets, params.serial, by: client.name) ?? [])
    }
  }

  private func signal(_ path: String, _ values: [[UInt8]]) {
    for value in values {
      if let attribute = services[path] { batteries.value(attribute, value) }
      context.tree.signal(path, .characteristic, "Value", .bytes(value))
    }
  }

  /// A program's session of bled has ended, while the program is still there.
  func lost(_ client: BusClient) {
    for path in subscribers.keys { signal(path, subscribers[path]?.end(client.name) ?? []) }
  }

  /// bled ended a subscription.
  func lost(_ params: GATTSubscriptionLost.Params, _ client: BusClient) {
    for device in devices.all(params.peripheral) {
      if let path = services.path(device.path, params.handle) { remove(path, client.name) }
    }
  }

  /// The earlier subscriptions continue.
  func resolved(_ device: String, by user: any SessionHolder) {
    for (path, attribute) in services.characteristics(of: device) {
      for name in subscribers[path]?.names ?? [] where subscribers[path]?.hasBegun(name) == false {
        if let client = clients.known(name) { goOn(path, attribute, device, client) }
      }
    }
  }

  private func goOn(_ path: String, _ attribute: Attribute, _ device: String, _ client: BusClient) {
    links.join(device, client) { [weak self] joined in
      if case .success(let device) = joined { self?.subscribe(path, attribute, device, client) { _ in } }
    }
  }

  func disconnected(_ device: String) {
    for (path, _) in services.characteristics(of: device) where subscribers[path] != nil {
      subscribers[path]?.disconnected()
      context.tree.set(path, .characteristic, "Notifying", .boolean(false))
    }
  }

  func leaving(_ device: Device) {
    subscribers = subscribers.filter { !$0.key.utf8.starts(with: (device.path + "/").utf8) }
  }

  func left(_ client: BusClient) {
    for path in subscribers.keys.filter({ subscribers[$0]?.names.contains(client.name) == true }) {
      remove(path, client.name)
    }
  }
}
