import BledRPC
import Bluetooth
import GATT

extension ServiceDescription {
  init(
    _ service: KnownAttributes.Service, includes: [ServiceDescription]? = nil,
    characteristics: [CharacteristicDescription]? = nil
  ) {
    self.init(
      handle: service.range.lowerBound, end: service.range.upperBound, uuid: service.uuid,
      primary: service.isPrimary ?? false, includes: includes, characteristics: characteristics)
  }

  init(_ include: DiscoveredInclude, isPrimary: Bool) {
    self.init(
      handle: include.range.lowerBound, end: include.range.upperBound, uuid: include.uuid, primary: isPrimary)
  }

  /// A service published by a session; `includes` describes the included ones.
  init(_ service: RegisteredService, includes: [ServiceDescription]?) {
    let ends = service.characteristics.dropFirst().map { $0.declarationHandle - 1 } + [service.range.upperBound]
    self.init(
      handle: service.range.lowerBound, end: service.range.upperBound, uuid: service.uuid, primary: service.isPrimary,
      includes: includes,
      characteristics: zip(service.characteristics, ends).map { characteristic, end in
        CharacteristicDescription(
          handle: characteristic.valueHandle, declaration: characteristic.declarationHandle, end: end,
          uuid: characteristic.uuid, properties: characteristic.properties.words,
          // The server offers this one of them (`CharacteristicDefinition`).
          extendedProperties: characteristic.properties.contains(.extendedProperties)
            ? ExtendedProperties.reliableWrite.words : nil,
          descriptors: characteristic.descriptors.map { DescriptorDescription(handle: $0.handle, uuid: $0.uuid) })
      })
  }
}

extension CharacteristicDescription {
  init(
    _ characteristic: DiscoveredCharacteristic, descriptors: [DiscoveredDescriptor]? = nil,
    extended: ExtendedProperties? = nil
  ) {
    self.init(
      handle: characteristic.valueHandle, declaration: characteristic.handle, end: characteristic.endHandle,
      uuid: characteristic.uuid, properties: characteristic.properties.words, extendedProperties: extended?.words,
      descriptors: descriptors?.map { DescriptorDescription(handle: $0.handle, uuid: $0.uuid) })
  }
}

extension CharacteristicProperties {
  /// The properties in a client's list.
  init(_ properties: [CharacteristicProperty]) { self = properties.reduce(into: []) { $0.formUnion($1.bit) } }

  /// As clients see them, in the order of their bits.
  var words: [Word<CharacteristicProperty>] { CharacteristicProperty.allCases.filter { contains($0.bit) }.words() }
}

extension CharacteristicProperty {
  fileprivate var bit: CharacteristicProperties {
    switch self {
    case .broadcast: .broadcast
    case .read: .read
    case .writeWithoutResponse: .writeWithoutResponse
    case .write: .write
    case .notify: .notify
    case .indicate: .indicate
    case .signedWrite: .authenticatedSignedWrites
    case .extendedProperties: .extendedProperties
    }
  }
}
