import Bluetooth

/// Starts this session's scan, or replaces it.
public enum ScanStart: ClientCall {
  /// `scan.start` answers with nothing.
  public typealias Result = Empty
  /// `scan.start`
  public static let name = "scan.start"
  /// What a caller must be permitted.
  public static let permission: Permission? = .scan
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = """
    Starts this session's scan, or replaces it. Reports come as scan.report. A session has one scan; it ends with \
    scan.stop or with the session, and survives an adapter that goes away and comes back.
    """

  /// What the caller sends.
  public struct Params: RPCPayload {
    /// The adapter to scan on; all of them if missing.
    public var adapter: String?
    /// Only devices that advertise one of these services.
    public var services: [BluetoothUUID]?
    /// Only devices that wish to find one of these services on others; with `services`: those of either kind.
    public var solicitedServices: [BluetoothUUID]?
    /// Only devices whose name begins with this text.
    public var name: String?
    /// Only the device of this address.
    public var address: String?
    /// Only reports at least this strong, in dBm.
    public var rssi: Int?
    /// True: every report. False or missing: one report a device, and again whenever its data changes.
    public var duplicates: Bool?
    /// False: do not ask for scan responses. True if missing.
    public var active: Bool?
    /// Makes the params.
    public init(
      adapter: String? = nil, services: [BluetoothUUID]? = nil, solicitedServices: [BluetoothUUID]? = nil,
      name: String? = nil, address: String? = nil, rssi: Int? = nil, duplicates: Bool? = nil, active: Bool? = nil
    ) {
      self.adapter = adapter
      self.services = services
      self.solicitedServices = solicitedServices
      self.name = name
      self.address = address
      self.rssi = rssi
      self.duplicates = duplicates
      self.active = active
    }
  }
}

/// Ends this session's scan.
public enum ScanStop: ClientCall {
  /// Nothing to say.
  public typealias Params = Empty
  /// Nothing comes back.
  public typealias Result = Empty
  /// `scan.stop`
  public static let name = "scan.stop"
  /// What a caller must be permitted.
  public static let permission: Permission? = .scan
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = "Ends this session's scan. Without one it does nothing."
}

/// A device was heard.
public enum ScanReport: RPCNotification {
  /// `scan.report`
  public static let name = "scan.report"
  /// For `rpc.discover`.
  public static let summary = "A device was heard; what its advertisement and its scan response say is merged."

  /// What a device says of itself; the same for every client.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's stable identifier of the device, a UUID.
    public var peripheral: String
    /// The adapter that heard it.
    public var adapter: String
    /// The address it used.
    public var address: String
    /// "public" or "random".
    public var addressType: String
    /// Signal strength in dBm, where known.
    public var rssi: Int?
    /// Whether it accepts connections.
    public var connectable: Bool
    /// Its name, complete or shortened.
    public var name: String?
    /// The services it lists.
    public var services: [BluetoothUUID]?
    /// The services it wishes to find on others.
    public var solicitedServices: [BluetoothUUID]?
    /// Data of its services, by UUID text.
    public var serviceData: [String: HexBytes]?
    /// Data of its maker; the first two octets are the company, low octet first.
    public var manufacturerData: HexBytes?
    /// The power at which it sends, in dBm.
    public var txPower: Int?
    /// What kind of thing it is (Assigned Numbers, 2.6).
    public var appearance: Int?
    /// The advertising data as received.
    public var data: HexBytes
    /// The scan response data as received, once there is one.
    public var scanResponse: HexBytes?
    /// When it was heard, in seconds since the epoch.
    public var time: Double

    /// Makes a report of what is always known.
    public init(
      peripheral: String, adapter: String, address: String, addressType: String, connectable: Bool, data: HexBytes,
      time: Double
    ) {
      self.peripheral = peripheral
      self.adapter = adapter
      self.address = address
      self.addressType = addressType
      self.connectable = connectable
      self.data = data
      self.time = time
    }
  }
}
