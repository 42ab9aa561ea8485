import Bluetooth

/// Passes values of a published characteristic over a descriptor.
public enum ServerAcquire: ClientCall {
  public static let method = MethodDescription(
    "server.acquire", needs: .serve,
    """
    Passes a SOCK_SEQPACKET descriptor with the answer, for many values of one characteristic of this session and one \
    device: each packet that the program writes is notified to the device, or indicated if it subscribed to \
    indications, and each value that the device writes is a packet to read, instead of a call of server.write. Closing \
    the descriptor ends that, and so does server.released.
    """)
  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device, as in `server.subscribed` and `server.write`.
    public var central: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    public init(central: String, handle: UInt16) {
      self.central = central
      self.handle = handle
    }
  }
  /// The result; the descriptor is passed with it.
  public struct Result: RPCPayload, Hashable {
    /// True if packets can be written: the device has subscribed.
    public var sends: Bool
    /// True if there are packets to read: the characteristic can be written.
    public var receives: Bool
    /// The longest value that can be sent, in octets: MTU − 3, and 512 at most.
    public var maximumLength: Int
    public init(sends: Bool, receives: Bool, maximumLength: Int) {
      self.sends = sends
      self.receives = receives
      self.maximumLength = maximumLength
    }
  }
}

/// The daemon closed its end of a descriptor of `server.acquire`.
public enum ServerReleased: RPCNotification {
  public static let message = MessageDescription(
    "server.released",
    """
    The daemon closed its end of the descriptor of server.acquire: the device unsubscribed, the link ended, the service \
    was removed, or a packet was longer than a value may be.
    """)
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var central: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The reason.
    public var reason: RPCError
    /// The number of packets that the program had written and that were not sent.
    public var unsent: Int
    public init(central: String, handle: UInt16, reason: RPCError, unsent: Int) {
      self.central = central
      self.handle = handle
      self.reason = reason
      self.unsent = unsent
    }
  }
}
