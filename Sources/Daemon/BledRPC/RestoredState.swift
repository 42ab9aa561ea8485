import Bluetooth

/// The state of a session when its program went away. The events since then follow the answer that carries this; both
/// together give the present state.
public struct RestoredState: Codable, Sendable {
  /// When the program ended, in seconds since the epoch.
  public var since: Double
  /// The parameters of the scan without a number.
  public var scan: ScanStart.Params?
  /// The parameters of the scans with numbers; missing if there are none.
  public var scans: [ScanStart.Params]?
  /// The devices that were connected or had a pending connection.
  public var peripherals: [Peripheral]
  /// The services that the session published.
  public var services: [Service]
  /// The advertisements.
  public var advertisements: [Advertisement]
  /// The number of reports dropped because the queue was full; others were replaced by newer ones of the same device.
  public var droppedReports: Int
  /// The number of values dropped because the queue was full: their subscriptions ended, as the events report. Writes
  /// without response from devices are counted here, too.
  public var droppedValues: Int

  /// A device that was connected or had a pending connection.
  public struct Peripheral: Codable, Sendable, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Its address.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// The adapter that holds the link or searches for the device.
    public var adapter: String
    /// Its name, if known.
    public var name: String?
    /// "connected", or "connecting": peripheral.connected or peripheral.connectFailed follows.
    public var state: Word<State>
    /// The ATT MTU, 23 to 517 octets, while connected.
    public var mtu: Int?
    /// The attributes that the session discovered.
    public var services: [ServiceDescription]
    /// The handles of the characteristics that the session subscribes to.
    public var subscriptions: [UInt16]
    /// The subscriptions among them to indications; missing if there are none.
    public var indications: [UInt16]?
    /// True if the daemon reconnects when the link is lost; false if missing.
    public var reconnect: Bool?
    /// The parameters that the session requests for the link; missing if none.
    public var parameters: LinkWish?
    /// The states of a device that the session holds.
    public enum State: String, Vocabulary {
      /// With a link.
      case connected
      /// The session waits for the connection.
      case connecting
    }

    public init(
      peripheral: String, address: String, addressType: Word<DeviceAddress.Kind>, adapter: String, name: String?,
      state: Word<State>,
      mtu: Int?, services: [ServiceDescription], subscriptions: [UInt16], indications: [UInt16]? = nil,
      reconnect: Bool? = nil, parameters: LinkWish? = nil
    ) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.adapter = adapter
      self.name = name
      self.state = state
      self.mtu = mtu
      self.services = services
      self.subscriptions = subscriptions
      self.indications = indications
      self.reconnect = reconnect
      self.parameters = parameters
    }
  }

  /// A service that the session published.
  public struct Service: Codable, Sendable {
    /// The service with its unchanged handles.
    public var service: ServiceDescription
    /// The definition given to service.add.
    public var definition: ServiceToPublish
    /// The subscribers of its characteristics.
    public var subscribers: [Subscriber]
    public init(service: ServiceDescription, definition: ServiceToPublish, subscribers: [Subscriber]) {
      self.service = service
      self.definition = definition
      self.subscribers = subscribers
    }
  }

  /// An advertisement of the session.
  public struct Advertisement: Codable, Sendable {
    /// The number that names it in this session, 1 or more.
    public var advertising: Int
    /// The adapter that sends it.
    public var adapter: String
    /// True if it was on the air: sent by its adapter, or taking turns with others.
    public var onAir: Bool
    /// The parameters given to advertising.start.
    public var parameters: AdvertisingStart.Params
    /// The end of its `duration` or `count`, in seconds since the epoch, if it has one and was on the air.
    public var ends: Double?
    public init(
      advertising: Int, adapter: String, onAir: Bool, parameters: AdvertisingStart.Params, ends: Double? = nil
    ) {
      self.ends = ends
      self.advertising = advertising
      self.adapter = adapter
      self.onAir = onAir
      self.parameters = parameters
    }
  }

  /// Makes a state.
  public init(
    since: Double, scan: ScanStart.Params?, scans: [ScanStart.Params]? = nil, peripherals: [Peripheral],
    services: [Service],
    advertisements: [Advertisement], droppedReports: Int = 0, droppedValues: Int = 0
  ) {
    self.since = since
    self.scan = scan
    self.scans = scans
    self.peripherals = peripherals
    self.services = services
    self.advertisements = advertisements
    self.droppedReports = droppedReports
    self.droppedValues = droppedValues
  }
}
