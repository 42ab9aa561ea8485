import Bluetooth

/// Follows a train of periodic advertisements.
public enum PeriodicSync: ClientCall {
  public static let method = MethodDescription(
    "periodic.sync", needs: .scan,
    """
    Follows a train of periodic advertisements, and answers when the adapter is synchronised with it; without a timeout \
    it waits indefinitely, and while it waits the adapter scans. What the train carries is sent as periodic.report. \
    Sessions share the synchronisation with a train. It ends with periodic.stop or when the program disconnects; when \
    the train is lost, periodic.changed tells, and it is looked for again. Of a train with subevents the session gets \
    those that it names, else all; fails with invalidParameter if the train has no such subevents, and with the \
    controller's error if it does not receive so many.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The device: the daemon's identifier of it, or its address.
    public var peripheral: String
    /// For an address in `peripheral`, "public" or "random"; if missing: as last received, else random if the two top
    /// bits are set, else public.
    public var addressType: DeviceAddress.Kind?
    /// The number of the advertising set, 0 to 15; if missing, the one that last announced a train of the device.
    public var sid: Int?
    /// The adapter; if missing, the one that last received the device.
    public var adapter: String?
    /// The timeout in seconds; none if missing.
    public var timeout: Double?
    /// The subevents to receive, 1 to 128 numbers of 0 to 127, of a train that has subevents; all if missing.
    public var subevents: [Int]?
    public init(
      peripheral: String, addressType: DeviceAddress.Kind? = nil, sid: Int? = nil, adapter: String? = nil,
      timeout: Double? = nil, subevents: [Int]? = nil
    ) {
      self.subevents = subevents
      self.peripheral = peripheral
      self.addressType = addressType
      self.sid = sid
      self.adapter = adapter
      self.timeout = timeout
    }
  }

  /// The subevents of a train, with slots in which this side can respond.
  public struct Responses: RPCPayload, Hashable {
    /// The number of subevents in each interval of the train, 1 to 128.
    public var subevents: Int
    /// From the start of one subevent to the start of the next, in seconds.
    public var subeventInterval: Double
    /// From the start of a subevent to its first slot, in seconds; missing for a train without slots.
    public var slotDelay: Double?
    /// From the start of one slot to the start of the next, in seconds; missing for a train without slots.
    public var slotSpacing: Double?
    /// Describes subevents.
    public init(subevents: Int, subeventInterval: Double, slotDelay: Double? = nil, slotSpacing: Double? = nil) {
      self.subevents = subevents
      self.subeventInterval = subeventInterval
      self.slotDelay = slotDelay
      self.slotSpacing = slotSpacing
    }
  }

  /// The train.
  public struct Result: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The adapter that is synchronised.
    public var adapter: String
    /// The number of the advertising set, 0 to 15.
    public var sid: Int
    /// The time between two packets, in seconds.
    public var interval: Double
    /// The PHY of the train: "1M", "2M" or "coded".
    public var phy: Word<PHY>?
    /// The subevents of the train, if it has any.
    public var responses: Responses?
    public init(
      peripheral: String, adapter: String, sid: Int, interval: Double, phy: Word<PHY>?, responses: Responses? = nil
    ) {
      self.responses = responses
      self.peripheral = peripheral
      self.adapter = adapter
      self.sid = sid
      self.interval = interval
      self.phy = phy
    }
  }
}

/// Ends following trains.
public enum PeriodicStop: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "periodic.stop", needs: .scan,
    """
    This session no longer follows a train, or waits for it: of a device all if there is no `sid`, and all trains if \
    there is no `peripheral`.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The device: the daemon's identifier of it, or its address, as in periodic.sync.
    public var peripheral: String?
    /// The number of the advertising set, 0 to 15.
    public var sid: Int?
    public init(peripheral: String? = nil, sid: Int? = nil) {
      self.peripheral = peripheral
      self.sid = sid
    }
  }
}

/// A packet of a train was received.
public enum PeriodicReport: RPCNotification {
  public static let message = MessageDescription(
    "periodic.report", "A packet of a train that this session follows was received.")

  /// The data of one report; the same for every client.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The adapter that received it.
    public var adapter: String
    /// The number of the advertising set, 0 to 15.
    public var sid: Int
    /// The data, usually AD structures: 0 to 1650 octets.
    public var data: HexBytes
    /// Signal strength in dBm, if known.
    public var rssi: Int?
    /// The transmit power in dBm, if the header contains it.
    public var txPower: Int?
    /// True if the controller lost the end of the data.
    public var truncated: Bool?
    /// When it was received, in seconds since the epoch.
    public var time: Double
    /// The number of the event in which it was sent, 0 to 65535, of a train with subevents.
    public var event: Int?
    /// The subevent in which it was sent, 0 to 127, of a train with subevents.
    public var subevent: Int?
    public init(peripheral: String, adapter: String, sid: Int, data: HexBytes, time: Double) {
      self.peripheral = peripheral
      self.adapter = adapter
      self.sid = sid
      self.data = data
      self.time = time
    }
  }
}

/// A train was lost, or found again, or can no longer be followed.
public enum PeriodicChanged: RPCNotification {
  public static let message = MessageDescription(
    "periodic.changed",
    """
    A train that this session follows was lost (it is looked for again), was found again, or cannot be followed any \
    more (`reason`).
    """)

  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The adapter.
    public var adapter: String
    /// The number of the advertising set, 0 to 15.
    public var sid: Int
    /// True if the adapter is synchronised with it.
    public var synced: Bool
    /// The time between two packets, in seconds, if it is.
    public var interval: Double?
    /// The PHY of the train, if it is: "1M", "2M" or "coded".
    public var phy: Word<PHY>?
    /// The reason why this session no longer follows it; missing if it does.
    public var reason: RPCError?
    public init(
      peripheral: String, adapter: String, sid: Int, synced: Bool, interval: Double? = nil, phy: Word<PHY>? = nil,
      reason: RPCError? = nil
    ) {
      self.peripheral = peripheral
      self.adapter = adapter
      self.sid = sid
      self.synced = synced
      self.interval = interval
      self.phy = phy
      self.reason = reason
    }
  }
}
