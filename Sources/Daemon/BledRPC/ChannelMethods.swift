import Bluetooth

/// A connection-oriented L2CAP channel (Core 5.4, Vol 3, Part A, 10.1).
public struct ChannelDescription: RPCPayload, Hashable {
  /// The number that names it in this session, 1 or more.
  public var channel: Int
  /// The daemon's identifier of the device.
  public var peripheral: String
  /// The number of the listener (SPSM), 1 to 255.
  public var psm: UInt16
  /// The mode of the channel: "leCreditBased" or "enhanced".
  public var mode: Word<ChannelMode>
  /// The longest packet that the device may send, in octets, 23 to 65535.
  public var receiveMTU: Int
  /// The longest packet that the device accepts, in octets, 23 to 65535.
  public var sendMTU: Int
  /// The longest piece of the device's packets (MPS), in octets, 23 to 65533; absent if unknown.
  public var receiveMPS: Int?
  /// The longest piece of packets to the device (MPS), in octets, 23 to 65533; absent if unknown.
  public var sendMPS: Int?
  /// The token to send to `socket`, followed by a line feed, to get the channel's octets there: 32 hex digits. Valid
  /// once, for a program of the same user, within 30 seconds.
  public var token: String?
  /// The path of the socket for the token.
  public var socket: String?

  /// Makes a description without a token.
  public init(
    channel: Int, peripheral: String, psm: UInt16, mode: Word<ChannelMode>, receiveMTU: Int, sendMTU: Int,
    receiveMPS: Int? = nil,
    sendMPS: Int? = nil
  ) {
    self.channel = channel
    self.peripheral = peripheral
    self.psm = psm
    self.mode = mode
    self.receiveMTU = receiveMTU
    self.sendMTU = sendMTU
    self.receiveMPS = receiveMPS
    self.sendMPS = sendMPS
  }
}

/// Listens for L2CAP channels.
public enum L2CAPPublish: ClientCall {
  public static let method = MethodDescription(
    "l2cap.publish", needs: .serve,
    """
    Listens for L2CAP channels that devices open, until l2cap.unpublish or the session's end; each is told of with \
    l2cap.incoming.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The number under which devices open channels, 128 to 255; the daemon chooses one if missing.
    public var psm: UInt16?
    /// The required security of a device's link: "none", "encrypted", "authenticated" or "secureConnections"; "none" if
    /// missing.
    public var security: ChannelSecurity?
    /// The longest packet that a device may send, 23 to 65535 octets, of an enhanced channel 64 or more; 8192 if
    /// missing.
    public var receiveMTU: Int?
    /// The required mode of channels: "leCreditBased" or "enhanced"; if missing either, if the adapter has both.
    public var mode: ChannelMode?
    /// The adapter; the first if missing.
    public var adapter: String?
    public init(
      psm: UInt16? = nil, security: ChannelSecurity? = nil, receiveMTU: Int? = nil, mode: ChannelMode? = nil,
      adapter: String? = nil
    ) {
      self.psm = psm
      self.security = security
      self.receiveMTU = receiveMTU
      self.mode = mode
      self.adapter = adapter
    }
  }

  public struct Result: RPCPayload, Hashable {
    /// The number under which devices open channels, 128 to 255.
    public var psm: UInt16
    /// The adapter that listens.
    public var adapter: String
    public init(psm: UInt16, adapter: String) {
      self.psm = psm
      self.adapter = adapter
    }
  }
}

/// Ends listening for L2CAP channels.
public enum L2CAPUnpublish: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "l2cap.unpublish", needs: .serve,
    "Ends the listening that l2cap.publish began. Open channels stay.")

  public struct Params: RPCPayload, Hashable {
    /// The number that `l2cap.publish` gave, 128 to 255.
    public var psm: UInt16
    /// The adapter; the first if missing.
    public var adapter: String?
    public init(psm: UInt16, adapter: String? = nil) {
      self.psm = psm
      self.adapter = adapter
    }
  }
}

/// Opens an L2CAP channel to a device.
public enum L2CAPOpen: ClientCall {
  /// The channel.
  public typealias Result = ChannelDescription
  public static let method = MethodDescription(
    "l2cap.open", needs: .connect,
    """
    Opens an L2CAP channel to a device that this session is connected to. The answer passes a descriptor for its octets \
    (SCM_RIGHTS), or has a token to fetch them with. Nothing is dropped, and who does not read stops the other side. The \
    channel ends when the program closes the descriptor, and with the session.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The daemon's identifier of the device.
    public var peripheral: String
    /// The number of the device's listener, 1 to 255.
    public var psm: UInt16
    /// The required security of the link: "none", "encrypted", "authenticated" or "secureConnections"; "none" if
    /// missing. A device may require more.
    public var security: ChannelSecurity?
    /// The longest packet that the device may send, 23 to 65535 octets, of an enhanced channel 64 or more; 8192 if
    /// missing.
    public var receiveMTU: Int?
    /// The mode of the channel: "leCreditBased" or "enhanced", which the adapter and the device must support;
    /// "leCreditBased" if missing.
    public var mode: ChannelMode?
    /// True: the descriptor keeps packets (SOCK_SEQPACKET): one write is one packet, of at most `sendMTU` octets, and
    /// one read gives one. A stream otherwise.
    public var packets: Bool?
    /// True: no descriptor is passed, and the answer has a token. Not with `packets`.
    public var token: Bool?
    public init(
      peripheral: String, psm: UInt16, security: ChannelSecurity? = nil, receiveMTU: Int? = nil,
      mode: ChannelMode? = nil,
      packets: Bool? = nil, token: Bool? = nil
    ) {
      self.peripheral = peripheral
      self.psm = psm
      self.security = security
      self.receiveMTU = receiveMTU
      self.mode = mode
      self.packets = packets
      self.token = token
    }
  }
}

