/// A followed train's subevents, as announced by its advertiser (Core 5.4, Vol 6, Part B, 4.4.2.12.2).
public struct TrainSubevents: Hashable, Sendable {
  /// Subevents per interval of the train, 1 to 128.
  public var count: Int
  /// Time between the starts of two subevents, 7.5 to 318.75 ms.
  public var interval: Duration
  /// Time between a subevent's start and its first slot for responses; zero for a train without slots.
  public var slotDelay: Duration
  /// Time between the starts of two slots; zero for a train without slots.
  public var slotSpacing: Duration

  /// Describes subevents.
  public init(count: Int, interval: Duration, slotDelay: Duration, slotSpacing: Duration) {
    self.count = count
    self.interval = interval
    self.slotDelay = slotDelay
    self.slotSpacing = slotSpacing
  }
}

/// A packet's place in a train with subevents.
public struct SubeventPlace: Hashable, Sendable {
  /// The event's number, one per interval; 65535 is followed by 0.
  public var event: UInt16
  /// The subevent's number, 0 to 127.
  public var subevent: UInt8

  /// Names a packet.
  public init(event: UInt16, subevent: UInt8) {
    self.event = event
    self.subevent = subevent
  }
}

/// A response to a followed train's packet; it is sent once.
public struct TrainResponse: Hashable, Sendable {
  /// The packet.
  public var request: SubeventPlace
  /// The response's subevent, 0 to 127: the next one with this number.
  public var subevent: UInt8
  /// The response's slot, 0 to 254.
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

  /// Maximum octets of data: the room in one HCI command.
  public static let longest = 247
}
