import Bluetooth
import GATT

/// What was discovered on a device: enough to know how far services and characteristics reach, what characteristics
/// allow, and where their configuration is.
struct KnownAttributes {
  private var services: [UInt16: ClosedRange<UInt16>] = [:]
  private var characteristics: [UInt16: DiscoveredCharacteristic] = [:]
  /// The Client Characteristic Configuration descriptors by the handle of the value they belong to.
  private var configurations: [UInt16: UInt16] = [:]
  /// The values whose descriptors were discovered.
  private var described: Set<UInt16> = []
  /// The value of the Service Changed characteristic.
  private(set) var serviceChanged: UInt16?

  mutating func add(_ service: ClosedRange<UInt16>) { services[service.lowerBound] = service }

  mutating func add(_ characteristic: DiscoveredCharacteristic) {
    characteristics[characteristic.valueHandle] = characteristic
    if characteristic.uuid == 0x2A05, characteristic.properties.contains(.indicate) {
      serviceChanged = characteristic.valueHandle
    }
  }

  /// Takes over all descriptors of a characteristic.
  mutating func add(_ descriptors: [DiscoveredDescriptor], of value: UInt16) {
    described.insert(value)
    configurations[value] = descriptors.first { $0.uuid == 0x2902 }?.handle
  }

  /// The handles of the service declared at this handle.
  func service(at handle: UInt16) throws -> ClosedRange<UInt16> {
    guard let range = services[handle] else {
      throw BledError.unknownHandle.error("no service with handle \(handle) was discovered since the device connected")
    }
    return range
  }

  /// The characteristic whose value has this handle.
  func characteristic(at value: UInt16) throws -> DiscoveredCharacteristic {
    guard let found = characteristics[value] else {
      throw BledError.unknownHandle.error(
        "no characteristic with handle \(value) was discovered since the device connected")
    }
    return found
  }

  /// What the characteristic of this handle allows; nil if it is not known, as for descriptors.
  func properties(of value: UInt16) -> CharacteristicProperties? { characteristics[value]?.properties }

  /// Where descriptors of this characteristic can be; nil if there is no room for any.
  func descriptorRange(of value: UInt16) throws -> ClosedRange<UInt16>? {
    let characteristic = try characteristic(at: value)
    guard characteristic.endHandle > value else { return nil }
    return (value + 1)...characteristic.endHandle
  }

  /// The configuration descriptor, if descriptors were discovered and it was among them.
  func configuration(of value: UInt16) -> UInt16? { configurations[value] }

  /// Whether this is the handle of a configuration descriptor.
  func isConfiguration(_ handle: UInt16) -> Bool { configurations.values.contains(handle) }

  /// Whether descriptors were discovered.
  func isDescribed(_ value: UInt16) -> Bool { described.contains(value) }

  /// Forgets what the device declared void. Service Changed itself never moves (Core 5.4, Vol 3, Part G, 7.1).
  mutating func forget(_ range: ClosedRange<UInt16>) {
    services = services.filter { !$0.value.overlaps(range) }
    let isValid = { [serviceChanged] handle in !range.contains(handle) || handle == serviceChanged }
    characteristics = characteristics.filter { isValid($0.key) }
    configurations = configurations.filter { isValid($0.key) }
    described = described.filter(isValid)
  }
}
