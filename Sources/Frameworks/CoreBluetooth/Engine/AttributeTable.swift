import BledRPC
import Bluetooth

/// The attributes of a peripheral that were discovered, by handle. An attribute discovered again with the same handle
/// and UUID keeps its object.
struct AttributeTable {
  private var services: [UInt16: CBService] = [:]
  private(set) var characteristics: [UInt16: CBCharacteristic] = [:]
  /// The handles of all primary services, once all were discovered.
  var primaries: Set<UInt16>?

  /// The objects of services, in order of their handles.
  mutating func objects(for found: [ServiceDescription], of peripheral: CBPeripheral) -> [CBService] {
    found.sorted { $0.handle < $1.handle }.map { description in
      // An include declaration does not tell; a service that is not among all the primary ones is a secondary one.
      let isPrimary = description.primary && (primaries?.contains(description.handle) ?? true)
      if let known = services[description.handle], known.uuid.value == description.uuid { return known }
      let new = CBService(
        type: CBUUID(description.uuid), primary: isPrimary, handle: description.handle, peripheral: peripheral)
      services[new.handle] = new
      return new
    }
  }

  /// The objects of characteristics, in order of their handles.
  mutating func objects(for found: [CharacteristicDescription], of service: CBService) -> [CBCharacteristic] {
    found.sorted { $0.handle < $1.handle }.map { description in
      let properties = CBCharacteristicProperties(description.properties.compactMap(\.known))
      if let known = characteristics[description.handle], known.uuid.value == description.uuid,
        known.properties == properties, known.service === service
      {
        return known
      }
      let new = CBCharacteristic(
        type: CBUUID(description.uuid), properties: properties, handle: description.handle, service: service)
      characteristics[new.handle] = new
      return new
    }
  }

  /// Forgets the services with handles in this range, and their attributes.
  /// - Returns: The services.
  mutating func invalidate(_ range: ClosedRange<UInt16>) -> [CBService] {
    let gone = services.values.filter { range.contains($0.handle) }.sorted { $0.handle < $1.handle }
    for service in gone { services[service.handle] = nil }
    primaries = nil
    characteristics = characteristics.filter { _, characteristic in
      guard let service = characteristic.service else { return false }
      return !gone.contains { $0 === service }
    }
    return gone
  }
}

/// Known and found attributes together, in order of the handles.
func merged<Attribute: CBAttribute>(
  _ known: [Attribute]?, _ found: [Attribute], isAll: Bool, handle: (Attribute) -> UInt16
) -> [Attribute] {
  guard !isAll else { return found }
  let kept = (known ?? []).filter { old in !found.contains { handle($0) == handle(old) } }
  return (kept + found).sorted { handle($0) < handle($1) }
}
