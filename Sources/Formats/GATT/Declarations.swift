import ATT
import Bluetooth

/// Reads the declarations among a service's attributes (Core 5.4, Vol 3, Part G, 3.1 to 3.3).
enum Declarations {
  /// Checks a service's attributes, records each one's characteristic, and lists the declarations.
  static func read(
    _ attributes: inout [Attribute], range: ClosedRange<UInt16>, owner: AttributeOwner
  ) throws(DatabaseError) -> RegisteredService {
    guard let first = attributes.first, let uuid = serviceUUID(first) else { throw .invalidDeclaration }
    guard first.handle == range.lowerBound, first.handle > 0, let last = attributes.last,
      last.handle <= range.upperBound
    else { throw .invalidHandles }
    for (one, next) in zip(attributes, attributes.dropFirst()) where one.handle >= next.handle { throw .invalidHandles }

    var characteristics: [RegisteredCharacteristic] = []
    for index in attributes.indices.dropFirst() {
      let attribute = attributes[index]
      if case .stored(let value) = attribute.source, value.count > attribute.maximumLength { throw .valueTooLong }
      switch attribute.type {
      case .primaryService, .secondaryService: throw .invalidDeclaration
      case .include: continue
      case .characteristic:
        guard let declared = characteristic(attribute) else { throw .invalidDeclaration }
        characteristics.append(declared)
      default:
        guard let declared = characteristics.last else { throw .invalidDeclaration }
        attributes[index].characteristic.valueHandle = declared.valueHandle
        attributes[index].characteristic.properties = declared.properties
        if attribute.handle != declared.valueHandle {
          characteristics[characteristics.count - 1].descriptors.append(
            RegisteredDescriptor(handle: attribute.handle, uuid: attribute.type))
        }
      }
    }
    markReliable(&attributes)
    return RegisteredService(
      range: range, uuid: uuid, isPrimary: first.type == .primaryService, owner: owner, characteristics: characteristics
    )
  }

  /// Copies bit 0 of each Extended Properties descriptor to its characteristic's value.
  private static func markReliable(_ attributes: inout [Attribute]) {
    for descriptor in attributes where descriptor.type == .characteristicExtendedProperties {
      guard case .stored(let value) = descriptor.source, let bits = value.first, bits & 1 != 0 else { continue }
      let place = attributes.firstIndex(notBelow: descriptor.characteristic.valueHandle)
      if place < attributes.count { attributes[place].characteristic.isReliable = true }
    }
  }

  private static func serviceUUID(_ attribute: Attribute) -> BluetoothUUID? {
    guard attribute.type == .primaryService || attribute.type == .secondaryService,
      case .stored(let value) = attribute.source,
      value.count == 2 || value.count == 16
    else { return nil }
    return BluetoothUUID(littleEndian: value)
  }

  private static func characteristic(_ attribute: Attribute) -> RegisteredCharacteristic? {
    guard case .stored(let value) = attribute.source, value.count == 5 || value.count == 19,
      let uuid = BluetoothUUID(littleEndian: value[3...])
    else { return nil }
    return RegisteredCharacteristic(
      declarationHandle: attribute.handle, valueHandle: value[1...].word(at: 0), uuid: uuid,
      properties: CharacteristicProperties(rawValue: value[0]), descriptors: [])
  }
}
