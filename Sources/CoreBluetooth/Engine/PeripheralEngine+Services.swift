import BledRPC
import Bluetooth

extension PeripheralEngine {
  /// Publishes a service. Any thread.
  func add(_ service: CBMutableService) {
    let service = Carried(service)
    change { [self] done in
      let service = service.value
      guard services.values.allSatisfy({ $0 !== service }) else {
        tellAdded(service, .failed(.invalidParameters, "it is published already"))
        return done()
      }
      guard ![0x1800, 0x1801].contains(service.uuid.value) else {
        tellAdded(service, .failed(.uuidNotAllowed, "service \(service.uuid.uuidString) is the system's own"))
        return done()
      }
      let includes = (service.includedServices ?? []).map { included in
        services.first { $0.value === included }?.key
      }
      guard !includes.contains(nil) else {
        tellAdded(service, .failed(.invalidParameters, "the services that it includes must be published first"))
        return done()
      }
      call(ServiceAdd.self, .init(service: service.definition(includes: includes.compactMap(\.self)))) {
        [weak self] result in
        if case .success(let added) = result { self?.published(service, added.service) }
        self?.tellAdded(service, result.failure?.coreBluetooth)
        done()
      }
    }
  }

  /// Takes a service back. Any thread.
  func remove(_ service: CBMutableService) {
    let service = Carried(service)
    change { [self] done in
      guard let handle = services.first(where: { $0.value === service.value })?.key else { return done() }
      services[handle] = nil
      for (handle, characteristic) in characteristics where characteristic.service === service.value {
        characteristics[handle] = nil
        tellUnsubscribed(characteristic)
      }
      call(ServiceRemove.self, .init(handle: handle)) { _ in done() }
    }
  }

  /// Takes all services back. Any thread.
  func removeAll() {
    change { [self] done in
      forgetAll()
      call(ServiceRemove.self, .init()) { _ in done() }
    }
  }

  private func published(_ service: CBMutableService, _ description: ServiceDescription) {
    services[description.handle] = service
    let local = (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
    for (characteristic, published) in zip(local, description.characteristics ?? []) {
      characteristics[published.handle] = characteristic
    }
  }

  private func tellAdded(_ service: CBMutableService, _ error: NSError?) {
    deliver { $0.delegate?.peripheralManager($0, didAdd: service, error: error) }
  }

  /// Queues a change of what is published.
  private func change(_ body: @escaping (_ done: @escaping () -> Void) -> Void) {
    let carried = Carried(body)
    run { [self] in
      changes.append { [weak self] in
        carried.value {
          self?.isChanging = false
          self?.nextChange()
        }
      }
      nextChange()
    }
  }

  private func nextChange() {
    guard !isChanging, !changes.isEmpty else { return }
    isChanging = true
    changes.removeFirst()()
  }
}
