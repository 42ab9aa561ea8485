import Bluetooth

/// Lists the sessions of the daemon.
public enum SessionList: ClientCall {
  public struct Params: RPCPayload, Hashable {
    /// Lists the sessions after the one with this number, 1 or more; all if missing.
    public var after: Int?
    public init(after: Int? = nil) { self.after = after }
  }
  public static let method = MethodDescription(
    "session.list", needs: nil,
    """
    Lists the sessions: their programs, what they hold and what they cost, at most 50 at a time. Without the \
    permission "sessions" the list has only the caller's own session.
    """)

  public struct Result: RPCPayload {
    /// In the order in which they were opened.
    public var sessions: [SessionDescription]
    /// True if there are more: call again with the number of the last one as `after`. Missing otherwise.
    public var more: Bool?
    public init(sessions: [SessionDescription], more: Bool? = nil) {
      self.sessions = sessions
      self.more = more
    }
  }
}

/// A session: its program, its resources and its costs.
public struct SessionDescription: Codable, Sendable {
  /// The number of the session, 1 or more.
  public var session: Int
  /// The name given in session.open; missing if there is none.
  public var name: String?
  /// True if it belongs to the caller.
  public var mine: Bool
  /// The number of the process that connected, 1 or more, if the kernel reported it.
  public var process: Int?
  /// The number of the user, 0 or more, likewise.
  public var user: Int?
  /// The number of the user of the program that acts for `user`, 0 or more; missing if the session is the program's
  /// own.
  public var impersonator: Int?
  /// The name of the program's executable, at most 15 octets.
  public var program: String?
  /// Its restoration identifier; missing if it has none.
  public var restore: String?
  /// True if its program has ended and the session is preserved for it.
  public var preserved: Bool?
  /// When it was opened, in seconds since the epoch.
  public var since: Double
  /// The permissions of the session: "scan", "connect", "serve", "advertise", "pair", "bonds", "agent", "adapters",
  /// "sessions", "impersonate", "capture", "simulation".
  public var permissions: [Word<Permission>]
  /// The parameters of its scan without a number; missing if it has none.
  public var scan: ScanStart.Params?
  /// The parameters of its scans with numbers; missing if it has none.
  public var scans: [ScanStart.Params]?
  /// The devices that it is connected to.
  public var connections: [Device] = []
  /// The devices to which it has a pending connection.
  public var connecting: [Device] = []
  /// The devices that it searches for in order to connect; missing if there are none.
  public var searching: [Search]?
  /// The characteristics that it is subscribed to.
  public var subscriptions: [CharacteristicReference] = []
  /// The services that it publishes.
  public var services: [Service] = []
  /// Its advertisements.
  public var advertisements: [Advertisement] = []
  /// Its L2CAP channels; missing if it has none.
  public var channels: [Channel]?
  /// The numbers of its listeners for L2CAP channels; missing if none.
  public var listening: [Listening]?
  /// The characteristics of devices with a socket of their own for values; missing if none.
  public var acquired: [CharacteristicReference]?
  /// The cost of the session.
  public var costs: Costs

  /// A device.
  public struct Device: Codable, Sendable, Hashable {
    /// The daemon's identifier of it.
    public var peripheral: String
    /// Its address.
    public var address: String
    /// Its name, if known.
    public var name: String?
    /// Makes a device.
    public init(peripheral: String, address: String, name: String?) {
      self.peripheral = peripheral
      self.address = address
      self.name = name
    }
  }

  /// The criteria of a search; a device must meet all that are present.
  public struct Search: Codable, Sendable, Hashable {
    /// Its name.
    public var name: String?
    /// The beginning of its name.
    public var namePrefix: String?
    /// A service that it advertises.
    public var service: BluetoothUUID?
    /// Makes a search.
    public init(name: String?, namePrefix: String?, service: BluetoothUUID?) {
      self.name = name
      self.namePrefix = namePrefix
      self.service = service
    }
  }

