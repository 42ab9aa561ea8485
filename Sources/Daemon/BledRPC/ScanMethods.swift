import Bluetooth

/// Starts a scan of this session, or replaces it.
public enum ScanStart: ClientCall {
  /// `scan.start` has an empty result.
  public typealias Result = Empty
  public static let method = MethodDescription(
    "scan.start", needs: .scan, changesSession: true,
    """
    Starts a scan of this session, or replaces the one with the same number. Reports are sent as scan.report. A scan \
    ends with scan.stop or with the session, and survives an adapter that is removed and comes back.
    """)

  /// The parameters of scan.start: the devices to scan for, and the kind of scan.
  public struct Params: RPCPayload {
    /// The adapter to scan on; all of them if missing.
    public var adapter: String?
    /// Only devices that advertise one of these services.
    public var services: [BluetoothUUID]?
    /// Only devices that solicit one of these services; together with `services`: devices that match either list.
    public var solicitedServices: [BluetoothUUID]?
    /// Only devices with a name that begins with this text.
    public var name: String?
    /// Only the device of this address.
    public var address: String?
    /// Only the devices of these addresses, at most 64; together with `address`: that one, too.
    public var addresses: [String]?
    /// True: only the presence of the devices that `address` and `addresses` name: no reports, but scan.found when one
    /// appears, and scan.lost when it was not received for the time of `lost`, which is required. If possible, the
    /// controller monitors them, and this machine is not woken by each packet.
    public var presence: Bool?
    /// Only reports at least this strong, in dBm.
    public var rssi: Int?
    /// True: a report for every advertising event. False or missing: one report for each device, and another whenever
    /// its data changes.
    public var duplicates: Bool?
    /// False: passive scanning, without scan requests unless another session's scan needs them. True if missing, but
    /// with `presence` false.
    public var active: Bool?
    /// True: anonymous advertisements, too, as scan.anonymousReport.
    public var anonymous: Bool?
    /// Only reports that match at least one of these, in addition to all of the above.
    public var filters: [Filter]?
    /// In dBm, at most `rssi`: a device that reached `rssi` is reported until it is weaker than this.
    public var rssiOut: Int?
    /// In seconds, 0.5 to 3600: a device without any report that passes the filters for this time is reported by
    /// scan.lost. Not at all if missing.
    public var lost: Double?
    /// True: adds the values of known formats of beacons and sensors, as `decoded` of the reports.
    public var decode: Bool?
    /// Together with `decode`: the keys of devices that encrypt their advertising data, at most 64. They are kept as
    /// long as the scan, and are not visible to other sessions.
    public var keys: [Key]?
    /// The PHYs to listen on, "1M", "coded" or both, which then share the time; "1M" if missing.
    public var phys: [Word<PrimaryPHY>]?
    /// The program's number for the scan, 1 to 65535, so that it can have several; its reports contain it. A scan
    /// without a number, if missing.
    public var scan: Int?
    public init(
      adapter: String? = nil, services: [BluetoothUUID]? = nil, solicitedServices: [BluetoothUUID]? = nil,
      name: String? = nil, address: String? = nil, addresses: [String]? = nil, presence: Bool? = nil, rssi: Int? = nil,
      duplicates: Bool? = nil, active: Bool? = nil,
      anonymous: Bool? = nil, filters: [Filter]? = nil, rssiOut: Int? = nil, lost: Double? = nil, decode: Bool? = nil,
      keys: [Key]? = nil, phys: [Word<PrimaryPHY>]? = nil, scan: Int? = nil
    ) {
      self.scan = scan
      self.adapter = adapter
      self.services = services
      self.solicitedServices = solicitedServices
      self.name = name
      self.address = address
      self.addresses = addresses
      self.presence = presence
      self.rssi = rssi
      self.duplicates = duplicates
      self.active = active
      self.anonymous = anonymous
      self.filters = filters
      self.rssiOut = rssiOut
      self.lost = lost
      self.decode = decode
      self.keys = keys
      self.phys = phys
    }
  }
}

/// Stops a scan of this session.
public enum ScanStop: ClientCall {
  public struct Params: RPCPayload, Hashable {
    /// The number of the scan, 1 to 65535; the one without a number if missing.
    public var scan: Int?
    public init(scan: Int? = nil) { self.scan = scan }
  }
  public typealias Result = Empty
  public static let method = MethodDescription(
    "scan.stop", needs: .scan, changesSession: true,
    "Stops a scan of this session. Does nothing if there is none.")
}

/// A device was received.
public enum ScanReport: RPCNotification {
  public static let message = MessageDescription(
    "scan.report",
    """
    A device was heard; its advertisement and its scan response are one report, with the data of both merged.
    """)

