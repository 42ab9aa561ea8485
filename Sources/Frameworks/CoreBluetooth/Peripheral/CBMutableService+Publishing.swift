import BledRPC
import Bluetooth

extension CBMutableService {
  /// Ends the program where Apple's framework raises an exception.
  func checkForPublishing() {
    for characteristic in characteristics ?? [] {
      guard let characteristic = characteristic as? CBMutableCharacteristic else {
        Misuse.raise("\(characteristic) is not a CBMutableCharacteristic and cannot be published")
      }
      if characteristic.value != nil, characteristic.isWritable {
        Misuse.raise("Characteristics with cached values must be read-only")
      }
    }
  }

  /// The service as the daemon takes it.
  /// - Parameters:
  ///   - includes: The handles of its included services.
  ///   - adapter: The only adapter offering it to devices; nil for all.
  func definition(includes: [UInt16], adapter: String?) -> ServiceToPublish {
    ServiceToPublish(
      uuid: uuid.value, primary: isPrimary, includes: includes.isEmpty ? nil : includes,
      characteristics: (characteristics ?? []).compactMap { ($0 as? CBMutableCharacteristic)?.definition },
      adapter: adapter)
  }
}

extension CBMutableCharacteristic {
  fileprivate var isWritable: Bool {
    !properties.isDisjoint(with: [.write, .writeWithoutResponse, .authenticatedSignedWrites])
      || !permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired])
  }

  fileprivate var definition: ServiceToPublish.Characteristic {
    var properties = properties
    if properties.contains(.notifyEncryptionRequired) { properties.insert(.notify) }
    if properties.contains(.indicateEncryptionRequired) { properties.insert(.indicate) }
    let isProtected = !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
    return .init(
      uuid: uuid.value, properties: properties.list,
      permissions: permissions.list + (isProtected ? [.subscribeEncryptionRequired] : []),
      value: value.map { HexBytes(Array($0)) },
      descriptors: (descriptors ?? []).compactMap { descriptor in
        descriptor.published.map { .init(uuid: descriptor.uuid.value, value: HexBytes($0)) }
      })
  }
}

extension CBMutableService {
  /// The service as it was published; included services are left to the caller.
  convenience init(_ definition: ServiceToPublish) {
    self.init(type: CBUUID(definition.uuid), primary: definition.primary ?? true)
    characteristics = (definition.characteristics ?? []).map { CBMutableCharacteristic($0) }
  }
}

extension CBMutableCharacteristic {
  fileprivate convenience init(_ definition: ServiceToPublish.Characteristic) {
    var properties = CBCharacteristicProperties(definition.properties)
    let permissions = definition.permissions ?? []
    if permissions.contains(.subscribeEncryptionRequired) {
      if properties.contains(.notify) { properties.insert(.notifyEncryptionRequired) }
      if properties.contains(.indicate) { properties.insert(.indicateEncryptionRequired) }
    }
    self.init(
      type: CBUUID(definition.uuid), properties: properties, value: definition.value.map { Data($0.octets) },
      permissions: CBAttributePermissions(permissions))
    let descriptors = (definition.descriptors ?? []).compactMap { descriptor -> CBMutableDescriptor? in
      let octets = descriptor.value?.octets ?? []
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

extension CBDescriptor {
  /// The octets of a local descriptor's value.
  fileprivate var published: [UInt8]? {
    switch value {
    case let text as String: Array(text.utf8)
    case let data as Data: Array(data)
    default: nil
    }
  }
}

extension CBAttributePermissions {
  private static let bits: [(permission: CharacteristicPermission, bit: CBAttributePermissions)] = [
    (.readable, .readable), (.writeable, .writeable), (.readEncryptionRequired, .readEncryptionRequired),
    (.writeEncryptionRequired, .writeEncryptionRequired),
  ]

  /// The daemon's permissions, as far as there are such here.
  fileprivate init(_ permissions: [CharacteristicPermission]) {
    self.init(permissions.compactMap { permission in Self.bits.first { $0.permission == permission }?.bit })
  }

  /// The permissions as the daemon has them.
  fileprivate var list: [CharacteristicPermission] { Self.bits.filter { contains($0.bit) }.map(\.permission) }
}
