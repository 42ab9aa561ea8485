import Bluetooth

/// Connects to a device.
public enum PeripheralConnect: ClientCall {
  public static let method = MethodDescription(
    "peripheral.connect", needs: .connect, changesSession: true,
    """
    Connects to a device and answers once the link is up; without a timeout it waits indefinitely. The link to a \
    device that is already connected is shared. peripheral.disconnect cancels a pending connection. A pending \
    connection survives an adapter that is removed and comes back; with `reconnect` the device is connected again \
    whenever the link is lost. A device that is named by its name or a service is looked for first: the first that is \
    heard and can be connected to is meant, or one that is connected already. That needs the permission "scan", too.
    """)

  /// The parameters: `peripheral`, `address`, or something of `name`, `namePrefix` and `service`, which must all be so.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String?
    /// The device's address; it need not have been received before.
    public var address: String?
    /// "public" or "random"; if missing: as last received, else random if the two top bits are set, else public.
    public var addressType: DeviceAddress.Kind?
    /// The name that the device advertises, octet for octet.
    public var name: String?
    /// The beginning of the name that the device advertises, octet for octet.
    public var namePrefix: String?
    /// A service that the device advertises.
    public var service: BluetoothUUID?
    /// The adapter to connect with; if missing, the one that last received the device, else the first. A device that is
    /// linked or being connected over another adapter stays there: the answer names it.
    public var adapter: String?
    /// The timeout in seconds, more than 0; none if missing.
    public var timeout: Double?
    /// True: whenever the link is lost the daemon connects again, until `peripheral.disconnect` is called.
    /// peripheral.disconnected then has `reconnecting`, and peripheral.connected reports the new link. The last call
    /// applies.
    public var reconnect: Bool?
    /// The parameters that this session requests for the link from this call on; see peripheral.setParameters. If
    /// missing, its earlier request remains.
    public var parameters: LinkWish?
    /// The wanted PHY of the link, "1M", "2M", "coded", "codedS2" or "codedS8": as in peripheral.setPHY. With one of
    /// the coded ones the device is searched for on the coded PHY, too, as is one that was last received there. If
    /// missing, a link that begins on "1M" changes to "2M" if both sides support it and the configuration does not
    /// exclude it.
    public var phy: PHYChoice?
    public init(
      peripheral: String? = nil, address: String? = nil, addressType: DeviceAddress.Kind? = nil, name: String? = nil,
      namePrefix: String? = nil, service: BluetoothUUID? = nil, adapter: String? = nil, timeout: Double? = nil,
      reconnect: Bool? = nil, parameters: LinkWish? = nil, phy: PHYChoice? = nil
    ) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.name = name
      self.namePrefix = namePrefix
      self.service = service
      self.adapter = adapter
      self.timeout = timeout
      self.reconnect = reconnect
      self.parameters = parameters
      self.phy = phy
    }
  }

  public struct Result: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Its address.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// The adapter that holds the link.
    public var adapter: String
    /// The ATT MTU that was agreed, 23 to 517 octets.
    public var mtu: Int
    /// The number of attempts that were needed.
    public var attempts: Int
    public init(
      peripheral: String, address: String, addressType: Word<DeviceAddress.Kind>, adapter: String, mtu: Int,
      attempts: Int
    ) {
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
  public init(peripheral: String) { self.peripheral = peripheral }
}

/// Ends this session's use of a device, or cancels its pending connection.
public enum PeripheralDisconnect: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "peripheral.disconnect", needs: .connect, changesSession: true,
    """
    Ends this session's use of a device, or cancels its pending connection: that peripheral.connect fails with the gap \
    error cancelled. The link is disconnected when no session uses it any more. peripheral.disconnected follows if the \
    device was connected.
    """)

  /// The parameters: `peripheral`, or the description given to a pending `peripheral.connect`: the `address`, or the
  /// same values of `name`, `namePrefix` and `service`.
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String?
    /// The device's address.
    public var address: String?
    /// "public" or "random"; if missing, both match.
    public var addressType: DeviceAddress.Kind?
    /// The name of the searched device.
    public var name: String?
    /// The beginning of its name.
    public var namePrefix: String?
    /// The service that it advertises.
    public var service: BluetoothUUID?
    public init(
      peripheral: String? = nil, address: String? = nil, addressType: DeviceAddress.Kind? = nil, name: String? = nil,
      namePrefix: String? = nil, service: BluetoothUUID? = nil
    ) {
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.name = name
      self.namePrefix = namePrefix
      self.service = service
    }
  }
}

