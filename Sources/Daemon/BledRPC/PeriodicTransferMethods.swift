import Bluetooth

/// Transfers a train to a device.
public enum PeriodicTransfer: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "periodic.transfer", needs: .scan,
    """
    Transfers a train of periodic advertisements to a device that is connected to this session or uses its services: \
    the device can follow it without looking for it. The train is one that this session sends (`advertising`) or \
    follows (`train`), on the adapter of the link. Whether the device follows it is not told. Fails with notSupported \
    if one of the two controllers cannot do it, which the message tells, and with unknownHandle without such a train.
    """)

  /// A train that this session follows.
  public struct Train: RPCPayload, Hashable {
    /// The daemon's identifier of the device that sends it.
    public var peripheral: String
    /// The number of the advertising set, 0 to 15; if missing, the only followed one of that device.
    public var sid: Int?
    /// Names a train.
    public init(peripheral: String, sid: Int? = nil) {
      self.peripheral = peripheral
      self.sid = sid
    }
  }

  /// The parameters: either `advertising` or `train`.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device that receives the train.
    public var peripheral: String
    /// The number of an advertisement of this session with `periodic`.
    public var advertising: Int?
    /// A train that this session follows.
    public var train: Train?
    /// A value for the program at the device, 0 to 65535; 0 if missing.
    public var serviceData: Int?
    public init(peripheral: String, advertising: Int? = nil, train: Train? = nil, serviceData: Int? = nil) {
      self.peripheral = peripheral
      self.advertising = advertising
      self.train = train
      self.serviceData = serviceData
    }
  }
}

/// Waits for a train that a device transfers.
public enum PeriodicReceive: ClientCall {
  public static let method = MethodDescription(
    "periodic.receive", needs: .scan,
    """
    Waits for a train of periodic advertisements that a device transfers, which is connected to this session or uses \
    its services; without a timeout until the link ends. The train is followed from then on as after periodic.sync, \
    without a scan. Each call is for one train, and all sessions that wait for one of a device get the same. \
    periodic.stop ends the wait, too. Fails with notSupported if one of the two controllers cannot do it, which the \
    message tells, with notConnected when the link ends, and with the controller's error if it could not follow the \
    train. Of a train with subevents the session gets those that it names, else all; periodic.changed tells the reason \
    if that fails.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device that transfers a train.
    public var peripheral: String
    /// The timeout in seconds; none if missing.
    public var timeout: Double?
    /// The subevents to receive, 1 to 128 numbers of 0 to 127, of a train that has subevents; all if missing.
    public var subevents: [Int]?
    public init(peripheral: String, timeout: Double? = nil, subevents: [Int]? = nil) {
      self.subevents = subevents
      self.peripheral = peripheral
      self.timeout = timeout
    }
  }

  /// The train.
  public struct Result: RPCPayload, Hashable {
    /// The daemon's identifier of the device that sends the train, usually another one.
    public var peripheral: String
    /// The adapter that is synchronised.
    public var adapter: String
    /// The number of the advertising set, 0 to 15.
    public var sid: Int
    /// The time between two packets, in seconds.
    public var interval: Double
    /// The PHY of the train: "1M", "2M" or "coded".
    public var phy: Word<PHY>?
    /// The value sent with it, 0 to 65535.
    public var serviceData: Int
    /// The subevents of the train, if it has any.
    public var responses: PeriodicSync.Responses?
    public init(
      peripheral: String, adapter: String, sid: Int, interval: Double, phy: Word<PHY>?, serviceData: Int,
      responses: PeriodicSync.Responses? = nil
    ) {
      self.responses = responses
      self.peripheral = peripheral
      self.adapter = adapter
      self.sid = sid
      self.interval = interval
      self.phy = phy
      self.serviceData = serviceData
    }
  }
}