/// Accepts an L2CAP channel that a device opened.
public enum L2CAPAccept: ClientCall {
  /// The channel.
  public typealias Result = ChannelDescription
  public static let method = MethodDescription(
    "l2cap.accept", needs: .serve,
    """
    Takes a channel of l2cap.incoming, within 30 seconds; its octets come as those of l2cap.open. To refuse it, call \
    l2cap.close.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The number that `l2cap.incoming` gave, 1 or more.
    public var channel: Int
    /// True: the descriptor keeps packets (SOCK_SEQPACKET): one write is one packet, of at most `sendMTU` octets, and
    /// one read gives one. A stream otherwise.
    public var packets: Bool?
    /// True: no descriptor is passed, and the answer has a token. Not with `packets`.
    public var token: Bool?
    public init(channel: Int, packets: Bool? = nil, token: Bool? = nil) {
      self.channel = channel
      self.packets = packets
      self.token = token
    }
  }
}

/// Closes an L2CAP channel.
public enum L2CAPClose: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "l2cap.close", needs: nil,
    """
    Closes a channel of this session, or refuses one of l2cap.incoming. What the program wrote before is sent; l2cap.closed \
    does not follow.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The number that names it in this session, 1 or more.
    public var channel: Int
    public init(channel: Int) { self.channel = channel }
  }
}

/// A device opened a channel.
public enum L2CAPIncoming: RPCNotification {
  /// The channel; without a token, which `l2cap.accept` gives.
  public typealias Params = ChannelDescription
  public static let message = MessageDescription(
    "l2cap.incoming",
    "A device opened a channel to a number that this session published: call l2cap.accept within 30 seconds.")
}

/// A channel ended.
public enum L2CAPClosed: RPCNotification {
  public static let message = MessageDescription(
    "l2cap.closed",
    """
    A channel of this session ended. It is sent when what the device had sent before was handed over.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The number that names it in this session, 1 or more.
    public var channel: Int
    /// The reason, unless the program closed its side.
    public var reason: RPCError?
    public init(channel: Int, reason: RPCError?) {
      self.channel = channel
      self.reason = reason
    }
  }
}