  /// A service that the session publishes.
  public struct Service: Codable, Sendable, Hashable {
    /// The handle of its declaration.
    public var handle: UInt16
    /// Its UUID.
    public var uuid: BluetoothUUID
    public init(handle: UInt16, uuid: BluetoothUUID) {
      self.handle = handle
      self.uuid = uuid
    }
  }

  /// An advertisement of the session.
  public struct Advertisement: Codable, Sendable, Hashable {
    /// The number that names it in the session, 1 or more.
    public var advertising: Int
    /// The adapter that sends it.
    public var adapter: String
    /// True if it is on the air: sent by its adapter, or taking turns with others.
    public var onAir: Bool
    /// Makes an advertisement.
    public init(advertising: Int, adapter: String, onAir: Bool) {
      self.advertising = advertising
      self.adapter = adapter
      self.onAir = onAir
    }
  }

  /// An L2CAP channel of the session.
  public struct Channel: Codable, Sendable, Hashable {
    /// Its number in the session, 1 or more.
    public var channel: Int
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The number of the listener.
    public var psm: UInt16
    /// The mode of the channel: "leCreditBased" or "enhanced".
    public var mode: Word<ChannelMode>
    /// The longest packet that the device may send, 23 to 65535 octets.
    public var receiveMTU: Int
    /// The longest packet that the device accepts, 23 to 65535 octets.
    public var sendMTU: Int
    /// The longest piece of the device's packets (MPS), in octets, 23 to 65533; absent if unknown.
    public var receiveMPS: Int?
    /// The longest piece of packets to the device (MPS), in octets, 23 to 65533; absent if unknown.
    public var sendMPS: Int?
    /// False while the program's packets wait: the device gives no credits, as it does not read.
    public var hasRoom: Bool
    /// Makes a channel.
    public init(_ description: ChannelDescription, hasRoom: Bool) {
      channel = description.channel
      peripheral = description.peripheral
      psm = description.psm
      mode = description.mode
      receiveMTU = description.receiveMTU
      sendMTU = description.sendMTU
      receiveMPS = description.receiveMPS
      sendMPS = description.sendMPS
      self.hasRoom = hasRoom
    }
  }

  /// A number on which the session listens for L2CAP channels.
  public struct Listening: Codable, Sendable, Hashable {
    /// The number.
    public var psm: UInt16
    /// The adapter.
    public var adapter: String
    /// Makes a number.
    public init(psm: UInt16, adapter: String) {
      self.psm = psm
      self.adapter = adapter
    }
  }

  /// The cost of the session since it was opened.
  public struct Costs: Codable, Sendable, Hashable {
    /// The number of its calls.
    public var requests = 0
    /// The number of failed calls, with or without an id.
    public var requestsFailed = 0
    /// The time for which it had a scan, in seconds.
    public var scanTime = 0.0
    /// The number of reports sent to it.
    public var reports = 0
    /// The number of reports replaced by a newer one of the same device before they were read.
    public var reportsCoalesced = 0
    /// The number of reports dropped because its queue was full.
    public var reportsDropped = 0
    /// The time for which it was connected, in seconds, summed over all devices.
    public var linkTime = 0.0
    /// The number of subscribed values sent to it.
    public var values = 0
    /// The number of values dropped because its queue was full: each ended a subscription, or began a loss of values
    /// written by a device.
    public var valuesRefused = 0
    /// The number of packets that the kernel dropped on links on which it subscribes or serves; they may have contained
    /// values.
    public var packetsLost = 0
    /// The number of times a link was slowed down because this session, its only reader, fell behind.
    public var linksSlowed = 0
    /// The number of octets queued for it.
    public var queueOctets = 0
    /// Makes the costs of a new session.
    public init() {}
  }

  /// Makes the description of a session without any resources.
  public init(session: Int, mine: Bool, since: Double, permissions: [Word<Permission>], costs: Costs) {
    self.session = session
    self.mine = mine
    self.since = since
    self.permissions = permissions
    self.costs = costs
  }
}
