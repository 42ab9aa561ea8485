import Bluetooth

/// The subevents in a train of periodic advertisements, and their slots for responses from devices (Core 5.4, Vol 6,
/// Part B, 4.4.2.12.2).
public struct ResponseSlots: Hashable, Sendable {
  /// Subevents per interval of the train, 1 to 128.
  public var subevents: Int
  /// Time between the starts of two subevents, 7.5 to 318.75 ms.
  public var subeventInterval: Duration
  /// Time between a subevent's start and its first slot, 1.25 to 317.5 ms.
  public var delay: Duration
  /// Time between the starts of two slots, 0.25 to 31.875 ms.
  public var spacing: Duration
  /// Slots per subevent, 1 to 255.
  public var count: Int

  /// Describes the slots.
  public init(subevents: Int, subeventInterval: Duration, delay: Duration, spacing: Duration, count: Int) {
    self.subevents = subevents
    self.subeventInterval = subeventInterval
    self.delay = delay
    self.spacing = spacing
    self.count = count
  }
}

/// Data sent by a train once, in one of its subevents.
public struct SubeventData: Hashable, Sendable {
  /// The subevent, 0 to 127.
  public var subevent: UInt8
  /// The data, 0 to 249 octets.
  public var data: [UInt8]
  /// The first slot used for responses.
  public var firstSlot: UInt8
  /// The number of slots used.
  public var slots: UInt8

  /// Makes a subevent's data.
  public init(subevent: UInt8, data: [UInt8], firstSlot: UInt8, slots: UInt8) {
    self.subevent = subevent
    self.data = data
    self.firstSlot = firstSlot
    self.slots = slots
  }

  /// Maximum octets of data: the room in one HCI command.
  public static let longest = 249
}

/// The responses from devices to a train's subevent.
public struct SubeventResponses: Hashable, Sendable {
  /// A device's response.
  public struct Response: Hashable, Sendable {
    /// The slot of its reception.
    public var slot: UInt8
    /// The data.
    public var data: [UInt8]
    /// Signal strength in dBm; nil where the controller does not know it.
    public var rssi: Int?
    /// The transmit power in dBm, from its header; nil if not included.
    public var txPower: Int?
    /// True if the controller lost the rest of the data.
    public var isTruncated: Bool

    /// Makes a response from its parts.
    public init(slot: UInt8, data: [UInt8], rssi: Int?, txPower: Int? = nil, isTruncated: Bool = false) {
      self.slot = slot
      self.data = data
      self.rssi = rssi
      self.txPower = txPower
      self.isTruncated = isTruncated
    }
  }

  /// The subevent, 0 to 127.
  public var subevent: UInt8
  /// True if the subevent's data was sent.
  public var wasSent: Bool
  /// The received responses.
  public var responses: [Response]

  /// Makes a report.
  public init(subevent: UInt8, wasSent: Bool, responses: [Response]) {
    self.subevent = subevent
    self.wasSent = wasSent
    self.responses = responses
  }
}
