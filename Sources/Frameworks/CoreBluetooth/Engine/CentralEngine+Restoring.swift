import BledClient
import BledRPC
import Bluetooth

extension CentralEngine {
  /// Adopts the state kept by the daemon, and informs the delegate.
  func adopt(_ state: RestoredState) {
    // Held until the delegate had its chance to keep them: peripherals it does not retain are released.
    let peripherals = state.peripherals.compactMap { restored -> (CBPeripheral, RestoredState.Peripheral)? in
      guard let identifier = UUID(uuidString: restored.peripheral) else { return nil }
      let peripheral = peripheral(identifier)
      links.restore(peripheral, restored)
      return (peripheral, restored)
    }
    let scan = state.scan.map(restoreScan)
    deliver { manager in
      if scan != nil { manager.shared[\.isScanning] = true }
      for (peripheral, restored) in peripherals { peripheral.restore(restored) }
      var dictionary: [String: Any] = [:]
      if !peripherals.isEmpty { dictionary[CBCentralManagerRestoredStatePeripheralsKey] = peripherals.map(\.0) }
      if let scan {
        if !scan.services.isEmpty {
          dictionary[CBCentralManagerRestoredStateScanServicesKey] = scan.services.map { CBUUID($0) }
        }
        dictionary[CBCentralManagerRestoredStateScanOptionsKey] = scan.options
      }
      manager.delegate?.centralManager(manager, willRestoreState: dictionary)
    }
  }

  /// The end of all this was reported to the program.
  func giveUp(_ state: RestoredState) {
    for restored in state.peripherals { links.users.end(links.users.join(restored.peripheral)) }
    if state.scan != nil { call(ScanStop.self, .init()) }
  }
}

extension CBPeripheral {
  /// Takes over how the daemon kept it: on the program's queue.
  fileprivate func restore(_ restored: RestoredState.Peripheral) {
    if let name = restored.name { _ = adoptName(name, isRead: false) }
    change { shared in
      shared.state = restored.state == "connected" ? .connected : .connecting
      if let mtu = restored.mtu { shared.mtu = mtu }
      guard !restored.services.isEmpty else { return }
      shared.services = shared.attributes.restore(restored.services, of: self)
      for handle in restored.subscriptions {
        shared.attributes.characteristics[handle]?.contents[\.isNotifying] = true
      }
    }
  }
}

extension AttributeTable {
  /// The objects for services with their discovered contents.
  fileprivate mutating func restore(_ found: [ServiceDescription], of peripheral: CBPeripheral) -> [CBService] {
    let services = objects(for: found, of: peripheral)
    for (service, description) in zip(services, found.sorted { $0.handle < $1.handle }) {
      if let includes = description.includes {
        service.contents[\.includedServices] = objects(for: includes, of: peripheral)
      }
      guard let characteristics = description.characteristics else { continue }
      let sorted = characteristics.sorted { $0.handle < $1.handle }
      let objects = objects(for: sorted, of: service)
      service.contents[\.characteristics] = objects
      for (characteristic, description) in zip(objects, sorted) {
        characteristic.contents[\.descriptors] = description.descriptors?.sorted { $0.handle < $1.handle }.map {
          CBDescriptor(type: CBUUID($0.uuid), handle: $0.handle, characteristic: characteristic)
        }
      }
    }
    return services
  }
}
