import Bluetooth

/// Starts an advertisement.
public enum AdvertisingStart: ClientCall {
  /// `advertising.start`
  public static let name = "advertising.start"
  /// The permission that the caller needs.
  public static let permission: Permission? = .advertise
  /// It can change what the session holds.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = """
    Starts an advertisement of this session. The daemon adds the flags; data that does not fit into the advertisement \
    goes into the scan response, the name is shortened if necessary, and if the data still does not fit the call \
    fails. The advertisement ends with advertising.stop or with the session, and survives an adapter that is removed \
    and comes back.
    """
  /// The parameters.
  public struct Params: RPCPayload {
    /// The adapter; the first if missing.
    public var adapter: String?
    /// The local name.
    public var name: String?
    /// The services to list.
    public var services: [BluetoothUUID]?
    /// Service data, by UUID.
    public var serviceData: [String: HexBytes]?
    /// Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    public var manufacturerData: HexBytes?
    /// The appearance (Assigned Numbers, 2.6).
    public var appearance: Int?
    /// False: not connectable. True if missing.
    public var connectable: Bool?
    /// The advertising interval in seconds, 0.02 to 10.24; 0.1 if missing.
    public var interval: Double?
    /// Makes the params.
    public init(
      adapter: String? = nil, name: String? = nil, services: [BluetoothUUID]? = nil,
      serviceData: [String: HexBytes]? = nil, manufacturerData: HexBytes? = nil, appearance: Int? = nil,
      connectable: Bool? = nil, interval: Double? = nil
    ) {
      self.adapter = adapter
      self.name = name
      self.services = services
      self.serviceData = serviceData
      self.manufacturerData = manufacturerData
      self.appearance = appearance
      self.connectable = connectable
      self.interval = interval
    }
  }
  /// The result once it is on the air.
  public struct Result: RPCPayload {
    /// The number that names it.
    public var advertising: Int
    /// The adapter that sends it.
    public var adapter: String
    /// The actual interval in seconds: longer than requested when advertisements take turns.
    public var interval: Double
    /// The name as it is sent, if it had to be shortened.
    public var shortenedName: String?
    /// Makes the result.
    public init(advertising: Int, adapter: String, interval: Double, shortenedName: String?) {
      self.advertising = advertising
      self.adapter = adapter
      self.interval = interval
      self.shortenedName = shortenedName
    }
  }
}

/// Stops an advertisement.
public enum AdvertisingStop: ClientCall {
  /// The result is empty.
  public typealias Result = Empty
  /// `advertising.stop`
  public static let name = "advertising.stop"
  /// The permission that the caller needs.
  public static let permission: Permission? = .advertise
  /// It can change what the session holds.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = "Stops an advertisement of this session, or all of them if no number is given."
  /// The parameters.
  public struct Params: RPCPayload {
    /// The number that `advertising.start` gave.
    public var advertising: Int?
    /// Makes the params.
    public init(advertising: Int? = nil) { self.advertising = advertising }
  }
}

/// An advertisement went off the air or came back.
public enum AdvertisingChanged: RPCNotification {
  /// `advertising.changed`
  public static let name = "advertising.changed"
  /// It can change what the session holds.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary =
    "An advertisement of this session went off the air, came back, changed its interval, or failed."
  /// The parameters.
  public struct Params: RPCPayload {
    /// The number that `advertising.start` gave.
    public var advertising: Int
    /// Whether it is on the air.
    public var onAir: Bool
    /// The actual interval in seconds while it is on the air: it grows with the number of advertisements that take
    /// turns.
    public var interval: Double?
    /// Why it failed, if it did.
    public var reason: RPCError?
    /// Makes the params.
    public init(advertising: Int, onAir: Bool, interval: Double? = nil, reason: RPCError? = nil) {
      self.advertising = advertising
      self.onAir = onAir
      self.interval = interval
      self.reason = reason
    }
  }
}
