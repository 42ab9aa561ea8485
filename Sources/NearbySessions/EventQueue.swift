/// The events of a session that its program has not fetched. While it is full, no more are read from the other side.
struct EventQueue: Sendable {
  /// The octets of messages and datagrams, and their number: an empty one takes room, too.
  static let octetLimit = 1 << 20, countLimit = 1024
  /// The streams and resources.
  static let flowLimit = 64

  private var events: [NearbyEvent] = []
  /// The events before those, the next one last: removing it moves no others.
  private var leaving: [NearbyEvent] = []
  private var octets = 0, flows = 0

  private var count: Int { events.count + leaving.count }
  var isEmpty: Bool { count == 0 }

  /// Whether the events of a channel fill it.
  func isFull(_ lane: Frame.Lane) -> Bool {
    switch lane {
    case .control: octets > Self.octetLimit || count - flows >= Self.countLimit
    case .bulk: flows >= Self.flowLimit
    }
  }

  mutating func append(_ event: NearbyEvent) {
    events.append(event)
    octets += event.octets
    if event.isFlow { flows += 1 }
  }

  mutating func next() -> NearbyEvent? {
    if leaving.isEmpty { (leaving, events) = (events.reversed(), []) }
    guard let event = leaving.popLast() else { return nil }
    octets -= event.octets
    if event.isFlow { flows -= 1 }
    return event
  }
}

extension NearbyEvent {
  fileprivate var octets: Int {
    switch self {
    case .message(let octets), .datagram(let octets): octets.count
    case .stream, .resource, .lost, .resumed, .ended: 0
    }
  }

  fileprivate var isFlow: Bool {
    switch self {
    case .stream, .resource: true
    case .message, .datagram, .lost, .resumed, .ended: false
    }
  }
}
