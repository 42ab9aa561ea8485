import BledRPC
import Bluetooth

extension CBPeripheral {
  /// Discovers services.
  /// - Parameter serviceUUIDs: Only these are asked of the device; all if nil or empty.
  public func discoverServices(_ serviceUUIDs: [CBUUID]?) {
    let wanted = (serviceUUIDs ?? []).map(\.value)
    request("discoverServices", GATTDiscoverServices.self, .init(peripheral: id, services: wanted)) {
      peripheral, result in
      let error = peripheral.take(result) { shared, found in
        if wanted.isEmpty { shared.attributes.primaries = Set(found.services.map(\.handle)) }
        let objects = shared.attributes.objects(for: found.services, of: peripheral)
        shared.services = merged(shared.services, objects, isAll: wanted.isEmpty) { $0.handle }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverServices: error)
    }
  }

  /// Discovers the services that a service includes.
  /// - Parameters:
  ///   - includedServiceUUIDs: Only these are asked of the device; all if nil or empty.
  ///   - service: One that was discovered on this peripheral.
  public func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
    let wanted = (includedServiceUUIDs ?? []).map(\.value)
    request(
      "discoverIncludedServices", GATTDiscoverIncludedServices.self,
      .init(peripheral: id, handle: service.handle, uuids: wanted)
    ) { peripheral, result in
      let error = peripheral.take(result) { shared, found in
        let objects = shared.attributes.objects(for: found.services, of: peripheral)
        service.contents.with {
          $0.includedServices = merged($0.includedServices, objects, isAll: wanted.isEmpty) { $0.handle }
        }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: error)
    }
  }

  /// Discovers the characteristics of a service.
  /// - Parameters:
  ///   - characteristicUUIDs: Only these; all if nil or empty.
  ///   - service: One that was discovered on this peripheral.
  public func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
    let wanted = (characteristicUUIDs ?? []).map(\.value)
    request(
      "discoverCharacteristics", GATTDiscoverCharacteristics.self,
      .init(peripheral: id, handle: service.handle, uuids: wanted)
    ) { peripheral, result in
      let error = peripheral.take(result) { shared, found in
        let objects = shared.attributes.objects(for: found.characteristics, of: service)
        service.contents.with {
          $0.characteristics = merged($0.characteristics, objects, isAll: wanted.isEmpty) { $0.handle }
        }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: error)
    }
  }

  /// Discovers the descriptors of a characteristic.
  /// - Parameter characteristic: One that was discovered on this peripheral.
  public func discoverDescriptors(for characteristic: CBCharacteristic) {
    request(
      "discoverDescriptors", GATTDiscoverDescriptors.self, .init(peripheral: id, handle: characteristic.handle)
    ) { peripheral, result in
      let error = peripheral.take(result) { _, found in
        characteristic.contents.with { contents in
          let known = contents.descriptors ?? []
          contents.descriptors = found.descriptors.sorted { $0.handle < $1.handle }.map { description in
            known.first { $0.handle == description.handle && $0.uuid.value == description.uuid }
              ?? CBDescriptor(
                type: CBUUID(description.uuid), handle: description.handle, characteristic: characteristic)
          }
        }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: error)
    }
  }

  /// Takes over what was found, or gives the error for the delegate.
  private func take<Found>(
    _ result: Result<Found, BluetoothError>, _ body: (inout Shared, Found) -> Void
  ) -> (any Error)? {
    switch result {
    case .success(let found):
      shared.with { body(&$0, found) }
      return nil
    case .failure(let error):
      return error.coreBluetooth
    }
  }

  /// The device says that its attributes in this range changed.
  func servicesChanged(_ range: ClosedRange<UInt16>) {
    let gone = shared.with { shared in
      let gone = shared.attributes.invalidate(range)
      shared.services?.removeAll { service in gone.contains { $0 === service } }
      return gone
    }
    if !gone.isEmpty { delegate?.peripheral(self, didModifyServices: gone) }
  }
}
