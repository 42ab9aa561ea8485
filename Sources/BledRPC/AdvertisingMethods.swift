import Bluetooth

/// Starts an advertisement.
public enum AdvertisingStart: ClientCall {
  /// `advertising.start`
  public static let name = "advertising.start"
  /// What a caller must be permitted.
  public static let permission: Permission? = .advertise
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = """
    Starts an advertisement of this session. Flags are added by the daemon; what does not fit into the advertisement \
    goes to the scan response, the name is shortened if it must be, and the rest is refused. It ends with \
    advertising.stop or with the session, and survives an adapter that goes away and comes back.
    """
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The adapter; the first if missing.
    public var adapter: String?
    /// The name to show.
    public var name: String?
    /// The services to list.
    public var services: [BluetoothUUID]?
    /// Data of services, by UUID text.
    public var serviceData: [String: HexBytes]?
    /// Data of the maker; the first two octets are the company, low octet first.
    public var manufacturerData: HexBytes?
    /// What kind of thing it is (Assigned Numbers, 2.6).
    public var appearance: Int?
    /// False: nobody can connect. True if missing.
    public var connectable: Bool?
    /// Seconds between two advertisements, 0.02 to 10.24; 0.1 if missing.
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
  /// What comes back once it is on the air.
  public struct Result: RPCPayload {
    /// The number that names it.
    public var advertising: Int
    /// The adapter that sends it.
    public var adapter: String
    /// The real interval in seconds: longer than wanted when advertisements take turns.
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

/// Ends an advertisement.
public enum AdvertisingStop: ClientCall {
  /// Nothing comes back.
  public typealias Result = Empty
  /// `advertising.stop`
  public static let name = "advertising.stop"
  /// What a caller must be permitted.
  public static let permission: Permission? = .advertise
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = "Ends an advertisement of this session; all of them if no number is given."
  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The number that `advertising.start` gave.
    public var advertising: Int?
    /// Makes the params.
    public init(advertising: Int? = nil) { self.advertising = advertising }
  }
}

/// An advertisement left the air or came back.
public enum AdvertisingChanged: RPCNotification {
  /// `advertising.changed`
  public static let name = "advertising.changed"
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary =
    "An advertisement of this session left the air, came back, has another interval, or failed."
  /// What it carries.
  public struct Params: RPCPayload {
    /// The number that `advertising.start` gave.
    public var advertising: Int
    /// Whether it is on the air.
    public var onAir: Bool
    /// The real interval in seconds, while it is on the air: it grows with the number of advertisements that take turns.
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
