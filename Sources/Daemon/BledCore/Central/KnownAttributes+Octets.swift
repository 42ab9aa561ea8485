import Bluetooth
import GATT

/// Known attributes as octets: a version, then the records, each of which begins with its letter. Numbers are least
/// significant octet first; a UUID follows its length, 2 or 16.
///
///     1
///     A                                             all primary services are here
///     U uuid                                        the primary services of this UUID are here
///     S flags start end uuid                        a service: 1 primary, 2 not primary, 4 includes known, 8
///     characteristics known I handle start end uuid                       an include of the service before it
///     C flags handle value end properties uuid      a characteristic of the service before it: 1 descriptors known
///     D handle uuid                                 a descriptor of the characteristic before it
///     E value                                       the extended properties of the characteristic before it
extension KnownAttributes {
  private static let version: UInt8 = 1

  /// The octets of the known attributes.
  var octets: [UInt8] {
    var writer = Writer(octets: [Self.version])
    if hasAllPrimaries { writer.put("A") }
    for uuid in searched.sorted(by: { ($0.high, $0.low) < ($1.high, $1.low) }) {
      writer.put("U")
      writer.put(uuid)
    }
    for service in services {
      let kind: UInt8 = service.isPrimary.map { $0 ? 1 : 2 } ?? 0
      writer.put("S", kind | (service.includes == nil ? 0 : 4) | (service.characteristics == nil ? 0 : 8))
      writer.put(service.range.lowerBound, service.range.upperBound)
      writer.put(service.uuid)
      for include in service.includes ?? [] {
        writer.put("I")
        writer.put(include.handle, include.range.lowerBound, include.range.upperBound)
        writer.put(include.uuid)
      }
      for characteristic in service.characteristics ?? [] {
        let descriptors = descriptorsOf(characteristic)
        writer.put(characteristic, descriptors)
        // A refusal is not kept: the device may answer on another link.
        if descriptors != nil, let extended = extendedProperties(of: characteristic.valueHandle) {
          writer.put("E")
          writer.put(extended.rawValue)
        }
      }
    }
    return writer.octets
  }

  private func descriptorsOf(_ characteristic: DiscoveredCharacteristic) -> [DiscoveredDescriptor]? {
    characteristic.endHandle > characteristic.valueHandle ? descriptors(of: characteristic.valueHandle) : nil
  }

  /// Decodes the result of `octets`.
  /// - Returns: nil for anything else.
  init?(octets: [UInt8]) {
    var reader = Reader(rest: octets[...])
    guard reader.octet() == Self.version else { return nil }
    self.init()
    var isComplete = false
    var service: Service?
    // Services are in their order, and no value belongs to two characteristics: else it would be read differently each
    // time. The attributes of such a device are discovered again.
    var values: Set<UInt16> = []
    var descriptors: (value: UInt16, found: [DiscoveredDescriptor])?
    while let letter = reader.octet() {
      if letter != UInt8(ascii: "D"), letter != UInt8(ascii: "E"), let described = descriptors {
        add(described.found, of: described.value)
        descriptors = nil
      }
      switch letter {
      case UInt8(ascii: "A"): isComplete = true
      case UInt8(ascii: "U"):
        guard let uuid = reader.uuid() else { return nil }
        addedAll(of: uuid)
      case UInt8(ascii: "S"):
        guard let next = reader.service(), next.range.lowerBound > service?.range.lowerBound ?? 0 else { return nil }
        if let service { put(service) }
        service = next
      case UInt8(ascii: "I"):
        guard service?.includes != nil, let include = reader.include() else { return nil }
        service?.includes?.append(include)
      case UInt8(ascii: "C"):
        guard service?.characteristics != nil, let (characteristic, isDescribed) = reader.characteristic(),
          values.insert(characteristic.valueHandle).inserted
        else { return nil }
        service?.characteristics?.append(characteristic)
        if isDescribed { descriptors = (characteristic.valueHandle, []) }
      case UInt8(ascii: "D"):
        guard descriptors != nil, let handle = reader.word(), let uuid = reader.uuid() else { return nil }
        descriptors?.found.append(DiscoveredDescriptor(handle: handle, uuid: uuid))
      case UInt8(ascii: "E"):
        guard let described = descriptors, let value = reader.word() else { return nil }
        add(ExtendedProperties(rawValue: value), of: described.value)
      default: return nil
      }
    }
    if let described = descriptors { add(described.found, of: described.value) }
    if let service { put(service) }
    if isComplete { addedAllPrimaries() }
  }

  private mutating func put(_ service: Service) {
    let handle = service.range.lowerBound
    add(service.range, service.uuid, isPrimary: service.isPrimary)
    if let includes = service.includes { add(includes, of: handle) }
    if let characteristics = service.characteristics { add(characteristics, of: handle) }
  }
}

private struct Writer {
  var octets: [UInt8]

  mutating func put(_ letter: Unicode.Scalar, _ flags: UInt8? = nil) {
    octets.append(UInt8(ascii: letter))
    if let flags { octets.append(flags) }
  }

  mutating func put(_ words: UInt16...) {
    for word in words { octets += [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)] }
  }

  mutating func put(_ uuid: BluetoothUUID) {
    let value = uuid.attOctets
    octets.append(UInt8(clamping: value.count))
    octets += value
  }

  mutating func put(_ characteristic: DiscoveredCharacteristic, _ descriptors: [DiscoveredDescriptor]?) {
    put("C", descriptors == nil ? 0 : 1)
    put(characteristic.handle, characteristic.valueHandle, characteristic.endHandle)
    octets.append(characteristic.properties.rawValue)
    put(characteristic.uuid)
    for descriptor in descriptors ?? [] {
      put("D")
      put(descriptor.handle)
      put(descriptor.uuid)
    }
  }
}

/// Reads from the front; returns nil for incomplete input.
private struct Reader {
  var rest: ArraySlice<UInt8>

  mutating func octet() -> UInt8? { rest.popFirst() }

  mutating func word() -> UInt16? { read(2)?.reversed().reduce(0) { $0 << 8 | UInt16($1) } }

  mutating func uuid() -> BluetoothUUID? {
    octet().flatMap { read(Int($0)) }.flatMap { BluetoothUUID(littleEndian: $0) }
  }

  mutating func range() -> ClosedRange<UInt16>? {
    guard let start = word(), let end = word(), start > 0, start <= end else { return nil }
    return start...end
  }

  mutating func service() -> KnownAttributes.Service? {
    guard let flags = octet(), let range = range(), let uuid = uuid() else { return nil }
    return KnownAttributes.Service(
      range: range, uuid: uuid, isPrimary: flags & 3 == 0 ? nil : flags & 1 != 0,
      includes: flags & 4 == 0 ? nil : [], characteristics: flags & 8 == 0 ? nil : [])
  }

  mutating func include() -> DiscoveredInclude? {
    guard let handle = word(), let range = range(), let uuid = uuid() else { return nil }
    return DiscoveredInclude(handle: handle, range: range, uuid: uuid)
  }

  mutating func characteristic() -> (DiscoveredCharacteristic, isDescribed: Bool)? {
    guard let flags = octet(), let handle = word(), let value = word(), let end = word(), let properties = octet(),
      let uuid = uuid(), handle > 0, handle < value, value <= end
    else { return nil }
    let characteristic = DiscoveredCharacteristic(
      handle: handle, valueHandle: value, endHandle: end,
      properties: CharacteristicProperties(rawValue: properties), uuid: uuid)
    return (characteristic, flags & 1 != 0)
  }

  private mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
