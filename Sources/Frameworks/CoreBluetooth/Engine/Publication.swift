import BledRPC
import Bluetooth

/// The published services of a peripheral manager, and the changes of them that wait.
struct Publication {
  /// By their handles.
  private var services: [UInt16: CBMutableService] = [:]
  /// By the handles of their values.
  private var characteristics: [UInt16: CBMutableCharacteristic] = [:]
  /// Changes that wait; one is made after the other, as later ones need the handles of earlier ones.
  private var changes: [() -> Void] = []
  private var isChanging = false

  // MARK: Services

  /// Why a service cannot be published, for the delegate.
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

  /// The handles of the services that a service includes.
  func includes(of service: CBMutableService) -> [UInt16] { (service.includedServices ?? []).compactMap(handle) }

  /// The daemon has published a service.
  mutating func add(_ service: CBMutableService, _ description: ServiceDescription) {
    services[description.handle] = service
    let local = (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
    for (characteristic, published) in zip(local, description.characteristics ?? []) {
      characteristics[published.handle] = characteristic
    }
  }

  /// Adopts a service that the daemon kept.
  mutating func restore(_ restored: RestoredState.Service) -> CBMutableService {
    let service = CBMutableService(restored.definition)
    add(service, restored.service)
    service.includedServices = restored.definition.includes.map { $0.compactMap { services[$0] } }
    return service
  }

  /// A service is not published any more: there are no subscribers.
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

  /// Nothing is published any more.
  mutating func removeAll() {
    for characteristic in characteristics.values { Self.endSubscriptions(characteristic) }
    (services, characteristics) = ([:], [:])
  }

  /// The published characteristic with this handle of its value.
  func characteristic(_ handle: UInt16) -> CBMutableCharacteristic? { characteristics[handle] }

  /// The handle of the value of a characteristic, if that is published.
  func handle(of characteristic: CBMutableCharacteristic) -> UInt16? {
    characteristics.first { $0.value === characteristic }?.key
  }

  private func handle(of service: CBService) -> UInt16? { services.first { $0.value === service }?.key }

  /// All subscriptions to a characteristic that is removed end; Apple's framework does not tell of them.
  private static func endSubscriptions(_ characteristic: CBMutableCharacteristic) {
    for central in characteristic.subscribedCentrals ?? [] { _ = characteristic.unsubscribe(central) }
  }

  // MARK: Changes

  /// A change waits for its turn.
  mutating func append(_ change: @escaping () -> Void) { changes.append(change) }

  /// The change that is to be made now, if there is one.
  mutating func nextChange() -> (() -> Void)? {
    guard !isChanging, !changes.isEmpty else { return nil }
    isChanging = true
    return changes.removeFirst()
  }

  /// The change under way is made.
  mutating func changed() { isChanging = false }

  /// Changes that wait are void.
  mutating func dropChanges() { (changes, isChanging) = ([], false) }
}
