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

  /// A service that a session published; the included ones are described by `includes`.
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
  private static let names: [(word: String, property: CharacteristicProperties)] = [
    ("broadcast", .broadcast), ("read", .read), ("writeWithoutResponse", .writeWithoutResponse), ("write", .write),
    ("notify", .notify), ("indicate", .indicate), ("signedWrite", .authenticatedSignedWrites),
    ("extendedProperties", .extendedProperties),
  ]

  /// The protocol's words for them, in the order of the bits.
  var words: [String] { Self.names.filter { contains($0.property) }.map(\.word) }

  /// Reads the words of a client.
  /// - Throws: `BledError.invalidParameter` for an unknown word.
  init(words: [String]) throws {
    self = []
    for word in words {
      guard let name = Self.names.first(where: { $0.word.hasSameOctets(as: word) }) else {
        let known = Self.names.map(\.word).joined(separator: ", ")
        throw BledError.invalidParameter.error("\"\(word.excerpt)\" is not a property: use some of \(known)")
      }
      insert(name.property)
    }
  }
}
