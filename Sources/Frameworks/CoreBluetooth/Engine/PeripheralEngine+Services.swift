import BledClient
import BledRPC
import Bluetooth
import FrameworkSupport

extension PeripheralEngine {
  /// Publishes a service. Any thread.
  func add(_ service: CBMutableService) {
    let service = Carried(service)
    change { [self] done in
      let service = service.value
      if let problem = publication.problem(with: service) {
        reportAdded(service, problem)
        return done()
      }
      let definition = service.definition(includes: publication.includes(of: service), adapter: adapter)
      call(ServiceAdd.self, .init(service: definition)) { [weak self] result in
        if case .success(let added) = result { self?.publication.add(service, added.service) }
        self?.reportAdded(service, result.failure?.coreBluetooth)
        done()
      }
    }
  }

  /// Removes a service. Any thread.
  func remove(_ service: CBMutableService) {
    let service = Carried(service)
    change { [self] done in
      guard let handle = publication.remove(service.value) else { return done() }
      call(ServiceRemove.self, .init(handle: handle)) { _ in done() }
    }
  }

  /// Removes all services. Any thread.
  func removeAll() {
    change { [self] done in
      publication.removeAll()
      call(ServiceRemove.self, .init()) { _ in done() }
    }
  }

  private func reportAdded(_ service: CBMutableService, _ error: NSError?) {
    deliver { $0.delegate?.peripheralManager($0, didAdd: service, error: error) }
  }

  /// Queues a change to the published services.
  private func change(_ body: @escaping (_ done: @escaping () -> Void) -> Void) {
    let carried = Carried(body)
    run { [self] in
      publication.append { [weak self] in
        carried.value {
          self?.publication.changed()
          self?.nextChange()
        }
      }
      nextChange()
    }
  }

  private func nextChange() { publication.nextChange()?() }
}

extension PeripheralEngine {
  /// Adopts the state kept by the daemon, and informs the delegate.
  func adopt(_ state: RestoredState) {
    var services: [CBMutableService] = []
    var subscribers: [(CBMutableCharacteristic, CBCentral, Int)] = []
    for restored in state.services {
      services.append(publication.restore(restored))
      for subscriber in restored.subscribers {
        guard let characteristic = publication.characteristic(subscriber.handle),
          let central = central(subscriber.central)
        else { continue }
        subscribers.append((characteristic, central, subscriber.maximumLength))
      }
    }
    let advertisement = state.advertisements.first
    if let advertisement { restoreAdvertising(advertisement.advertising, on: advertisement.adapter) }
    deliver { manager in
      for (characteristic, central, length) in subscribers {
        central.setMaximumUpdateValueLength(length)
        _ = characteristic.subscribe(central)
      }
      if advertisement != nil { manager.shared[\.isAdvertising] = true }
      var dictionary: [String: Any] = [:]
      if !services.isEmpty { dictionary[CBPeripheralManagerRestoredStateServicesKey] = services }
      if let advertisement {
        dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement.data
      }
      manager.delegate?.peripheralManager(manager, willRestoreState: dictionary)
    }
  }

  /// The end of all this was reported to the program.
  func giveUp(_ state: RestoredState) {
    if !state.advertisements.isEmpty { call(AdvertisingStop.self, .init()) }
    if !state.services.isEmpty { call(ServiceRemove.self, .init()) }
  }
}
