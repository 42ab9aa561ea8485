import Bluetooth

/// Lists who uses the daemon.
public enum SessionList: ClientCall {
  /// Nothing to say.
  public typealias Params = Empty
  /// `session.list`
  public static let name = "session.list"
  /// For `rpc.discover`.
  public static let summary = """
    Lists the sessions: who they are, what they hold and what they cost. Without the permission "sessions" there is \
    this session only.
    """
  /// Everybody may; the permission decides how much there is to see.
  public static let permission: Permission? = nil

  /// What comes back.
  public struct Result: RPCPayload {
    /// In the order in which they were opened.
    public var sessions: [SessionDescription]
    /// Makes the result.
    public init(sessions: [SessionDescription]) { self.sessions = sessions }
  }
}

/// A session: who it is, what it holds, what it costs.
public struct SessionDescription: Codable, Sendable {
  /// Its number.
  public var session: Int
  /// What the program calls itself; missing if it did not say.
  public var name: String?
  /// Whether it is the one that asks.
  public var mine: Bool
  /// The process that connected, where the kernel told.
  public var process: Int?
  /// The number of the user.
  public var user: Int?
  /// The name of the program's file, 15 octets at the most.
  public var program: String?
  /// Its restoration identifier; missing if it has none.
  public var restore: String?
  /// True if its program is gone and the session is kept for it.
  public var preserved: Bool?
  /// When it was opened, in seconds since the epoch.
  public var since: Double
  /// What it may do.
  public var permissions: [String]
  /// Its scan, as it was asked for; missing if it does not scan.
  public var scan: ScanStart.Params?
  /// The devices that it is connected to.
  public var connections: [Device] = []
  /// The devices that it waits for.
  public var connecting: [Device] = []
  /// The values that it is sent.
  public var subscriptions: [CharacteristicReference] = []
  /// The services that it publishes.
  public var services: [Service] = []
  /// Its advertisements.
  public var advertisements: [Advertisement] = []
  /// What it costs.
  public var costs: Costs

  /// A device.
  public struct Device: Codable, Sendable, Hashable {
    /// The daemon's identifier of it.
    public var peripheral: String
    /// Its address.
    public var address: String
    /// Its name, where known.
    public var name: String?
    /// Makes a device.
    public init(peripheral: String, address: String, name: String?) {
      self.peripheral = peripheral
      self.address = address
      self.name = name
    }
  }

  /// A service that the session publishes.
  public struct Service: Codable, Sendable, Hashable {
    /// The handle of its declaration.
    public var handle: UInt16
    /// Its UUID.
    public var uuid: BluetoothUUID
    /// Makes a service.
    public init(handle: UInt16, uuid: BluetoothUUID) {
      self.handle = handle
      self.uuid = uuid
    }
  }

  /// An advertisement of the session.
  public struct Advertisement: Codable, Sendable, Hashable {
    /// Its number.
    public var advertising: Int
    /// The adapter that sends it.
    public var adapter: String
    /// Whether it is on the air.
    public var onAir: Bool
    /// Makes an advertisement.
    public init(advertising: Int, adapter: String, onAir: Bool) {
      self.advertising = advertising
      self.adapter = adapter
      self.onAir = onAir
    }
  }

  /// What the session has cost since it was opened.
  public struct Costs: Codable, Sendable, Hashable {
    /// How many calls it made.
    public var requests = 0
    /// How many of them failed, whether or not they had an id to be answered under.
    public var requestsFailed = 0
    /// For how many seconds it had a scan.
    public var scanTime = 0.0
    /// How many reports it was sent.
    public var reports = 0
    /// Reports replaced by a newer one of the same device before they were read.
    public var reportsCoalesced = 0
    /// Reports for which there was no room.
    public var reportsDropped = 0
    /// For how many seconds it was connected, all devices together.
    public var linkTime = 0.0
    /// How many values of subscriptions it was sent.
    public var values = 0
    /// Values for which there was no room: each cost the session its subscription, or began a loss of what a device wrote.
    public var valuesRefused = 0
    /// Packets of devices that it subscribes on or serves that had no room on this machine; values may have been among them.
    public var packetsLost = 0
    /// How often a link was slowed down because this session, its only reader, fell behind.
    public var linksSlowed = 0
    /// How many octets wait for it to read.
    public var queueOctets = 0
    /// Makes what a session costs that has done nothing.
    public init() {}
  }

  /// Makes the description of a session that holds nothing.
  public init(session: Int, mine: Bool, since: Double, permissions: [String], costs: Costs) {
    self.session = session
    self.mine = mine
    self.since = since
    self.permissions = permissions
    self.costs = costs
  }
}
