import Bluetooth

/// A service to be published.
public struct ServiceToPublish: Codable, Sendable {
  /// What service it is.
  public var uuid: BluetoothUUID
  /// False for a secondary service; true if missing.
  public var primary: Bool?
  /// The handles of services that this session published before and that this one includes.
  public var includes: [UInt16]?
  /// Its characteristics.
  public var characteristics: [Characteristic]?

  /// A characteristic to be published.
  public struct Characteristic: Codable, Sendable {
    /// What characteristic it is.
    public var uuid: BluetoothUUID
    /// "read", "writeWithoutResponse", "write", "notify", "indicate", "signedWrite".
    public var properties: [String]
    /// "readable", "writeable", "readEncryptionRequired", "writeEncryptionRequired", "subscribeEncryptionRequired"; if
    /// missing: what the properties need.
    public var permissions: [String]?
    /// A value given here is fixed and answered by the daemon; without one every read and write asks this session.
    public var value: HexBytes?
    /// Descriptors with fixed values; 2900 and 2902 are made by the daemon.
    public var descriptors: [Descriptor]?
    /// Makes a characteristic.
    public init(
      uuid: BluetoothUUID, properties: [String], permissions: [String]? = nil, value: HexBytes? = nil,
      descriptors: [Descriptor]? = nil
    ) {
      self.uuid = uuid
      self.properties = properties
      self.permissions = permissions
      self.value = value
      self.descriptors = descriptors
    }
  }

  /// A descriptor to be published.
  public struct Descriptor: Codable, Sendable {
    /// What descriptor it is.
    public var uuid: BluetoothUUID
    /// Its fixed value.
    public var value: HexBytes
    /// Makes a descriptor.
    public init(uuid: BluetoothUUID, value: HexBytes) {
      self.uuid = uuid
      self.value = value
    }
  }

  /// Makes a service.
  public init(
    uuid: BluetoothUUID, primary: Bool? = nil, includes: [UInt16]? = nil, characteristics: [Characteristic]? = nil
  ) {
    self.uuid = uuid
    self.primary = primary
    self.includes = includes
    self.characteristics = characteristics
  }
}

/// Publishes a service.
public enum ServiceAdd: ClientCall {
  /// `service.add`
  public static let name = "service.add"
  /// What a caller must be permitted.
  public static let permission: Permission? = .serve
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = """
    Publishes a service on every adapter. Reads and writes of characteristics without a fixed value come as calls \
    server.read and server.write to this session. It ends with service.remove or with the session.
    """
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The service.
    public var service: ServiceToPublish
    /// Makes the params.
    public init(service: ServiceToPublish) { self.service = service }
  }
  /// What comes back.
  public struct Result: RPCPayload {
    /// The service with the handles it got; its own handle names it from now on.
    public var service: ServiceDescription
    /// Makes the result.
    public init(service: ServiceDescription) { self.service = service }
  }
}

/// Takes a published service back.
public enum ServiceRemove: ClientCall {
  /// Nothing comes back.
  public typealias Result = Empty
  /// `service.remove`
  public static let name = "service.remove"
  /// What a caller must be permitted.
  public static let permission: Permission? = .serve
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = "Takes a service of this session back; all of them if no handle is given."
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The service's own handle.
    public var handle: UInt16?
    /// Makes the params.
    public init(handle: UInt16? = nil) { self.handle = handle }
  }
}

/// Sends a new value to subscribers.
public enum ServerNotify: ClientCall {
  /// `server.notify`
  public static let name = "server.notify"
  /// What a caller must be permitted.
  public static let permission: Permission? = .serve
  /// For `rpc.discover`.
  public static let summary = """
    Sends a new value to the subscribers of a characteristic, as notification or indication, as each of them asked. \
    What is longer than a subscriber's MTU − 3 is cut; it can read the rest.
    """
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The value, up to 512 octets.
    public var value: HexBytes
    /// Only these subscribers; all if missing.
    public var centrals: [String]?
    /// Makes the params.
    public init(handle: UInt16, value: HexBytes, centrals: [String]? = nil) {
      self.handle = handle
      self.value = value
      self.centrals = centrals
    }
  }
  /// What comes back.
  public struct Result: RPCPayload {
    /// False: there was no room, nothing was sent; try again after `server.ready`. True also without subscribers.
    public var sent: Bool
    /// How many subscribers it went to.
    public var receivers: Int
    /// The subscribers that did not get it because they must discover the changed services first; missing if there are none.
    public var outOfSync: [String]?
    /// Makes the result.
    public init(sent: Bool, receivers: Int, outOfSync: [String]? = nil) {
      self.sent = sent
      self.receivers = receivers
      self.outOfSync = outOfSync
    }
  }
}

/// How quick a connection ought to be.
public enum ConnectionLatency: String, Codable, Sendable, CaseIterable {
  /// Quick and dear: 15 to 30 ms between two connection events.
  case low
  /// 90 to 120 ms.
  case medium
  /// Slow and cheap: 480 to 510 ms.
  case high

  /// Reads one of the words.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let latency = Self(rawValue: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "give low, medium or high")
    }
    self = latency
  }
}

/// Asks for a quicker or a cheaper connection.
public enum ServerSetLatency: ClientCall {
  /// Nothing comes back.
  public typealias Result = Empty
  /// `server.setLatency`
  public static let name = "server.setLatency"
  /// What a caller must be permitted.
  public static let permission: Permission? = .serve
  /// For `rpc.discover`.
  public static let summary = """
    Asks a device that connected to this machine for a quicker ("low": 15 to 30 ms between two connection events) or a cheaper \
    connection ("medium": 90 to 120 ms, "high": 480 to 510 ms). The device decides; the answer says that it was asked.
    """
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device, as in `server.subscribed`.
    public var central: String
    /// What is wished for.
    public var latency: ConnectionLatency
    /// Makes the params.
    public init(central: String, latency: ConnectionLatency) {
      self.central = central
      self.latency = latency
    }
  }
}
