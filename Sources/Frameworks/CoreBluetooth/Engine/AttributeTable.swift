import BledRPC
import Bluetooth

/// A peripheral's discovered attributes, by handle. An attribute rediscovered with the same handle and UUID keeps its
/// object.
struct AttributeTable {
  private var services: [UInt16: CBService] = [:]
  private(set) var characteristics: [UInt16: CBCharacteristic] = [:]
  /// The handles of all primary services, once all were discovered.
  var primaries: Set<UInt16>?

  /// The objects for services, in handle order.
  mutating func objects(for found: [ServiceDescription], of peripheral: CBPeripheral) -> [CBService] {
    found.sorted { $0.handle < $1.handle }.map { description in
      // Unknown from an include declaration; a service missing among the primary ones is secondary.
      let isPrimary = description.primary && (primaries?.contains(description.handle) ?? true)
      if let known = services[description.handle], known.uuid.value == description.uuid { return known }
      let new = CBService(
        type: CBUUID(description.uuid), primary: isPrimary, handle: description.handle, peripheral: peripheral)
      services[new.handle] = new
      return new
    }
  }

  /// The objects for characteristics, in handle order.
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

/// Known and found attributes together, in handle order.
func merged<Attribute: CBAttribute>(
  _ known: [Attribute]?, _ found: [Attribute], isAll: Bool, handle: (Attribute) -> UInt16
) -> [Attribute] {
  guard !isAll else { return found }
  let kept = (known ?? []).filter { old in !found.contains { handle($0) == handle(old) } }
  return (kept + found).sorted { handle($0) < handle($1) }
}
