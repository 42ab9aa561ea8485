import Bluetooth

/// Sends a new value to subscribers.
public enum ServerNotify: ClientCall {
  public static let method = MethodDescription(
    "server.notify", needs: .serve,
    """
    Sends a new value to the subscribers of a characteristic, as a notification or an indication, as each of them \
    requested. A value longer than a subscriber's MTU − 3 is truncated, which the result says; the subscriber can read \
    the rest. A value that was accepted is sent even if the session stops waiting for the answer.
    """)
  /// The treatment of a subscriber without room.
  public enum WhenFull: String, Vocabulary {
    /// No subscriber receives the value before all of them have room: "sent" is false, and `server.ready` follows.
    case wait
    /// The value waits for this subscriber alone, in a queue of 16 values of this session; if that is full, the
    /// subscriber misses the value.
    case skip
    /// The value waits in the same queue, where it replaces an earlier one of its characteristic; if the queue is full
    /// of others, it replaces the oldest.
    case newest
  }
  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The value, up to 512 octets.
    public var value: HexBytes
    /// Only these subscribers: the daemon's identifiers of devices, as in server.subscribed; all if missing.
    public var centrals: [String]?
    /// The treatment of a subscriber without room: "wait", no subscriber receives the value yet; "skip", it waits for
    /// that subscriber alone, which misses it if 16 values wait already; "newest", it waits in the place of earlier
    /// values; "wait" if missing.
    public var whenFull: WhenFull?
    /// A number that the session chooses, 0 to 4294967295: `server.confirmed` with it reports the confirmation of each
    /// subscriber in `indicated`, or that there will be none. If missing nothing is reported.
    public var confirmation: Int?
    /// Makes the params.
    public init(
      handle: UInt16, value: HexBytes, centrals: [String]? = nil, whenFull: WhenFull? = nil, confirmation: Int? = nil
    ) {
      self.handle = handle
      self.value = value
      self.centrals = centrals
      self.whenFull = whenFull
      self.confirmation = confirmation
    }
  }
  /// The result.
  public struct Result: RPCPayload {
    /// False: there was no room and nothing was sent; try again after `server.ready`. True if there are no subscribers.
    public var sent: Bool
    /// The number of subscribers it was sent to, or is queued for.
    public var receivers: Int
    /// The identifiers of the subscribers that did not receive it because they must discover the changed services
    /// first; missing if there are none.
    public var outOfSync: [String]?
    /// The identifiers of the subscribers that received only the beginning, as the value is longer than their
    /// `maximumLength`; missing if there are none.
    public var truncated: [String]?
    /// The identifiers of the subscribers that miss a value because their queues were full: this one with "skip", an
    /// earlier one with "newest"; missing if there are none.
    public var missed: [String]?
    /// With `confirmation`: the identifiers of the subscribers that receive it as an indication; one
    /// `server.confirmed` follows for each; missing if there are none.
    public var indicated: [String]?
    /// Makes the result.
    public init(
      sent: Bool, receivers: Int, outOfSync: [String]? = nil, truncated: [String]? = nil, missed: [String]? = nil,
      indicated: [String]? = nil
    ) {
      self.sent = sent
      self.receivers = receivers
      self.outOfSync = outOfSync
      self.truncated = truncated
      self.missed = missed
      self.indicated = indicated
    }
  }
}

/// Sends several new values to subscribers at once.
public enum ServerNotifyMultiple: ClientCall {
  /// Like the result of server.notify; `receivers` counts devices.
  public typealias Result = ServerNotify.Result
  public static let method = MethodDescription(
    "server.notifyMultiple", needs: .serve,
    """
    Sends the new values of several characteristics: to a device that supports it, and where they fit into its MTU, in \
    one packet (Multiple Handle Value Notification), else one by one. A device receives the values that it subscribed \
    to; those of which it wants indications are indicated.
    """)
  /// A value.
  public struct Value: Codable, Sendable, Hashable {
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The value, up to 512 octets.
    public var value: HexBytes
    /// Makes a value.
    public init(handle: UInt16, value: HexBytes) {
      self.handle = handle
      self.value = value
    }
  }
  /// The parameters.
  public struct Params: RPCPayload, Hashable {
    /// 1 to 8 values, each of another characteristic.
    public var values: [Value]
    /// Only these subscribers: the daemon's identifiers of devices, as in server.subscribed; all if missing.
    public var centrals: [String]?
    /// Makes the params.
    public init(values: [Value], centrals: [String]? = nil) {
      self.values = values
      self.centrals = centrals
    }
  }
}

/// A subscriber confirmed an indication, or will not.
public enum ServerConfirmed: RPCNotification {
  public static let message = MessageDescription(
    "server.confirmed",
    """
    A subscriber has confirmed an indication of server.notify with "confirmation", or will not: it unsubscribed, the \
    link ended, or a newer value replaced this one. Sent once for each subscriber in "indicated", in the order of the \
    values for that subscriber; it may precede the answer.
    """)
  /// The parameters.
  public struct Params: RPCPayload {
    /// The daemon's identifier of the device.
    public var central: String
    /// The handle of the characteristic's value.
    public var handle: UInt16
    /// The number chosen in server.notify, 0 to 4294967295.
    public var confirmation: Int
    /// The reason why it was not confirmed; missing if it was.
    public var error: RPCError?
    /// Makes the params.
    public init(central: String, handle: UInt16, confirmation: Int, error: RPCError? = nil) {
      self.central = central
      self.handle = handle
      self.confirmation = confirmation
      self.error = error
    }
  }
}
