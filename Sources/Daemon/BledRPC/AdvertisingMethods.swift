import Bluetooth

/// Starts an advertisement.
public enum AdvertisingStart: ClientCall {
  public static let method = MethodDescription(
    "advertising.start", needs: .advertise, changesSession: true,
    """
    Starts an advertisement of this session. The daemon adds the flags; data that does not fit into the advertisement \
    goes into the scan response, the name is shortened if necessary, and if the data still does not fit the call \
    fails. The advertisement ends with advertising.stop or with the session, and survives an adapter that is removed \
    and comes back; with `duration` (seconds) or `count` (1 to 255 advertising events) it ends by itself, which \
    advertising.changed tells. Legacy PDUs are sent, which every scanner hears and which carry 31 octets and as many \
    in the scan response; with `extended` one advertisement has up to 1650 octets, or fewer if the controller has \
    less, and scanners before Bluetooth 5.0 do not hear it. `interval` is in seconds, 0.02 to 10.24, `txPower` in dBm, \
    -127 to 20, `channels` lists some of 37, 38 and 39.
    """)

  /// An AD structure (Core Specification Supplement, Part A).
  public struct Structure: RPCPayload, Hashable {
    /// The type of the data, 0 to 255 (Assigned Numbers, 2.3).
    public var type: Int
    /// Its data, 0 to 254 octets.
    public var data: HexBytes
    /// Makes a structure.
    public init(type: Int, data: HexBytes) {
      self.type = type
      self.data = data
    }
  }

  /// A train of periodic advertisements (Core 5.4, Vol 6, Part B, 4.4.2.12).
  public struct Periodic: RPCPayload, Hashable {
    /// The time between two of its packets in seconds, 0.0075 to 81.91875; 0.1 if missing.
    public var interval: Double?
    /// The services to list.
    public var services: [BluetoothUUID]?
    /// Service data, by UUID.
    public var serviceData: [String: HexBytes]?
    /// Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    public var manufacturerData: HexBytes?
    /// Further AD structures, sent as they are.
    public var structures: [Structure]?
    /// True: the header contains the transmit power.
    public var includeTxPower: Bool?
    /// Subevents, in which devices respond: then the data is sent by advertising.send, and none is given here.
    public var responses: ResponseSlots?
    /// Makes a train.
    public init(
      interval: Double? = nil, services: [BluetoothUUID]? = nil, serviceData: [String: HexBytes]? = nil,
      manufacturerData: HexBytes? = nil, structures: [Structure]? = nil, includeTxPower: Bool? = nil
    ) {
      self.interval = interval
      self.services = services
      self.serviceData = serviceData
      self.manufacturerData = manufacturerData
      self.structures = structures
      self.includeTxPower = includeTxPower
    }
  }

  /// The subevents of a train, each with slots in which devices respond (Core 5.4, Vol 6, Part B, 4.4.2.12.2). All
  /// subevents fit into the interval of the train, and all slots into a subevent.
  public struct ResponseSlots: RPCPayload, Hashable {
    /// The number of subevents in each interval of the train, 1 to 128.
    public var subevents: Int
    /// From the start of one subevent to the start of the next, in seconds, 0.0075 to 0.31875.
    public var subeventInterval: Double
    /// From the start of a subevent to its first slot, in seconds, 0.00125 to 0.3175.
    public var slotDelay: Double
    /// From the start of one slot to the start of the next, in seconds, 0.00025 to 0.031875.
    public var slotSpacing: Double
    /// The number of slots in a subevent, 1 to 255.
    public var slots: Int
    /// Describes the slots.
    public init(subevents: Int, subeventInterval: Double, slotDelay: Double, slotSpacing: Double, slots: Int) {
      self.subevents = subevents
      self.subeventInterval = subeventInterval
      self.slotDelay = slotDelay
      self.slotSpacing = slotSpacing
      self.slots = slots
    }
  }

