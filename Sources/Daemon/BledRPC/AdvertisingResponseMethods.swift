import Bluetooth

/// Sends data in a subevent of a train.
public enum AdvertisingSend: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "advertising.send", needs: .advertise,
    """
    Sends data in a subevent of a train with `responses`, once, and answers when the controller has it, which is within \
    an interval of the train. Data for a subevent replaces data that still waits for it, whose call fails with \
    cancelled. Without data a subevent is sent empty. The responses of devices come as advertising.responses.
    """)

  public struct Params: RPCPayload, Hashable {
    /// The number of an advertisement of this session with `responses` of `periodic`.
    public var advertising: Int
    /// Which subevent, 0 to 127.
    public var subevent: Int
    /// The data, 0 to 249 octets.
    public var data: HexBytes
    /// The first slot for responses, 0 to 254; 0 if missing.
    public var firstSlot: Int?
    /// The number of slots that devices may use, 0 to 255; if missing, all from the first one on.
    public var slots: Int?
    public init(advertising: Int, subevent: Int, data: HexBytes, firstSlot: Int? = nil, slots: Int? = nil) {
      self.advertising = advertising
      self.subevent = subevent
      self.data = data
      self.firstSlot = firstSlot
      self.slots = slots
    }
  }
}

/// Devices responded to a subevent of a train.
public enum AdvertisingResponses: RPCNotification {
  public static let message = MessageDescription(
    "advertising.responses",
    """
    Devices responded to a subevent of a train of this session, or its data could not be sent (`sent`).
    """)

  /// The response of one device.
  public struct Response: RPCPayload, Hashable {
    /// The slot of the response, 0 to 254.
    public var slot: Int
    /// The data.
    public var data: HexBytes
    /// Signal strength in dBm, if known.
    public var rssi: Int?
    /// The transmit power in dBm, if the header contains it.
    public var txPower: Int?
    /// True if the controller lost the end of the data.
    public var truncated: Bool?
    /// Makes a response.
    public init(slot: Int, data: HexBytes, rssi: Int? = nil, txPower: Int? = nil, truncated: Bool? = nil) {
      self.slot = slot
      self.data = data
      self.rssi = rssi
      self.txPower = txPower
      self.truncated = truncated
    }
  }

  public struct Params: RPCPayload, Hashable {
    /// The number of the advertisement.
    public var advertising: Int
    /// Which subevent, 0 to 127.
    public var subevent: Int
    /// True if the data of the subevent was sent.
    public var sent: Bool
    /// The received responses, in the controller's order.
    public var responses: [Response]
    /// When the controller reported them, in seconds since the epoch.
    public var time: Double
    /// The number of such events of the advertisement that were dropped before this one, because this session did not
    /// read; missing if none.
    public var lost: Int?
    public init(
      advertising: Int, subevent: Int, sent: Bool, responses: [Response], time: Double, lost: Int? = nil
    ) {
      self.advertising = advertising
      self.subevent = subevent
      self.sent = sent
      self.responses = responses
      self.time = time
      self.lost = lost
    }
  }
}
