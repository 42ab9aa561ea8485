import BledRPC
import Bluetooth

/// StartNotify and StopNotify. Each program has a subscription of its own in its session of bled; each value is told
/// once, to all.
final class Notifications {
  private let context: Context
  private let clients: Clients
  private let devices: Devices
  private let links: Links
  private let services: Services
  /// Called with each value.
  var told: (Attribute, [UInt8]) -> Void = { _, _ in }
  /// The subscribed programs of each characteristic. They stay subscribed while the device is disconnected.
  private var subscribers: [String: Subscribers] = [:]

  init(_ context: Context, _ clients: Clients, _ devices: Devices, _ links: Links, _ services: Services) {
    self.context = context
    self.clients = clients
    self.devices = devices
    self.links = links
    self.services = services
  }

  func has(_ path: String) -> Bool { subscribers[path] != nil }

  func start(_ call: BusCall, _ client: BusClient) {
    guard let attribute = services[call.path], case .characteristic(let properties) = attribute.kind else {
      return context.fail(call, .doesNotExist)
    }
    guard properties.contains(.notify) || properties.contains(.indicate) else {
      return context.fail(call, .notSupported)
    }
    guard context.tree.value(call.path, .characteristic, "NotifyAcquired") != .boolean(true) else {
      return context.fail(call, .notPermitted("Notify acquired"))
    }
    if subscribers[call.path]?.names.contains(client.name) == true { return context.reply(call) }
    subscribers[call.path, default: Subscribers()].add(client.name)
    guard links.isConnected(attribute.device) else { return context.reply(call) }
    subscribe(call.path, attribute, client) { [weak self, context] result in
      if case .failure = result { self?.remove(call.path, client.name) }
      context.finish(call, result)
    }
  }

  private func subscribe(
    _ path: String, _ attribute: Attribute, _ client: BusClient,
    _ completion: @escaping (Result<Void, BusError>) -> Void
  ) {
    links.join(attribute.device, client) { [context] joined in
      let device: Device
      switch joined {
      case .failure(let error): return completion(.failure(error))
      case .success(let found): device = found
      }
      client.session.call(
        GATTSubscribe.self, GATTSubscribe.Params(peripheral: device.key.peripheral, handle: attribute.handle)
      ) { [weak self] result in
        if case .success = result {
          self?.subscribers[path]?.begin(client.name)
          context.tree.set(path, .characteristic, "Notifying", .boolean(true))
        }
        completion(result.map { _ in }.mapError { BusError($0, otherwise: .failed($0.message)) })
      }
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
    tell(path, subscribers[path]?.remove(name) ?? [])
    guard subscribers[path]?.names.isEmpty != false else { return }
    subscribers[path] = nil
    context.tree.set(path, .characteristic, "Notifying", .boolean(false))
  }

  // MARK: Events

  /// A value came in a program's session.
  func value(_ params: GATTValue.Params, _ client: BusClient) {
    for device in devices.all(params.peripheral) {
      guard let path = services.path(device.path, params.handle) else { continue }
      tell(path, subscribers[path]?.received(params.value.octets, params.serial, by: client.name) ?? [])
    }
  }

  private func tell(_ path: String, _ values: [[UInt8]]) {
    for value in values {
      if let attribute = services[path] { told(attribute, value) }
      context.tree.tell(path, .characteristic, "Value", .bytes(value))
    }
  }

  /// A program's session of bled has ended, while the program is still there.
  func lost(_ client: BusClient) {
    for path in subscribers.keys { tell(path, subscribers[path]?.end(client.name) ?? []) }
  }

  /// bled ended a subscription.
  func lost(_ params: GATTSubscriptionLost.Params, _ client: BusClient) {
    for device in devices.all(params.peripheral) {
      if let path = services.path(device.path, params.handle) { remove(path, client.name) }
    }
  }

  /// The services of a device are known to one more program: the subscriptions from before go on.
  func resolved(_ device: String) {
    for (path, attribute) in services.characteristics(of: device) {
      for name in subscribers[path]?.names ?? [] where subscribers[path]?.hasBegun(name) == false {
        guard let client = clients.known(name) else { continue }
        subscribe(path, attribute, client) { _ in }
      }
    }
  }

  func disconnected(_ device: String) {
    for (path, _) in services.characteristics(of: device) where subscribers[path] != nil {
      subscribers[path]?.disconnected()
      context.tree.set(path, .characteristic, "Notifying", .boolean(false))
    }
  }

  /// A device's object goes.
  func leaving(_ device: Device) {
    for (path, _) in services.characteristics(of: device.path) { subscribers[path] = nil }
  }

  func left(_ client: BusClient) {
    for path in subscribers.keys.filter({ subscribers[$0]?.names.contains(client.name) == true }) {
      remove(path, client.name)
    }
  }
}
