import BledRPC
import Bluetooth

/// AcquireWrite and AcquireNotify: a program gets a socket of packets instead of a message for each value.
final class Acquisitions {
  private let context: Context
  private let links: Links
  private let services: Services
  private let notifications: Notifications
  /// The unique name of the program that has each direction of a characteristic.
  private var owners: [String: [AcquiredDirection: String]] = [:]

  init(_ context: Context, _ links: Links, _ services: Services, _ notifications: Notifications) {
    self.context = context
    self.links = links
    self.services = services
    self.notifications = notifications
  }

  func acquire(_ call: BusCall, _ client: BusClient) {
    guard let direction = AcquiredDirection(rawValue: call.member), let attribute = services[call.path],
      case .characteristic(let properties) = attribute.kind
    else { return context.fail(call, .doesNotExist) }
    guard properties.contains(direction.needed) else { return context.fail(call, .notSupported) }
    guard owners[call.path]?[direction] == nil else {
      return context.fail(call, .notPermitted(direction == .writes ? "Write acquired" : "Notify acquired"))
    }
    guard direction == .writes || !notifications.has(call.path) else { return context.fail(call, .inProgress) }
    owners[call.path, default: [:]][direction] = client.name
    links.join(attribute.device, client) { [weak self, context] joined in
      guard let self else { return }
      switch joined {
      case .failure(let error):
        release(call.path, direction)
        context.fail(call, error)
      case .success(let device): acquire(call, client, device, attribute, direction)
      }
    }
  }

  private func acquire(
    _ call: BusCall, _ client: BusClient, _ device: Device, _ attribute: Attribute, _ direction: AcquiredDirection
  ) {
    client.session.call(
      GATTAcquire.self,
      GATTAcquire.Params(
        peripheral: device.key.peripheral, attribute: .handle(attribute.handle), values: direction == .values,
        writes: direction == .writes, closing: true)
    ) { [weak self, context] result in
      guard let self else { return }
      switch (result, client.session.takeDescriptor()?.take()) {
      case (.success, let number?):
        context.tree.set(call.path, .characteristic, direction.property, .boolean(true))
        context.reply(
          call, .descriptor(BusDescriptor(taking: number)), .uint16(UInt16(clamping: services.mtu(attribute.device))))
      case (.failure(let error), _):
        release(call.path, direction)
        context.fail(call, BusError(error, otherwise: .failed(error.message)))
      case (.success, nil):
        release(call.path, direction)
        context.fail(call, .failed("no descriptor came with the answer"))
      }
    }
  }

  private func release(_ path: String, _ direction: AcquiredDirection) {
    guard owners[path]?.removeValue(forKey: direction) != nil else { return }
    context.tree.set(path, .characteristic, direction.property, .boolean(false))
  }

  /// bled, or the program, has closed the socket.
  func released(_ params: GATTReleased.Params, _ client: BusClient, at device: String) {
    guard let path = services.path(device, params.handle) else { return }
    for (direction, name) in owners[path] ?? [:] where name == client.name && direction.isOne(of: params) {
      release(path, direction)
    }
  }

  func disconnected(_ device: String) {
    for (path, _) in services.characteristics(of: device) {
      for direction in owners[path]?.keys.map({ $0 }) ?? [] { release(path, direction) }
    }
  }

  func left(_ client: BusClient) {
    for (path, directions) in owners {
      for (direction, name) in directions where name == client.name { release(path, direction) }
    }
  }
}

extension AcquiredDirection {
  /// The property that a characteristic must have.
  fileprivate var needed: CharacteristicProperty { self == .writes ? .writeWithoutResponse : .notify }

  /// Whether it has ended with the descriptor.
  fileprivate func isOne(of released: GATTReleased.Params) -> Bool {
    (self == .writes ? released.writes : released.values) == true
  }
}
