import BledRPC
import Bluetooth

/// A peripheral manager's published services, and their pending changes.
struct Publication {
  /// By their handles.
  private var services: [UInt16: CBMutableService] = [:]
  /// By value handle.
  private var characteristics: [UInt16: CBMutableCharacteristic] = [:]
  /// Pending changes, made one at a time, as later ones need the handles of earlier ones.
  private var changes: [() -> Void] = []
  private var isChanging = false

  // MARK: Services

  /// The reason why a service cannot be published, for the delegate.
  func problem(with service: CBMutableService) -> NSError? {
    guard handle(of: service) == nil else { return .failed(.invalidParameters, "the service is already published") }
    guard ![0x1800, 0x1801].contains(service.uuid.value) else {
      return .failed(.uuidNotAllowed, "service \(service.uuid.uuidString) belongs to the system")
    }
    guard !(service.characteristics ?? []).contains(where: { $0.properties.contains(.extendedProperties) }) else {
      return .failed(.invalidParameters, "a local characteristic cannot have extendedProperties")
    }
    guard (service.includedServices ?? []).allSatisfy({ handle(of: $0) != nil }) else {
      return .failed(.invalidParameters, "the services that it includes must be published first")
    }
    return nil
  }

  /// The handles of a service's included services.
  func includes(of service: CBMutableService) -> [UInt16] { (service.includedServices ?? []).compactMap(handle) }

  /// The daemon has published a service.
  mutating func add(_ service: CBMutableService, _ description: ServiceDescription) {
    services[description.handle] = service
    let local = (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
    for (characteristic, published) in zip(local, description.characteristics ?? []) {
      characteristics[published.handle] = characteristic
    }
  }

  /// Adopts a service kept by the daemon.
  mutating func restore(_ restored: RestoredState.Service) -> CBMutableService {
    let service = CBMutableService(restored.definition)
    add(service, restored.service)
    service.includedServices = restored.definition.includes.map { $0.compactMap { services[$0] } }
    return service
  }

  /// A service was unpublished: there are no subscribers.
  /// - Returns: its handle; nil if it was not published.
  mutating func remove(_ service: CBMutableService) -> UInt16? {
    guard let handle = handle(of: service) else { return nil }
    services[handle] = nil
    for (handle, characteristic) in characteristics where characteristic.service === service {
      characteristics[handle] = nil
      Self.endSubscriptions(characteristic)
    }
    return handle
  }

  /// Everything was unpublished.
  mutating func removeAll() {
    for characteristic in characteristics.values { Self.endSubscriptions(characteristic) }
    (services, characteristics) = ([:], [:])
  }

  /// The published characteristic with this value handle.
  func characteristic(_ handle: UInt16) -> CBMutableCharacteristic? { characteristics[handle] }

  /// A characteristic's value handle, if published.
  func handle(of characteristic: CBMutableCharacteristic) -> UInt16? {
    characteristics.first { $0.value === characteristic }?.key
  }

  private func handle(of service: CBService) -> UInt16? { services.first { $0.value === service }?.key }

  /// Ends all subscriptions to a removed characteristic; Apple's framework does not report these.
  private static func endSubscriptions(_ characteristic: CBMutableCharacteristic) {
    for central in characteristic.subscribedCentrals ?? [] { _ = characteristic.unsubscribe(central) }
  }

  // MARK: Changes

  /// A change waits for its turn.
  mutating func append(_ change: @escaping () -> Void) { changes.append(change) }

  /// The change to be made now, if any.
  mutating func nextChange() -> (() -> Void)? {
    guard !isChanging, !changes.isEmpty else { return nil }
    isChanging = true
    return changes.removeFirst()
  }

  /// The change under way is made.
  mutating func changed() { isChanging = false }

  /// Drops the pending changes.
  mutating func dropChanges() { (changes, isChanging) = ([], false) }
}