  /// The parameters of advertising.start: the data to advertise, and the kind of advertisement.
  public struct Params: RPCPayload {
    /// The adapter; the first if missing.
    public var adapter: String?
    /// The local name.
    public var name: String?
    /// The services to list.
    public var services: [BluetoothUUID]?
    /// Service data: an object whose members are named by the UUIDs of services, as `{"180F": "64"}`.
    public var serviceData: [String: HexBytes]?
    /// Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    public var manufacturerData: HexBytes?
    /// The appearance of the device, 0 to 65535 (Assigned Numbers, 2.6); 833 is a heart rate belt.
    public var appearance: Int?
    /// False: not connectable. True if missing.
    public var connectable: Bool?
    /// The advertising interval in seconds, 0.02 to 10.24; 0.1 if missing.
    public var interval: Double?
    /// The services to solicit.
    public var solicitedServices: [BluetoothUUID]?
    /// A URI.
    public var uri: String?
    /// Further AD structures, sent unchanged; flags (type 1) replace the daemon's.
    public var structures: [Structure]?
    /// True if scan requests are answered. If missing: with legacy PDUs true for a connectable advertisement or a scan
    /// response with data; with extended PDUs false.
    public var scannable: Bool?
    /// True: extended PDUs, which only scanners of Bluetooth 5.0 and later receive. False if missing: legacy PDUs.
    public var extended: Bool?
    /// With `extended`: without our address; neither connectable nor scannable.
    public var anonymous: Bool?
    /// The only device that may connect: the daemon's identifier of it, or its address. The advertisement ends when it
    /// has connected. With legacy PDUs there is no data then. A paired device with private addresses needs an adapter
    /// that addresses it by them, and must have reported on a link that its controller resolves them, else
    /// "notSupported".
    public var directedTo: String?
    /// For an address in `directedTo`, "public" or "random"; if missing: as last received, else random if the two top
    /// bits are set, else public.
    public var directedToType: DeviceAddress.Kind?
    /// With `directedTo`: the device is addressed as often as possible, at least every 3.75 ms, for 1.28 s at the most.
    public var highDuty: Bool?
    /// The transmit power that is aimed for, in dBm, -127 to 20; the controller's choice if missing.
    public var txPower: Int?
    /// With `extended`: the header contains the transmit power.
    public var includeTxPower: Bool?
    /// The primary channels, 37 to 39, each at most once; all if missing.
    public var channels: [Int]?
    /// A static random address to advertise with (its two top bits are set); the adapter's own if missing.
    public var ownAddress: String?
    /// The PHY on which the advertisement begins, "1M" or with `extended` "coded", "codedS2" (500 kb/s) or "codedS8"
    /// (125 kb/s); "1M" if missing. The last two need a controller with a choice of coding.
    public var primaryPHY: PrimaryPHYChoice?
    /// With `extended`: the PHY on which it continues, "1M", "2M", "coded", "codedS2" or "codedS8"; if missing, as
    /// `primaryPHY`.
    public var secondaryPHY: PHYChoice?
    /// The time after it was first on the air at which it ends, in seconds, 0.01 to 86400; never if missing.
    public var duration: Double?
    /// The number of its advertising events, 1 to 255; unlimited if missing.
    public var count: Int?
    /// With `extended`, neither connectable, scannable nor anonymous: data that is sent at fixed times to synchronised
    /// devices (periodic.sync). It starts and ends with the advertisement, which announces it.
    public var periodic: Periodic?
    /// Makes the params; the other members are set afterwards.
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
    /// The number that names it in this session, 1 or more.
    public var advertising: Int
    /// The adapter that sends it.
    public var adapter: String
    /// The actual interval in seconds: longer than requested when advertisements take turns.
    public var interval: Double
    /// The name in the advertisement, if it had to be shortened.
    public var shortenedName: String?
    /// The transmit power chosen by the controller, in dBm, if `txPower` requested one and the controller reports it.
    public var txPower: Int?
    public init(advertising: Int, adapter: String, interval: Double, shortenedName: String?, txPower: Int? = nil) {
      self.advertising = advertising
      self.adapter = adapter
      self.interval = interval
      self.shortenedName = shortenedName
      self.txPower = txPower
    }
  }
}

/// Stops an advertisement.
public enum AdvertisingStop: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "advertising.stop", needs: .advertise, changesSession: true,
    "Stops an advertisement of this session, or all of them if no number is given.")
  public struct Params: RPCPayload {
    /// The number that `advertising.start` gave, 1 or more.
    public var advertising: Int?
    public init(advertising: Int? = nil) { self.advertising = advertising }
  }
}

/// An advertisement left the air or returned.
public enum AdvertisingChanged: RPCNotification {
  public static let message = MessageDescription(
    "advertising.changed", changesSession: true,
    """
    An advertisement of this session went off the air, came back, changed its interval, ended by itself (`ended`), or \
    failed (`reason`).
    """)
  public struct Params: RPCPayload {
    /// The number that `advertising.start` gave, 1 or more.
    public var advertising: Int
    /// True if it is on the air: sent by its adapter, or taking turns with others. False while the adapter is off or
    /// absent.
    public var onAir: Bool
    /// The actual interval in seconds while it is on the air: it grows with the number of advertisements that take
    /// turns.
    public var interval: Double?
    /// The reason for its failure; missing if it did not fail.
    public var reason: RPCError?
    /// The reason why it ended by itself; missing if it did not: "duration" (also of the high duty cycle), "count", or
    /// "connected" if it was directed to the device that connected. The advertisement no longer exists then.
    public var ended: Word<AdvertisingEnd>?
    public init(
      advertising: Int, onAir: Bool, interval: Double? = nil, reason: RPCError? = nil,
      ended: Word<AdvertisingEnd>? = nil
    ) {
      self.advertising = advertising
      self.onAir = onAir
      self.interval = interval
      self.reason = reason
      self.ended = ended
    }
  }
}