/// Lists the devices that the daemon knows.
public enum PeripheralList: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  public static let method = MethodDescription(
    "peripheral.list", needs: .connect,
    """
    Lists the devices that were heard or connected recently, and those that were connected before the daemon started; \
    the most recently used first.
    """)

  /// A device that the daemon knows.
  public struct Entry: Codable, Sendable, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// Its address.
    public var address: String
    /// "public" or "random".
    public var addressType: Word<DeviceAddress.Kind>
    /// The adapter that last received it or holds the link.
    public var adapter: String
    /// Its name, if known.
    public var name: String?
    /// Signal strength when it was last received, in dBm.
    public var rssi: Int?
    /// "disconnected", "connecting" or "connected" (for any session).
    public var state: Word<State>
    /// True if this session holds the link.
    public var mine: Bool
    /// The ATT MTU, 23 to 517 octets, while connected.
    public var mtu: Int?
    /// True if it accepted connections when it was last received; missing if it never was.
    public var connectable: Bool?
    /// True if the device is blocked, see adapter.block. Missing otherwise.
    public var blocked: Bool?
    /// True if the device made the link. Missing otherwise.
    public var incoming: Bool?
    /// Seconds since the device was last received; missing if it was not since the daemon started.
    public var sinceReport: Double?
    /// The states of a device.
    public enum State: String, Vocabulary {
      /// Without a link and a pending connection.
      case disconnected
      /// A session waits for the connection.
      case connecting
      /// With a link.
      case connected
    }

    /// Makes an entry.
    public init(
      peripheral: String, address: String, addressType: Word<DeviceAddress.Kind>, adapter: String, name: String?,
      rssi: Int?,
      state: Word<State>, mine: Bool, mtu: Int?, connectable: Bool? = nil, blocked: Bool? = nil,
      incoming: Bool? = nil, sinceReport: Double? = nil
    ) {
      self.blocked = blocked
      self.peripheral = peripheral
      self.address = address
      self.addressType = addressType
      self.adapter = adapter
      self.name = name
      self.rssi = rssi
      self.state = state
      self.mine = mine
      self.mtu = mtu
      self.connectable = connectable
      self.incoming = incoming
      self.sinceReport = sinceReport
    }
  }

  public struct Result: RPCPayload {
    /// The devices.
    public var peripherals: [Entry]
    public init(peripherals: [Entry]) { self.peripherals = peripherals }
  }
}

/// Forgets a device.
public enum PeripheralForget: ClientCall {
  /// The device.
  public typealias Params = PeripheralReference
  public typealias Result = Empty
  public static let method = MethodDescription(
    "peripheral.forget", needs: .connect,
    """
    Permanently forgets a device: its identifier, its name and its cached attributes. If it is heard again it gets a \
    new identifier. Fails with the bled error notPermitted while a session is connected to the device or has a pending \
    connection to it, and without the permission "sessions" if other users have used the device.
    """)
}

/// Measures the signal strength of a link.
public enum PeripheralRSSI: ClientCall {
  /// The device.
  public typealias Params = PeripheralReference
  public static let method = MethodDescription(
    "peripheral.rssi", needs: .connect,
    "Measures the signal strength of the link to a device.")
  public struct Result: RPCPayload {
    /// The signal strength of the link, in dBm, -127 to 20.
    public var rssi: Int
    public init(rssi: Int) { self.rssi = rssi }
  }
}

/// A pending connection of this session was established.
public enum PeripheralConnected: RPCNotification {
  /// The result that peripheral.connect would have had.
  public typealias Params = PeripheralConnect.Result
  public static let message = MessageDescription(
    "peripheral.connected", changesSession: true,
    """
    A device was connected again after its link was lost (`reconnect`), or the peripheral.connect that was pending \
    when the program went away succeeded.
    """)
}

/// A pending connection of this session failed or was cancelled.
public enum PeripheralConnectFailed: RPCNotification {
  public static let message = MessageDescription(
    "peripheral.connectFailed", changesSession: true,
    "A peripheral.connect that was pending when the program went away failed or was cancelled; see session.open.")
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The reason.
    public var reason: RPCError
    public init(peripheral: String, reason: RPCError) {
      self.peripheral = peripheral
      self.reason = reason
    }
  }
}

/// A pending connection of this session cannot be tried at present.
public enum PeripheralConnectWaiting: RPCNotification {
  public static let message = MessageDescription(
    "peripheral.connectWaiting",
    """
    The adapter could not look for a device in the last ten seconds, although this session waits for the connection. \
    It is looked for as soon as that is possible, and the call remains pending. Sent once for each reason.
    """)
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The reason.
    public var reason: RPCError
    public init(peripheral: String, reason: RPCError) {
      self.peripheral = peripheral
      self.reason = reason
    }
  }
}

/// A device that this session was connected to is disconnected.
public enum PeripheralDisconnected: RPCNotification {
  public static let message = MessageDescription(
    "peripheral.disconnected", changesSession: true,
    "A device that this session was connected to is disconnected; every pending call on it has failed.")
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The reason; missing if this session disconnected.
    public var reason: RPCError?
    /// True if the daemon reconnects as soon as the device is present, which peripheral.connected reports. Missing
    /// otherwise.
    public var reconnecting: Bool?
    /// When the connection ended, in seconds since the epoch: a restored session receives it later.
    public var time: Double?
    public init(peripheral: String, reason: RPCError?, reconnecting: Bool? = nil, time: Double? = nil) {
      self.peripheral = peripheral
      self.reason = reason
      self.reconnecting = reconnecting
      self.time = time
    }
  }
}
