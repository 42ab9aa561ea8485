import Bluetooth

/// A service to publish.
public struct ServiceToPublish: Codable, Sendable {
  /// The UUID of the service.
  public var uuid: BluetoothUUID
  /// False for a secondary service; true if missing.
  public var primary: Bool?
  /// The handles of the included services, which this session must have published before.
  public var includes: [UInt16]?
  /// Its characteristics.
  public var characteristics: [Characteristic]?
  /// The only adapter that offers it to devices, by name or address; all of them if missing.
  public var adapter: String?

  /// A characteristic to publish.
  public struct Characteristic: Codable, Sendable {
    /// The UUID of the characteristic.
    public var uuid: BluetoothUUID
    /// The operations that it offers to devices: "broadcast", "read", "writeWithoutResponse", "write", "notify",
    /// "indicate", "signedWrite", and "extendedProperties", which offers reliable writes.
    public var properties: [CharacteristicProperty]
    /// "readable", "writeable", and the link's security to read ("readEncryptionRequired", or
    /// "readAuthenticationRequired": paired with protection against a person in the middle, or
    /// "readSecureConnectionsRequired": the same with LE Secure Connections), to write ("writeEncryptionRequired",
    /// "writeAuthenticationRequired", "writeSecureConnectionsRequired") and to subscribe
    /// ("subscribeEncryptionRequired", "subscribeAuthenticationRequired", "subscribeSecureConnectionsRequired"); if
    /// missing: the ones that the properties imply.
    public var permissions: [CharacteristicPermission]?
    /// The shortest key in octets, 7 to 16, where the link must be encrypted; 7 if missing.
    public var minimumKeySize: Int?
    /// A fixed value, which the daemon answers; without one every read and write is passed to this session.
    public var value: HexBytes?
    /// Its descriptors; the daemon adds 2900 and 2902.
    public var descriptors: [Descriptor]?
    /// Makes a characteristic.
    public init(
      uuid: BluetoothUUID, properties: [CharacteristicProperty], permissions: [CharacteristicPermission]? = nil,
      minimumKeySize: Int? = nil,
      value: HexBytes? = nil, descriptors: [Descriptor]? = nil
    ) {
      self.uuid = uuid
      self.properties = properties
      self.permissions = permissions
      self.minimumKeySize = minimumKeySize
      self.value = value
      self.descriptors = descriptors
    }
  }

  /// A descriptor to publish.
  public struct Descriptor: Codable, Sendable {
    /// The UUID of the descriptor.
    public var uuid: BluetoothUUID
    /// A fixed value, which the daemon answers; without one every read and write is passed to this session.
    public var value: HexBytes?
    /// "readable", and the link's security to read it: "readEncryptionRequired", "readAuthenticationRequired" or
    /// "readSecureConnectionsRequired". Without a fixed value also "writeable", "writeEncryptionRequired",
    /// "writeAuthenticationRequired" and "writeSecureConnectionsRequired". If missing: any device can read it, and none
    /// can write it.
    public var permissions: [DescriptorPermission]?
    /// Makes a descriptor.
    public init(uuid: BluetoothUUID, value: HexBytes? = nil, permissions: [DescriptorPermission]? = nil) {
      self.uuid = uuid
      self.value = value
      self.permissions = permissions
    }
  }

  public init(
    uuid: BluetoothUUID, primary: Bool? = nil, includes: [UInt16]? = nil, characteristics: [Characteristic]? = nil,
    adapter: String? = nil
  ) {
    self.uuid = uuid
    self.primary = primary
    self.includes = includes
    self.characteristics = characteristics
    self.adapter = adapter
  }
}

/// Publishes a service.
public enum ServiceAdd: ClientCall {
  public static let method = MethodDescription(
    "service.add", needs: .serve, changesSession: true,
    """
    Publishes a service, on every adapter unless it names one. Reads and writes of characteristics and descriptors \
    without a fixed value are passed to this session as calls of server.read and server.write. The service is removed by service.remove or when the session ends.
    """)
  /// 512 KiB: a service may have hundreds of characteristics with fixed values.
  public static let longestLine = 512 << 10
  public struct Params: RPCPayload {
    /// The service.
    public var service: ServiceToPublish
    public init(service: ServiceToPublish) { self.service = service }
  }
  public struct Result: RPCPayload {
    /// The service with its handles; the handle of the declaration identifies it from now on.
    public var service: ServiceDescription
    public init(service: ServiceDescription) { self.service = service }
  }
}

/// Removes a published service.
public enum ServiceRemove: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "service.remove", needs: .serve, changesSession: true,
    "Removes a service of this session, or all of them if no handle is given.")
  public struct Params: RPCPayload {
    /// The handle of the service's declaration.
    public var handle: UInt16?
    public init(handle: UInt16? = nil) { self.handle = handle }
  }
}

/// The latency that is requested of a connection.
public enum ConnectionLatency: String, Vocabulary {
  /// Low latency at the cost of power: 15 to 30 ms between two connection events.
  case low
  /// 90 to 120 ms.
  case medium
  /// High latency to save power: 480 to 510 ms.
  case high
}

/// Requests other connection parameters of a central.
public enum ServerSetLatency: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "server.setLatency", needs: .serve,
    """
    Asks a device that connected to this machine for another connection interval: "low" latency (15 to 30 ms), or \
    "medium" (90 to 120 ms) or "high" (480 to 510 ms) to save power. It is a wish of this session as that of \
    peripheral.setParameters, and takes its place. The call answers when the two controllers have settled it.
    """)
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device, as in `server.subscribed`.
    public var central: String
    /// The requested latency: low is 15 to 30 ms between two connection events, medium 90 to 120 ms, high 480 to
    /// 510 ms.
    public var latency: ConnectionLatency
    public init(central: String, latency: ConnectionLatency) {
      self.central = central
      self.latency = latency
    }
  }
}
