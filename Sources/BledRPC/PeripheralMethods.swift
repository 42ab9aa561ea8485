/// Connects to a device.
public enum PeripheralConnect: ClientCall {
  /// `peripheral.connect`
  public static let name = "peripheral.connect"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = """
    Connects to a device and answers when the link is there; without a timeout it waits for ever. A device that is \
    connected already is shared. peripheral.disconnect takes the wish back. A wish outlasts an adapter that goes away \
    and comes back; with `reconnect` it also outlasts the link.
    """

  /// What the caller sends: `peripheral` or `address`.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String?
    /// The device's address; it need not have been heard before.
    public var address: String?
    /// "public" or "random"; if missing: as last heard, else public, but random where the two top bits are set.
    public var addressType: String?
    /// The adapter to connect with; if missing, the one that heard the device last, else the first.
    public var adapter: String?
    /// Seconds until the attempt is given up; for ever if missing.
    public var timeout: Double?
    /// True: when the link is lost it is connected again, as often as that happens, until `peripheral.disconnect`.
    /// peripheral.disconnected says `reconnecting` then, and peripheral.connected that it is back. The last call decides.
    public var reconnect: Bool?
    /// Makes the params.
    public init(
      peripheral: String? = nil, address: String? = nil, addressType: String? = nil, adapter: String? = nil,
      timeout: Double? = nil, reconnect: Bool? = nil
    ) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.adapter = adapter
      self.timeout = timeout
      self.reconnect = reconnect
    }
  }

  /// What comes back.
  public struct Result: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Its address.
    public var address: String
    /// "public" or "random".
    public var addressType: String
    /// The adapter that holds the link.
    public var adapter: String
    /// The ATT MTU that was agreed, 23 to 517 octets.
    public var mtu: Int
    /// How many attempts it took.
    public var attempts: Int
    /// Makes the result.
    public init(peripheral: String, address: String, addressType: String, adapter: String, mtu: Int, attempts: Int) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.adapter = adapter
      self.mtu = mtu
      self.attempts = attempts
    }
  }
}

/// Names a device.
public struct PeripheralReference: RPCPayload, Hashable {
  /// The daemon's identifier of the device.
  public var peripheral: String
  /// Makes the params.
  public init(peripheral: String) { self.peripheral = peripheral }
}

/// Ends this session's use of a device, or its wait for it.
public enum PeripheralDisconnect: ClientCall {
  /// Nothing comes back.
  public typealias Result = Empty
  /// `peripheral.disconnect`
  public static let name = "peripheral.disconnect"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary = """
    Ends this session's use of a device, or its wait for it: a pending peripheral.connect fails with gap cancelled. The \
    link goes down when the last session lets go. peripheral.disconnected follows if the device was connected.
    """

  /// What the caller sends: `peripheral`, or the `address` that a pending `peripheral.connect` was given.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String?
    /// The device's address.
    public var address: String?
    /// "public" or "random"; if missing, both are meant.
    public var addressType: String?
    /// Makes the params.
    public init(peripheral: String? = nil, address: String? = nil, addressType: String? = nil) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
    }
  }
}

/// Lists the devices that the daemon knows.
public enum PeripheralList: ClientCall {
  /// Nothing to say.
  public typealias Params = Empty
  /// `peripheral.list`
  public static let name = "peripheral.list"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// For `rpc.discover`.
  public static let summary = """
    Lists the devices that were heard or connected lately, and those that were connected before the daemon started; the \
    last used first.
    """

  /// A device that the daemon knows.
  public struct Entry: Codable, Sendable, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Its address.
    public var address: String
    /// "public" or "random".
    public var addressType: String
    /// The adapter that heard it last or holds the link.
    public var adapter: String
    /// Its name, where known.
    public var name: String?
    /// Signal strength when it was last heard, in dBm.
    public var rssi: Int?
    /// "disconnected", "connecting" or "connected" (for any session).
    public var state: String
    /// Whether this session holds the link.
    public var mine: Bool
    /// The ATT MTU, while connected.
    public var mtu: Int?
    /// Makes an entry.
    public init(
      peripheral: String, address: String, addressType: String, adapter: String, name: String?, rssi: Int?,
      state: String, mine: Bool, mtu: Int?
    ) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.adapter = adapter
      self.name = name
      self.rssi = rssi
      self.state = state
      self.mine = mine
      self.mtu = mtu
    }
  }

  /// What comes back.
  public struct Result: RPCPayload {
    /// The devices.
    public var peripherals: [Entry]
    /// Makes the result.
    public init(peripherals: [Entry]) { self.peripherals = peripherals }
  }
}

/// Forgets a device.
public enum PeripheralForget: ClientCall {
  /// The device.
  public typealias Params = PeripheralReference
  /// Nothing comes back.
  public typealias Result = Empty
  /// `peripheral.forget`
  public static let name = "peripheral.forget"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// For `rpc.discover`.
  public static let summary = """
    Forgets a device for good: its identifier, its name, and what was discovered on it. When it is heard again it is a new \
    one. Refused with bled notPermitted while a session is connected to it or waits for it.
    """
}

/// Measures the signal strength of a link.
public enum PeripheralRSSI: ClientCall {
  /// The device.
  public typealias Params = PeripheralReference
  /// `peripheral.rssi`
  public static let name = "peripheral.rssi"
  /// What a caller must be permitted.
  public static let permission: Permission? = .connect
  /// For `rpc.discover`.
  public static let summary = "Measures the signal strength of the link to a device."
  /// What comes back.
  public struct Result: RPCPayload {
    /// In dBm.
    public var rssi: Int
    /// Makes the result.
    public init(rssi: Int) { self.rssi = rssi }
  }
}

/// A device that this session waited for is connected.
public enum PeripheralConnected: RPCNotification {
  /// What peripheral.connect would have answered.
  public typealias Params = PeripheralConnect.Result
  /// `peripheral.connected`
  public static let name = "peripheral.connected"
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary =
    "A device is back that was lost and was to be reconnected, or for which a peripheral.connect waited when the program went away."
}

/// A device that this session waited for will not be connected.
public enum PeripheralConnectFailed: RPCNotification {
  /// `peripheral.connectFailed`
  public static let name = "peripheral.connectFailed"
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary =
    "A peripheral.connect that waited when the program went away failed, or was taken back; see session.open."
  /// What it carries.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Why.
    public var reason: RPCError
    /// Makes the params.
    public init(peripheral: String, reason: RPCError) {
      self.peripheral = peripheral
      self.reason = reason
    }
  }
}

/// A device that this session had connected is no longer.
public enum PeripheralDisconnected: RPCNotification {
  /// `peripheral.disconnected`
  public static let name = "peripheral.disconnected"
  /// The session may hold something else afterwards.
  public static let changesSession = true
  /// For `rpc.discover`.
  public static let summary =
    "A device that this session had connected is no longer; every pending call on it has failed."
  /// What it carries.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Why; missing if this session asked for it.
    public var reason: RPCError?
    /// True if it is connected again as soon as it is there; peripheral.connected tells. Missing otherwise.
    public var reconnecting: Bool?
    /// Makes the params.
    public init(peripheral: String, reason: RPCError?, reconnecting: Bool? = nil) {
      self.peripheral = peripheral
      self.reason = reason
      self.reconnecting = reconnecting
    }
  }
}
