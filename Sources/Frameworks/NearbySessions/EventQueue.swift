/// A session's event before its program fetches it. A stream or resource is only a number: the queue must not retain a
/// session released by the program.
enum QueuedEvent: Sendable {
  case message([UInt8])
  case datagram([UInt8])
  case stream(UInt32, name: String)
  case resource(UInt32, ResourceOffer)
  case lost
  case resumed
  case ended(NearbyEnd)

  /// The event for the program.
  func event(of connection: NearbyConnection) -> NearbyEvent {
    switch self {
    case .message(let octets): .message(octets)
    case .datagram(let octets): .datagram(octets)
    case .stream(let flow, let name): .stream(IncomingFlow(connection: connection, flow: flow), name: name)
    case .resource(let flow, let offer): .resource(IncomingFlow(connection: connection, flow: flow), offer)
    case .lost: .lost
    case .resumed: .resumed
    case .ended(let end): .ended(end)
    }
  }
}

/// A session's events not fetched by its program. While it is full, no more are read from the other side.
struct EventQueue: Sendable {
  /// The octets of messages and datagrams, and their number: an empty one takes room, too.
  static let octetLimit = 1 << 20, countLimit = 1024
  /// The streams and resources.
  static let flowLimit = 64

  private var events: [QueuedEvent] = []
  /// The events before those, the next one last: removing it moves no others.
  private var leaving: [QueuedEvent] = []
  private var octets = 0, flows = 0

  var count: Int { events.count + leaving.count }
  var isEmpty: Bool { count == 0 }

  /// True if a channel's events fill it.
  func isFull(_ lane: Frame.Lane) -> Bool {
    switch lane {
    case .control: octets > Self.octetLimit || count - flows >= Self.countLimit
    case .bulk: flows >= Self.flowLimit
    }
  }

  mutating func append(_ event: QueuedEvent) {
    events.append(event)
    octets += event.octets
    if event.isFlow { flows += 1 }
  }

  mutating func next() -> QueuedEvent? {
    if leaving.isEmpty { (leaving, events) = (events.reversed(), []) }
    guard let event = leaving.popLast() else { return nil }
    octets -= event.octets
    if event.isFlow { flows -= 1 }
    return event
  }
}

extension QueuedEvent {
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
