import BledRPC
import Bluetooth

/// AcquireWrite and AcquireNotify: a program gets a socket of packets instead of a message for each value.
final class Acquisitions: LinkObserver {
  private let context: Context
  private let links: Links
  private let services: Services
  private let notifications: Notifications
  private let places: AcquiredPlaces

  init(
    _ context: Context, _ links: Links, _ services: Services, _ notifications: Notifications, _ places: AcquiredPlaces
  ) {
    self.context = context
    self.links = links
    self.services = services
    self.notifications = notifications
    self.places = places
  }

  func acquire(_ direction: AcquiredDirection, _ call: BusCall, _ client: BusClient) {
    guard let attribute = services[call.path],
      case .characteristic(let properties) = attribute.kind
    else { return context.fail(call, .doesNotExist) }
    guard properties.contains(direction.needed) else { return context.fail(call, .notSupported) }
    // The place is claimed once bled has permitted the program to use the device.
    links.use(attribute.device, client) { [weak self, context] used in
      guard let self else { return }
      switch used {
      case .failure(let error): context.fail(call, error)
      case .success(let device): acquire(call, client, device, attribute, direction)
      }
    }
  }

  private func acquire(
    _ call: BusCall, _ client: BusClient, _ device: Device, _ attribute: Attribute, _ direction: AcquiredDirection
  ) {
    guard direction == .writes || !notifications.has(call.path, for: client) else {
      return context.fail(call, .inProgress)
    }
    guard places.claim(call.path, direction, for: client) else {
      return context.fail(call, .notPermitted(direction == .writes ? "Write acquired" : "Notify acquired"))
    }
    client.session.call(
      GATTAcquire.self,
      GATTAcquire.Params(
        peripheral: device.key.peripheral, attribute: .handle(attribute.handle), values: direction == .values,
        writes: direction == .writes, closing: true)
    ) { [weak self, context] result in
      guard let self else { return }
      let refusal: BusError
      switch (result, client.session.takeDescriptor()?.take()) {
      case (.success, let number?):
        let descriptor = BusDescriptor(taking: number)
        guard places.open(call.path, direction, for: client) else {
          return context.fail(call, .failed("Not connected"))
        }
        return context.reply(call, .descriptor(descriptor), .uint16(UInt16(clamping: services.mtu(attribute.device))))
      case (.failure(let error), _): refusal = BusError(error, otherwise: .failed(error.message))
      case (.success, nil): refusal = .failed("no descriptor came with the answer")
      }
      places.release(call.path, direction, of: client)
      context.fail(call, refusal)
    }
  }

  /// bled, or the program, has closed the socket.
  func released(_ params: GATTReleased.Params, _ client: BusClient, at device: String) {
    guard let path = services.path(device, params.handle) else { return }
    for direction in [AcquiredDirection.writes, .values] where direction.isOne(of: params) {
      places.release(path, direction, of: client)
    }
  }

  func disconnected(_ device: String) { places.disconnected(device) }

  func left(_ client: BusClient) { places.left(client) }
}

extension AcquiredDirection {
  /// The property that a characteristic must have.
  fileprivate var needed: CharacteristicProperty { self == .writes ? .writeWithoutResponse : .notify }

  /// True if it has ended with the descriptor.
  fileprivate func isOne(of released: GATTReleased.Params) -> Bool {
    (self == .writes ? released.writes : released.values) == true
  }
}
