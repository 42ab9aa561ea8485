import Bluetooth

/// A service in a database, with the handles it has.
public struct RegisteredService: Hashable, Sendable {
  /// From the service's declaration to its last handle.
  public let range: ClosedRange<UInt16>
  /// What service it is.
  public let uuid: BluetoothUUID
  /// Whether it is a primary service.
  public let isPrimary: Bool
  /// Who answers for it.
  public let owner: AttributeOwner
  /// Its characteristics in the order of their handles.
  public let characteristics: [RegisteredCharacteristic]
}

/// A characteristic in a database.
public struct RegisteredCharacteristic: Hashable, Sendable {
  /// The handle of the declaration.
  public let declarationHandle: UInt16
  /// The handle of the value.
  public let valueHandle: UInt16
  /// What characteristic it is.
  public let uuid: BluetoothUUID
  /// What clients are told they can do with it.
  public let properties: CharacteristicProperties
  /// Its descriptors, the added ones included.
  public var descriptors: [RegisteredDescriptor]

  /// The handle of its Client Characteristic Configuration, if it has one.
  public var clientConfigurationHandle: UInt16? {
    descriptors.first { $0.uuid == .clientCharacteristicConfiguration }?.handle
  }
}

/// A descriptor in a database.
public struct RegisteredDescriptor: Hashable, Sendable {
  /// Its handle.
  public let handle: UInt16
  /// What descriptor it is.
  public let uuid: BluetoothUUID
}
