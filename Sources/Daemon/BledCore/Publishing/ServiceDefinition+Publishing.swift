import BledRPC
import Bluetooth
import GATT

extension ServiceDefinition {
  /// A client's service as a definition for the database.
  /// - Throws: `BledError.invalidParameter`, naming the invalid member.
  init(_ service: ServiceToPublish) throws {
    guard ![0x1800, 0x1801].contains(service.uuid) else {
      throw BledError.invalidParameter.error(
        "service \(service.uuid) is provided by the daemon and may exist only once: leave it out")
    }
    try service.uuid.checkIsOfValue("service")
    self.init(
      uuid: service.uuid, isPrimary: service.primary ?? true, includes: service.includes ?? [],
      characteristics: try (service.characteristics ?? []).map { try CharacteristicDefinition($0) })
  }
}

extension CharacteristicDefinition {
  private static let writable: CharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]

  fileprivate init(_ characteristic: ServiceToPublish.Characteristic) throws {
    try characteristic.uuid.checkIsOfValue("characteristic")
    let properties = CharacteristicProperties(characteristic.properties)
    if let value = characteristic.value?.octets {
      guard value.count <= Attribute.longestValue else {
        throw BledError.invalidParameter.error(
          "the value of characteristic \(characteristic.uuid) has \(value.count) octets; the limit is 512")
      }
      guard properties.isDisjoint(with: Self.writable) else {
        throw BledError.invalidParameter.error(
          "characteristic \(characteristic.uuid) has a fixed value and cannot be writable: leave \"value\" out")
      }
    }
    guard !properties.contains(.broadcast) else {
      throw GAPError.notSupported.error(
        """
        characteristic \(characteristic.uuid) has "broadcast", which bled does not support: leave it out, and put the \
        value into an advertisement with \(AdvertisingStart.name) and "serviceData"
        """)
    }
    guard !properties.contains(.extendedProperties) || properties.contains(.write) else {
      throw BledError.invalidParameter.error(
        "characteristic \(characteristic.uuid) has \"extendedProperties\", which offers reliable writes: add \"write\"")
    }
    guard characteristic.minimumKeySize == nil || characteristic.permissions != nil else {
      throw BledError.invalidParameter.error(
        "\"minimumKeySize\" concerns \"permissions\" that require encryption: add them")
    }
    let access = try characteristic.permissions.map {
      try AccessWords($0, minimumKeySize: characteristic.minimumKeySize)
    }
    self.init(
      uuid: characteristic.uuid, properties: properties, permissions: access?.value,
      value: characteristic.value.map { .stored($0.octets) } ?? .owner,
      descriptors: try (characteristic.descriptors ?? []).map { try DescriptorDefinition($0) })
    if let subscribe = access?.subscribe {
      descriptors.append(
        DescriptorDefinition(
          uuid: 0x2902, permissions: AttributePermissions(read: .open, write: subscribe), value: .clientConfiguration))
    }
  }
}

extension DescriptorDefinition {
  fileprivate init(_ descriptor: ServiceToPublish.Descriptor) throws {
    guard ![0x2900, 0x2902].contains(descriptor.uuid) else {
      throw BledError.invalidParameter.error("descriptor \(descriptor.uuid) is created by the daemon: leave it out")
    }
    let permissions = descriptor.permissions.map { AttributePermissions($0) } ?? .readable
    guard let value = descriptor.value?.octets else {
      self.init(uuid: descriptor.uuid, permissions: permissions, value: .owner)
      return
    }
    guard value.count <= Attribute.longestValue else {
      throw BledError.invalidParameter.error("the value of descriptor \(descriptor.uuid) is longer than 512 octets")
    }
    guard permissions.write == nil else {
      throw BledError.invalidParameter.error(
        "descriptor \(descriptor.uuid) has a fixed value and cannot be writable: leave \"value\" out")
    }
    self.init(uuid: descriptor.uuid, permissions: permissions, value: .stored(value))
  }
}

extension BluetoothUUID {
  /// Throws for UUIDs that no service or characteristic can have: the types of declarations and descriptors (Core 5.4,
  /// Vol 3, Part G, 3.4), which clients would misinterpret, and the unassigned 0000.
  fileprivate func checkIsOfValue(_ kind: String) throws {
    switch short16 {
    case 0: throw BledError.invalidParameter.error("\(kind) \(self): that UUID is not assigned; choose another")
    case .some(0x2800...0x2803):
      throw BledError.invalidParameter.error("\(kind) \(self): that is the UUID of a declaration; choose another")
    case .some(0x2900...0x29FF):
      throw BledError.invalidParameter.error("\(kind) \(self): that is the UUID of a descriptor; choose another")
    default: break
    }
  }
}

extension DatabaseError {
  /// The error as reported to clients.
  var bluetoothError: BluetoothError {
    switch self {
    case .noHandlesLeft: BledError.limitReached.error("the database is full: remove services that are not needed")
    case .unknownInclude(let handle):
      BledError.unknownHandle.error("there is no service with handle \(handle.handleText) to include")
    case .hiddenInclude(let handle):
      BledError.invalidParameter.error(
        """
        the service with handle \(handle.handleText) is published on one adapter alone: publish the service that \
        includes it there, too
        """)
    case .valueTooLong: BledError.invalidParameter.error("a value is longer than 512 octets")
    case .invalidHandles, .invalidDeclaration: BledError.invalidParameter.error("the service is not valid")
    }
  }
}
