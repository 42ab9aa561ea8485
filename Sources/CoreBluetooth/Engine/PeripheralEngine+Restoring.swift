import BledClient
import BledRPC
import Bluetooth

extension PeripheralEngine {
  /// Takes over what the daemon kept, and has the delegate told.
  func takeOver(_ state: RestoredState) {
    var subscribers: [(CBMutableCharacteristic, CBCentral, Int)] = []
    for restored in state.services {
      let service = CBMutableService(restored.definition)
      services[restored.service.handle] = service
      service.includedServices = restored.definition.includes.map { $0.compactMap { services[$0] } }
      let local = (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
      for (characteristic, published) in zip(local, restored.service.characteristics ?? []) {
        characteristics[published.handle] = characteristic
      }
      for subscriber in restored.subscribers {
        guard let characteristic = characteristics[subscriber.handle], let central = central(subscriber.central) else {
          continue
        }
        subscribers.append((characteristic, central, subscriber.maximumLength))
      }
    }
    let restored = state.services.compactMap { services[$0.service.handle] }
    let advertisement = state.advertisements.first
    if let advertisement { advertising = .on(advertisement.advertising) }
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

extension CBMutableService {
  /// The service as it was published; what it includes is left to the caller.
  fileprivate convenience init(_ definition: ServiceToPublish) {
    self.init(type: CBUUID(definition.uuid), primary: definition.primary ?? true)
    characteristics = (definition.characteristics ?? []).map { CBMutableCharacteristic($0) }
  }
}

extension CBMutableCharacteristic {
  fileprivate convenience init(_ definition: ServiceToPublish.Characteristic) {
    var properties = CBCharacteristicProperties(words: definition.properties)
    let permissions = definition.permissions ?? []
    if permissions.contains("subscribeEncryptionRequired") {
      if properties.contains(.notify) { properties.insert(.notifyEncryptionRequired) }
      if properties.contains(.indicate) { properties.insert(.indicateEncryptionRequired) }
    }
    self.init(
      type: CBUUID(definition.uuid), properties: properties, value: definition.value.map { Data($0.octets) },
      permissions: CBAttributePermissions(words: permissions))
    let descriptors = (definition.descriptors ?? []).compactMap { descriptor -> CBMutableDescriptor? in
      let octets = descriptor.value.octets
      switch descriptor.uuid {
      case 0x2901:
        return CBMutableDescriptor(type: CBUUID(descriptor.uuid), value: String(decoding: octets, as: UTF8.self))
      case 0x2904: return CBMutableDescriptor(type: CBUUID(descriptor.uuid), value: Data(octets))
      default: return nil
      }
    }
    if !descriptors.isEmpty { self.descriptors = descriptors }
  }
}
