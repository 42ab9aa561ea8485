import Bluetooth

/// The daemon asks this session for a value.
public enum ServerRead: DaemonCall {
  public static let message = MessageDescription(
    "server.read",
    """
    From the daemon: a device reads a characteristic or a descriptor of this session. Answer with the value from the offset on, or \
    with an error whose data has the domain "att". Without an answer within 25 s the device receives Unlikely Error.
    """)
  /// The parameters from the daemon.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device that reads.
    public var central: String
    /// The handle of the characteristic's value, or of the descriptor.
    public var handle: UInt16
    /// The offset, 0 to 512.
    public var offset: Int
    /// The ATT_MTU of the link, 23 to 517.
    public var mtu: Int?
    public init(central: String, handle: UInt16, offset: Int, mtu: Int? = nil) {
      self.central = central
      self.handle = handle
      self.offset = offset
      self.mtu = mtu
    }
  }
  /// The answer of the session.
  public struct Result: RPCPayload {
    /// The value from the offset on.
    public var value: HexBytes
    public init(value: HexBytes) { self.value = value }
  }
}

/// The daemon hands this session values that a device wrote.
public enum ServerWrite: DaemonCall {
  public typealias Result = Empty
  public static let message = MessageDescription(
    "server.write",
    """
    From the daemon: a device wrote one or more characteristics or descriptors of this session; several writes \
    together come from an Execute Write Request. Answer once, with an empty result or with an error whose data has the domain "att".
    """)
  /// The parameters from the daemon.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device that writes.
    public var central: String
    /// The values, in order.
    public var writes: [Write]
    /// True for a Write Command; the device receives no answer to it.
    public var withoutResponse: Bool?
    /// The ATT_MTU of the link, 23 to 517.
    public var mtu: Int?
    /// When the device wrote, in seconds since the epoch: a restored session receives calls that were kept for it.
    public var time: Double?
    public init(
      central: String, writes: [Write], withoutResponse: Bool? = nil, mtu: Int? = nil, time: Double? = nil
    ) {
      self.central = central
      self.writes = writes
      self.withoutResponse = withoutResponse
      self.mtu = mtu
      self.time = time
    }
  }
  /// One written value.
  public struct Write: Codable, Sendable, Hashable {
    /// The handle of the characteristic's value, or of the descriptor.
    public var handle: UInt16
    /// The offset, 0 to 512.
    public var offset: Int
    /// The value written.
    public var value: HexBytes
    /// Makes a write.
    public init(handle: UInt16, offset: Int, value: HexBytes) {
      self.handle = handle
      self.offset = offset
      self.value = value
    }
  }
}

/// A device that subscribed or unsubscribed.
public struct Subscriber: RPCPayload, Hashable {
  /// The daemon's identifier of the device.
  public var central: String
  /// The handle of the characteristic's value.
  public var handle: UInt16
  /// The longest value in one notification, in octets: MTU − 3, and 512 at most.
  public var maximumLength: Int
  /// Makes a subscriber.
  public init(central: String, handle: UInt16, maximumLength: Int) {
    self.central = central
    self.handle = handle
    self.maximumLength = maximumLength
  }
}

/// A device subscribed.
public enum ServerSubscribed: RPCNotification {
  /// The device and the characteristic.
  public typealias Params = Subscriber
  public static let message = MessageDescription(
    "server.subscribed", "A device subscribed to a characteristic of this session.")
}

/// A device unsubscribed.
public enum ServerUnsubscribed: RPCNotification {
  /// The device and the characteristic.
  public typealias Params = Subscriber
  public static let message = MessageDescription(
    "server.unsubscribed",
    "A device unsubscribed from a characteristic of this session, or disconnected.")
}

/// Values that were written without response may be lost.
public enum ServerWritesLost: RPCNotification {
  public static let message = MessageDescription(
    "server.writesLost",
    """
    Packets from a device were dropped because a buffer of the kernel or the queue of this session was full. They may \
    have contained values written without response to characteristics of this session.
    """)
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var central: String
    /// The number of packets, 1 or more.
    public var packets: Int
    public init(central: String, packets: Int) {
      self.central = central
      self.packets = packets
    }
  }
}

/// Notifications have room again.
public enum ServerReady: RPCNotification {
  /// There are no parameters.
  public typealias Params = Empty
  public static let message = MessageDescription(
    "server.ready",
    "There is room again after server.notify answered \"sent\": false.")
}
