import Bluetooth

/// A service on a device, or one that this session published.
public struct ServiceDescription: Codable, Sendable, Hashable {
  /// Its declaration's handle.
  public var handle: UInt16
  /// The last handle that belongs to it.
  public var end: UInt16
  /// The UUID of the service.
  public var uuid: BluetoothUUID
  /// False for a secondary service.
  public var primary: Bool
  /// The services it includes, if they were requested.
  public var includes: [ServiceDescription]?
  /// Its characteristics, if they were requested.
  public var characteristics: [CharacteristicDescription]?
  public init(
    handle: UInt16, end: UInt16, uuid: BluetoothUUID, primary: Bool, includes: [ServiceDescription]? = nil,
    characteristics: [CharacteristicDescription]? = nil
  ) {
    self.handle = handle
    self.end = end
    self.uuid = uuid
    self.primary = primary
    self.includes = includes
    self.characteristics = characteristics
  }
}

/// A characteristic.
public struct CharacteristicDescription: Codable, Sendable, Hashable {
  /// The handle of its value: the handle that `gatt.read`, `gatt.write` and `gatt.subscribe` use.
  public var handle: UInt16
  /// The handle of its declaration; descriptions that an older daemon stored lack it.
  public var declaration: UInt16?
  /// The last handle that belongs to it.
  public var end: UInt16
  /// The UUID of the characteristic.
  public var uuid: BluetoothUUID
  /// The operations that it supports: "broadcast", "read", "writeWithoutResponse", "write", "notify", "indicate",
  /// "signedWrite", "extendedProperties".
  public var properties: [Word<CharacteristicProperty>]
  /// The content of its Characteristic Extended Properties: "reliableWrite", "writableAuxiliaries". Missing where it
  /// has no such descriptor, the descriptors were not discovered, or the device refused to let it be read.
  public var extendedProperties: [Word<ExtendedProperty>]?
  /// Its descriptors, if they were requested.
  public var descriptors: [DescriptorDescription]?
  public init(
    handle: UInt16, declaration: UInt16? = nil, end: UInt16, uuid: BluetoothUUID,
    properties: [Word<CharacteristicProperty>],
    extendedProperties: [Word<ExtendedProperty>]? = nil, descriptors: [DescriptorDescription]? = nil
  ) {
    self.handle = handle
    self.declaration = declaration
    self.extendedProperties = extendedProperties
    self.end = end
    self.uuid = uuid
    self.properties = properties
    self.descriptors = descriptors
  }
}

/// A descriptor.
public struct DescriptorDescription: Codable, Sendable, Hashable {
  /// Its handle.
  public var handle: UInt16
  /// The UUID of the descriptor.
  public var uuid: BluetoothUUID
  public init(handle: UInt16, uuid: BluetoothUUID) {
    self.handle = handle
    self.uuid = uuid
  }
}

/// Discovers everything on a device.
public enum GATTDiscover: ClientCall {
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The timeout in seconds, more than 0 and at most a day; 60 if missing.
    public var timeout: Double?
    public init(peripheral: String, timeout: Double? = nil) {
      self.peripheral = peripheral
      self.timeout = timeout
    }
  }
  /// The whole tree.
  public typealias Result = GATTServices
  public static let method = MethodDescription(
    "gatt.discover", needs: .connect,
    """
    Discovers all services, included services, characteristics and descriptors of a device. Fails with the gap error \
    timeout when it has taken too long; gatt.discoveryProgress reports about once a second how far it got.
    """)
}

/// A discovery of everything on a device has not finished yet.
public enum GATTDiscoveryProgress: RPCNotification {
  public static let message = MessageDescription(
    "gatt.discoveryProgress",
    "A gatt.discover of this session has not finished; about once a second while the device answers.")
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The number of services known so far.
    public var services: Int
    /// The number of characteristics known so far.
    public var characteristics: Int
    public init(peripheral: String, services: Int, characteristics: Int) {
      self.peripheral = peripheral
      self.services = services
      self.characteristics = characteristics
    }
  }
}

/// Services in order of their handles.
public struct GATTServices: RPCPayload {
  /// The services.
  public var services: [ServiceDescription]
  public init(services: [ServiceDescription]) { self.services = services }
}

/// Discovers primary services.
public enum GATTDiscoverServices: ClientCall {
  /// The services, without their contents.
  public typealias Result = GATTServices
  public static let method = MethodDescription(
    "gatt.discoverServices", needs: .connect,
    "Discovers the primary services of a device, with the given UUIDs, or all.")
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Only these; all if missing or empty.
    public var services: [BluetoothUUID]?
    public init(peripheral: String, services: [BluetoothUUID]? = nil) {
      self.peripheral = peripheral
      self.services = services
    }
  }
}

/// Names a part of a device's attributes, a service or a characteristic, with an optional filter of UUIDs. A handle
/// belongs to a discovered one.
public struct GATTScope: RPCPayload {
  /// The daemon's identifier of the device.
  public var peripheral: String
  /// The service or characteristic.
  public var attribute: AttributePath
  /// Only these; all if missing or empty.
  public var uuids: [BluetoothUUID]?
  public init(peripheral: String, attribute: AttributePath, uuids: [BluetoothUUID]? = nil) {
    self.peripheral = peripheral
    self.attribute = attribute
    self.uuids = uuids
  }

  public init(peripheral: String, handle: UInt16, uuids: [BluetoothUUID]? = nil) {
    self.init(peripheral: peripheral, attribute: .handle(handle), uuids: uuids)
  }

  private enum CodingKeys: CodingKey { case peripheral, uuids }

  /// Reads the members, and the attribute's.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    peripheral = try container.decode(String.self, forKey: .peripheral)
    attribute = try AttributePath(from: decoder)
    uuids = try container.decodeIfPresent([BluetoothUUID].self, forKey: .uuids)
  }

  /// Writes the members, and the attribute's.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(peripheral, forKey: .peripheral)
    try attribute.encode(to: encoder)
    try container.encodeIfPresent(uuids, forKey: .uuids)
  }
}

/// Discovers the services that a service includes.
public enum GATTDiscoverIncludedServices: ClientCall {
  /// The service.
  public typealias Params = GATTScope
  /// The included services.
  public typealias Result = GATTServices
  public static let method = MethodDescription(
    "gatt.discoverIncludedServices", needs: .connect,
    "Discovers the services that a service includes.")
}

/// Discovers the characteristics of a service.
public enum GATTDiscoverCharacteristics: ClientCall {
  /// The service.
  public typealias Params = GATTScope
  public static let method = MethodDescription(
    "gatt.discoverCharacteristics", needs: .connect,
    "Discovers the characteristics of a service.")
  public struct Result: RPCPayload {
    /// In order of their handles.
    public var characteristics: [CharacteristicDescription]
    public init(characteristics: [CharacteristicDescription]) { self.characteristics = characteristics }
  }
}

/// Discovers the descriptors of a characteristic.
public enum GATTDiscoverDescriptors: ClientCall {
  /// The characteristic, by the handle of its value.
  public typealias Params = GATTScope
  public static let method = MethodDescription(
    "gatt.discoverDescriptors", needs: .connect,
    "Discovers the descriptors of a characteristic.")
  public struct Result: RPCPayload {
    /// In order of their handles.
    public var descriptors: [DescriptorDescription]
    public init(descriptors: [DescriptorDescription]) { self.descriptors = descriptors }
  }
}
