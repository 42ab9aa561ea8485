import BledClient
import BledRPC
import Bluetooth

/// The published services of a peripheral manager.
struct Publication {
  /// By their handles.
  fileprivate var services: [UInt16: CBMutableService] = [:]
  /// By the handles of their values.
  fileprivate var characteristics: [UInt16: CBMutableCharacteristic] = [:]
  /// Changes that wait; one is made after the other, as later ones need the handles of earlier ones.
  fileprivate var changes: [() -> Void] = []
  fileprivate var isChanging = false
}

extension PeripheralEngine {
  /// Publishes a service. Any thread.
  func add(_ service: CBMutableService) {
    let service = Carried(service)
    change { [self] done in
      let service = service.value
      guard publication.services.values.allSatisfy({ $0 !== service }) else {
        tellAdded(service, .failed(.invalidParameters, "the service is already published"))
        return done()
      }
      guard ![0x1800, 0x1801].contains(service.uuid.value) else {
        tellAdded(service, .failed(.uuidNotAllowed, "service \(service.uuid.uuidString) belongs to the system"))
        return done()
      }
      guard !(service.characteristics ?? []).contains(where: { $0.properties.contains(.extendedProperties) }) else {
        tellAdded(service, .failed(.invalidParameters, "a local characteristic cannot have extendedProperties"))
        return done()
      }
      let includes = (service.includedServices ?? []).map { included in
        publication.services.first { $0.value === included }?.key
      }
      guard !includes.contains(nil) else {
        tellAdded(service, .failed(.invalidParameters, "the services that it includes must be published first"))
        return done()
      }
      let definition = service.definition(includes: includes.compactMap(\.self), adapter: adapter)
      call(ServiceAdd.self, .init(service: definition)) { [weak self] result in
        if case .success(let added) = result { self?.published(service, added.service) }
        self?.tellAdded(service, result.failure?.coreBluetooth)
        done()
      }
    }
  }

  /// Removes a service. Any thread.
  func remove(_ service: CBMutableService) {
    let service = Carried(service)
    change { [self] done in
      guard let handle = publication.services.first(where: { $0.value === service.value })?.key else { return done() }
      publication.services[handle] = nil
      for (handle, characteristic) in publication.characteristics where characteristic.service === service.value {
        publication.characteristics[handle] = nil
        tellUnsubscribed(characteristic)
      }
      call(ServiceRemove.self, .init(handle: handle)) { _ in done() }
    }
  }

  /// Removes all services. Any thread.
  func removeAll() {
    change { [self] done in
      forgetAll()
      call(ServiceRemove.self, .init()) { _ in done() }
    }
  }

  /// The published characteristic with this handle of its value.
  func characteristic(_ handle: UInt16) -> CBMutableCharacteristic? { publication.characteristics[handle] }

  /// The handle of the value of a characteristic, if that is published.
  func handle(of characteristic: CBMutableCharacteristic) -> UInt16? {
    publication.characteristics.first { $0.value === characteristic }?.key
  }

  func isSubscribed(_ central: CBCentral) -> Bool {
    publication.characteristics.values.contains { $0.subscribedCentrals?.contains { $0 === central } ?? false }
  }

  /// Changes that wait are void.
  func dropChanges() { (publication.changes, publication.isChanging) = ([], false) }

  /// Nothing is published any more: there are no subscribers.
  func forgetAll() {
    for characteristic in publication.characteristics.values { tellUnsubscribed(characteristic) }
    (publication.services, publication.characteristics) = ([:], [:])
  }

  /// All subscriptions to a characteristic that is removed end; Apple's framework does not tell of them.
  private func tellUnsubscribed(_ characteristic: CBMutableCharacteristic) {
    for central in characteristic.subscribedCentrals ?? [] { _ = characteristic.unsubscribe(central) }
  }

  private func published(_ service: CBMutableService, _ description: ServiceDescription) {
    publication.services[description.handle] = service
    let local = (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
    for (characteristic, published) in zip(local, description.characteristics ?? []) {
      publication.characteristics[published.handle] = characteristic
    }
  }

  private func tellAdded(_ service: CBMutableService, _ error: NSError?) {
    deliver { $0.delegate?.peripheralManager($0, didAdd: service, error: error) }
  }

  /// Queues a change of the published services.
  private func change(_ body: @escaping (_ done: @escaping () -> Void) -> Void) {
    let carried = Carried(body)
    run { [self] in
      publication.changes.append { [weak self] in
        carried.value {
          self?.publication.isChanging = false
          self?.nextChange()
        }
      }
      nextChange()
    }
  }

  private func nextChange() {
    guard !publication.isChanging, !publication.changes.isEmpty else { return }
    publication.isChanging = true
    publication.changes.removeFirst()()
  }
}

extension PeripheralEngine {
  /// Adopts the state that the daemon kept, and informs the delegate.
  func takeOver(_ state: RestoredState) {
    var subscribers: [(CBMutableCharacteristic, CBCentral, Int)] = []
    for restored in state.services {
      let service = CBMutableService(restored.definition)
      publication.services[restored.service.handle] = service
      service.includedServices = restored.definition.includes.map { $0.compactMap { publication.services[$0] } }
      let local = (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
      for (characteristic, published) in zip(local, restored.service.characteristics ?? []) {
        publication.characteristics[published.handle] = characteristic
      }
      for subscriber in restored.subscribers {
        guard let characteristic = characteristic(subscriber.handle), let central = central(subscriber.central) else {
          continue
        }
        subscribers.append((characteristic, central, subscriber.maximumLength))
      }
    }
    let restored = state.services.compactMap { publication.services[$0.service.handle] }
    let advertisement = state.advertisements.first
    if let advertisement { restoreAdvertising(advertisement.advertising, on: advertisement.adapter) }
    deliver { manager in
      for (characteristic, central, length) in subscribers {
        central.setMaximumUpdateValueLength(length)
        _ = characteristic.subscribe(central)
      }
      if advertisement != nil { manager.shared[\.isAdvertising] = true }
      var dictionary: [String: Any] = [:]
      if !restored.isEmpty { dictionary[CBPeripheralManagerRestoredStateServicesKey] = restored }
      if let parameters = advertisement?.parameters {
        var data: [String: Any] = [:]
        if let name = parameters.name { data[CBAdvertisementDataLocalNameKey] = name }
        if let services = parameters.services {
          data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) }
        }
        dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = data
      }
      manager.delegate?.peripheralManager(manager, willRestoreState: dictionary)
    }
  }

  /// The program was told that all of it has ended.
  func giveUp(_ state: RestoredState) {
    if !state.advertisements.isEmpty { call(AdvertisingStop.self, .init()) }
    if !state.services.isEmpty { call(ServiceRemove.self, .init()) }
  }
}
