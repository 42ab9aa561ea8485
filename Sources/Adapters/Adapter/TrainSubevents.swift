/// The subevents of a train that is followed, as its advertiser announces them (Core 5.4, Vol 6, Part B, 4.4.2.12.2).
public struct TrainSubevents: Hashable, Sendable {
  /// How many there are in each interval of the train, 1 to 128.
  public var count: Int
  /// From the start of one subevent to the start of the next, 7.5 to 318.75 ms.
  public var interval: Duration
  /// From the start of a subevent to its first slot for responses; zero for a train without slots.
  public var slotDelay: Duration
  /// From the start of one slot to the start of the next; zero for a train without slots.
  public var slotSpacing: Duration

  /// Describes subevents.
  public init(count: Int, interval: Duration, slotDelay: Duration, slotSpacing: Duration) {
    self.count = count
    self.interval = interval
    self.slotDelay = slotDelay
    self.slotSpacing = slotSpacing
  }
}

/// Which packet of a train with subevents it is.
public struct SubeventPlace: Hashable, Sendable {
  /// The number of the event, one of each interval; after 65535 comes 0.
  public var event: UInt16
  /// The number of the subevent, 0 to 127.
  public var subevent: UInt8

  /// Names a packet.
  public init(event: UInt16, subevent: UInt8) {
    self.event = event
    self.subevent = subevent
  }
}

/// A response to a packet of a train that is followed; it is sent once.
public struct TrainResponse: Hashable, Sendable {
  /// The packet.
  public var request: SubeventPlace
  /// The subevent of the response, 0 to 127: the next one with this number.
  public var subevent: UInt8
  /// The slot of the response, 0 to 254.
  public var slot: UInt8
  /// The data, 0 to 247 octets.
  public var data: [UInt8]

  /// Makes a response.
  public init(to request: SubeventPlace, subevent: UInt8, slot: UInt8, data: [UInt8]) {
    self.request = request
    self.subevent = subevent
    self.slot = slot
    self.data = data
  }

  /// The longest data: that of one HCI command.
  public static let longest = 247
}