  /// The advertisement of a device; the same for every client, except the number of its scan.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's stable identifier of the device, a UUID.
    public var peripheral: String
    /// The adapter that received it.
    public var adapter: String
    /// The address it used.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// Signal strength in dBm, -127 to 20, if known.
    public var rssi: Int?
    /// True if it accepts connections.
    public var connectable: Bool
    /// Its last received name, complete or shortened: not necessarily from this advertisement.
    public var name: String?
    /// The services it lists.
    public var services: [BluetoothUUID]?
    /// The services it solicits.
    public var solicitedServices: [BluetoothUUID]?
    /// Service data: an object whose members are named by the UUIDs of services, as `{"180F": "64"}`.
    public var serviceData: [String: HexBytes]?
    /// Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    public var manufacturerData: HexBytes?
    /// The transmit power, in dBm, -127 to 127, from its data or else from the header of an extended advertisement.
    public var txPower: Int?
    /// The appearance of the device, 0 to 65535 (Assigned Numbers, 2.6); 833 is a heart rate belt.
    public var appearance: Int?
    /// The advertising data as received.
    public var data: HexBytes
    /// The scan response data as received, once one was received that is not empty.
    public var scanResponse: HexBytes?
    /// True if the controller lost the end of the advertising data.
    public var truncated: Bool?
    /// True if the advertisement is directed to one device.
    public var directed: Bool?
    /// The PHY on which the advertisement begins: "1M" or "coded".
    public var primaryPHY: Word<PrimaryPHY>?
    /// The PHY on which an extended advertisement continues: "1M", "2M" or "coded".
    public var secondaryPHY: Word<PHY>?
    /// The number of the advertising set, 0 to 15, of an extended advertisement.
    public var sid: Int?
    /// The time between two packets of the periodic train that this set announces, in seconds; see periodic.sync.
    public var periodicInterval: Double?
    /// The meaning of the data in formats of beacons and sensors, for scans with `decode`; missing if no format fits.
    public var decoded: [DecodedData]?
    /// The number of the scan that it is for, 1 to 65535; missing for the one without a number.
    public var scan: Int?
    /// When it was received, in seconds since the epoch.
    public var time: Double

    public init(
      peripheral: String, adapter: String, address: String, addressType: Word<DeviceAddress.Kind>, connectable: Bool,
      data: HexBytes,
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

/// A device named by a scan with `presence` is present.
public enum ScanFound: RPCNotification {
  public static let message = MessageDescription(
    "scan.found",
    """
    A device that this session's scan with "presence" names is there. While it stays nothing more is told of it; \
    scan.lost says that it is not there any more.
    """)

  /// Which one.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's stable identifier of the device, a UUID.
    public var peripheral: String
    /// The adapter that received it.
    public var adapter: String
    /// Its address.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// Its name, if known.
    public var name: String?
    /// Signal strength in dBm, -127 to 20, if known.
    public var rssi: Int?
    /// The number of the scan that found it, 1 to 65535; missing for the one without a number.
    public var scan: Int?
    /// When it was received, in seconds since the epoch.
    public var time: Double

    /// Makes the params with the members that are always present.
    public init(
      peripheral: String, adapter: String, address: String, addressType: Word<DeviceAddress.Kind>, time: Double
    ) {
      self.peripheral = peripheral
      self.adapter = adapter
      self.address = address
      self.addressType = addressType
      self.time = time
    }
  }
}

/// A device is out of range, silent, or no longer passes the filters.
public enum ScanLost: RPCNotification {
  public static let message = MessageDescription(
    "scan.lost",
    """
    Nothing that passes the filters came from a device for the time that this session's scan gives as "lost". When it \
    is heard again it is reported again.
    """)

  /// Which one.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// When it was last received, in seconds since the epoch.
    public var lastHeard: Double
    /// The number of the scan that has lost it, 1 to 65535; missing for the one without a number.
    public var scan: Int?
    public init(peripheral: String, lastHeard: Double, scan: Int? = nil) {
      self.scan = scan
      self.peripheral = peripheral
      self.lastHeard = lastHeard
    }
  }
}

/// An anonymous advertisement was received.
public enum ScanAnonymousReport: RPCNotification {
  public static let message = MessageDescription(
    "scan.anonymousReport",
    """
    An advertisement without an address was heard (Core 5.4, Vol 6, Part B, 4.4.2.1). It is not known who sent it, and \
    nobody can connect to it. Only for scans with "anonymous".
    """)

  /// The advertisement; the same for every client, except the number of its scan.
  public struct Params: RPCPayload, Hashable {
    /// The adapter that received it.
    public var adapter: String
    /// Signal strength in dBm, -127 to 20, if known.
    public var rssi: Int?
    /// Its name, complete or shortened.
    public var name: String?
    /// The services it lists.
    public var services: [BluetoothUUID]?
    /// Service data: an object whose members are named by the UUIDs of services, as `{"180F": "64"}`.
    public var serviceData: [String: HexBytes]?
    /// Manufacturer-specific data; the first two octets are the company identifier, low octet first.
    public var manufacturerData: HexBytes?
    /// The transmit power, in dBm, -127 to 127, from its data or else its header.
    public var txPower: Int?
    /// The advertising data as received.
    public var data: HexBytes
    /// True if the controller lost the end of the data.
    public var truncated: Bool?
    /// True if the advertisement is directed to one device.
    public var directed: Bool?
    /// The PHY on which the advertisement begins: "1M" or "coded".
    public var primaryPHY: Word<PrimaryPHY>?
    /// The PHY on which it continues: "1M", "2M" or "coded".
    public var secondaryPHY: Word<PHY>?
    /// The number of the advertising set, 0 to 15.
    public var sid: Int?
    /// The meaning of the data in formats of beacons and sensors, for scans with `decode`; missing if no format fits.
    public var decoded: [DecodedData]?
    /// The number of the scan that it is for, 1 to 65535; missing for the one without a number.
    public var scan: Int?
    /// When it was received, in seconds since the epoch.
    public var time: Double

    public init(adapter: String, data: HexBytes, time: Double) {
      self.adapter = adapter
      self.data = data
      self.time = time
    }
  }
}
