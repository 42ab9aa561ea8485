import Bluetooth

/// The subevents of a train of periodic advertisements, and the slots in which devices respond to each of them (Core
/// 5.4, Vol 6, Part B, 4.4.2.12.2).
public struct ResponseSlots: Hashable, Sendable {
  /// How many subevents there are in each interval of the train, 1 to 128.
  public var subevents: Int
  /// From the start of one subevent to the start of the next, 7.5 to 318.75 ms.
  public var subeventInterval: Duration
  /// From the start of a subevent to its first slot, 1.25 to 317.5 ms.
  public var delay: Duration
  /// From the start of one slot to the start of the next, 0.25 to 31.875 ms.
  public var spacing: Duration
  /// How many slots a subevent has, 1 to 255.
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

/// The data that a train sends once, in one of its subevents.
public struct SubeventData: Hashable, Sendable {
  /// Which subevent, 0 to 127.
  public var subevent: UInt8
  /// The data, 0 to 249 octets.
  public var data: [UInt8]
  /// The first slot that is used for responses.
  public var firstSlot: UInt8
  /// How many slots are used.
  public var slots: UInt8

  /// Makes the data of a subevent.
  public init(subevent: UInt8, data: [UInt8], firstSlot: UInt8, slots: UInt8) {
    self.subevent = subevent
    self.data = data
    self.firstSlot = firstSlot
    self.slots = slots
  }

  /// The longest data: that of one HCI command.
  public static let longest = 249
}

/// The responses of devices to a subevent of a train.
public struct SubeventResponses: Hashable, Sendable {
  /// The response of one device.
  public struct Response: Hashable, Sendable {
    /// The slot in which it came.
    public var slot: UInt8
    /// The data.
    public var data: [UInt8]
    /// Signal strength in dBm; nil where the controller does not know it.
    public var rssi: Int?
    /// The power at which it was sent, in dBm, as its header says; nil where it says nothing.
    public var txPower: Int?
    /// Whether the controller lost the rest of the data.
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

  /// Which subevent, 0 to 127.
  public var subevent: UInt8
  /// Whether the data of the subevent was sent.
  public var wasSent: Bool
  /// The responses that were received.
  public var responses: [Response]

  /// Makes a report.
  public init(subevent: UInt8, wasSent: Bool, responses: [Response]) {
    self.subevent = subevent
    self.wasSent = wasSent
    self.responses = responses
  }
}
