import Bluetooth

/// The channel numbers of one link.
///
/// | Number  | Input                             | Outcome                                        |
/// |---------|-----------------------------------|------------------------------------------------|
/// | free    | `ask`                             | asked                                          |
/// | free    | a device's request that is granted| open                                           |
/// | asked   | the device's response             | open: `opened`; or free: `refused`             |
/// | asked   | a response that is pending        | asked, for 30 s more; for 5 minutes at most    |
/// | asked   | a reject                          | free: `refused`                                |
/// | asked   | 30 s without an answer            | overdue: `refused`                             |
/// | overdue | the device's response             | open, and closing at once; or free             |
/// | overdue | a reject, 5 minutes since `ask`, no other number left | free                       |
/// | open    | `close`                           | closing                                        |
/// | open    | the device's request to close it  | free: `closed`                                 |
/// | closing | the response to the same ends     | free                                           |
/// | closing | the device's request to close it  | free: the requests have crossed                |
/// | closing | a reject, 30 s                    | free                                           |
struct ChannelTable {
  /// An open channel.
  struct Entry {
    /// The device's end.
    var remote: ChannelEnd
    let mode: ChannelMode
  }

  /// A request for a channel.
  fileprivate struct Request {
    let own: ChannelEnd
    let mode: ChannelMode
    let identifier: UInt8
    var until: Instant
    /// The final deadline, even if the device answers that it is pending.
    let limit: Instant
    /// True if its failure was reported: the device may open it all the same.
    var isOverdue = false
  }

  fileprivate enum State {
    case asked(Request)
    case open(Entry)
    case closing(UInt16, UInt8, until: Instant)
  }

  /// LE's numbers for channels (2.1, table 2.3).
  static let numbers: ClosedRange<UInt16> = 0x0040...0x007F

  /// The longest time until the last response to a request (6.2.2).
  private static let longest = Duration.seconds(300)

  private var states: [UInt16: State] = [:]

  /// When `expire` is due.
  var deadline: Instant? { states.values.compactMap(\.until).min() }

  /// The lowest unused numbers; then overdue ones, the oldest first.
  /// - Returns: `count`, or fewer.
  func free(_ count: Int) -> [UInt16] {
    let free = Array(Self.numbers.lazy.filter { states[$0] == nil }.prefix(count))
    guard free.count < count else { return free }
    let overdue = requests.filter(\.isOverdue).sorted { ($0.limit, $0.own.number) < ($1.limit, $1.own.number) }
    return free + overdue.prefix(count - free.count).map(\.own.number)
  }

  /// True if a request with this identifier is pending.
  func isWaiting(_ identifier: UInt8) -> Bool { states.values.contains { $0.identifier == identifier } }

  /// An open channel.
  subscript(_ number: UInt16) -> Entry? { if case .open(let entry) = states[number] { entry } else { nil } }

  /// The device's number for an open channel.
  func remote(of number: UInt16) -> UInt16? { self[number]?.remote.number }

  /// The device's number for a closing channel.
  func closingRemote(of number: UInt16) -> UInt16? {
    if case .closing(let remote, _, _) = states[number] { remote } else { nil }
  }

  /// The open channel with this number at the device.
  func local(of remote: UInt16) -> UInt16? {
    states.first { if case .open(let entry) = $0.value { entry.remote.number == remote } else { false } }?.key
  }

  /// True if the device has this number in use.
  func isUsed(_ remote: UInt16) -> Bool {
    states.values.contains { state in
      switch state {
      case .open(let entry): entry.remote.number == remote
      case .closing(let other, _, _): other == remote
      case .asked: false
      }
    }
  }

  mutating func ask(
    _ own: ChannelEnd, _ mode: ChannelMode, _ identifier: UInt8, at now: Instant, for timeout: Duration
  ) {
    giveUp(own.number)
    states[own.number] = .asked(
      Request(
        own: own, mode: mode, identifier: identifier, until: now.advanced(by: timeout),
        limit: now.advanced(by: Self.longest)))
  }

  mutating func open(_ number: UInt16, _ remote: ChannelEnd, _ mode: ChannelMode) {
    giveUp(number)
    states[number] = .open(Entry(remote: remote, mode: mode))
  }

  /// An overdue number is used again. A late response names the others in its request by their order.
  private mutating func giveUp(_ number: UInt16) {
    guard case .asked(let request) = states[number], request.isOverdue else { return }
    _ = remove { $0.identifier == request.identifier }
  }

  /// Changes an open channel.
  mutating func change(_ number: UInt16, _ change: (inout Entry) -> Void) {
    guard var entry = self[number] else { return }
    change(&entry)
    states[number] = .open(entry)
  }

  mutating func close(_ number: UInt16, _ identifier: UInt8, until: Instant) {
    guard let remote = remote(of: number) else { return }
    states[number] = .closing(remote, identifier, until: until)
  }

  mutating func free(_ number: UInt16) { states[number] = nil }

  /// A response announced another one.
  mutating func postpone(_ identifier: UInt8, _ mode: ChannelMode, until: Instant) {
    for var request in asked(identifier, mode) where !request.isOverdue {
      request.until = min(until, request.limit)
      states[request.own.number] = .asked(request)
    }
  }

  /// The request for channels with this identifier was answered.
  /// - Returns: our ends of them, in the order of the request, and if they are overdue; none without such a request.
  mutating func answered(_ identifier: UInt8, _ mode: ChannelMode) -> [(own: ChannelEnd, isOverdue: Bool)] {
    let asked = asked(identifier, mode)
    for request in asked { states[request.own.number] = nil }
    return asked.map { ($0.own, $0.isOverdue) }
  }

  private func asked(_ identifier: UInt8, _ mode: ChannelMode) -> [Request] {
    requests.filter { $0.identifier == identifier && $0.mode == mode }.sorted { $0.own.number < $1.own.number }
  }

  private var requests: [Request] {
    states.values.compactMap { if case .asked(let request) = $0 { request } else { nil } }
  }

  /// The request to close a channel was answered; one for other ends was not (4.7).
  mutating func closeAnswered(_ identifier: UInt8, local: UInt16, remote: UInt16) {
    if case .closing(remote, identifier, _) = states[local] { states[local] = nil }
  }

  /// The request with this identifier was rejected.
  /// - Returns: the requested numbers, if it was a request for channels.
  mutating func rejected(_ identifier: UInt8) -> [UInt16] { remove { $0.identifier == identifier } }

  /// The requested numbers without a response until now. They are overdue then.
  mutating func expire(at now: Instant) -> [UInt16] {
    let late = requests.filter { $0.until <= now && now < $0.limit }
    let ended = remove { $0.until.map { $0 <= now } ?? false }
    for var request in late {
      (request.isOverdue, request.until) = (true, request.limit)
      states[request.own.number] = .asked(request)
    }
    return ended
  }

  /// - Returns: the requested ones that are not overdue.
  private mutating func remove(_ isMeant: (State) -> Bool) -> [UInt16] {
    let meant = states.filter { isMeant($0.value) }
    for number in meant.keys { states[number] = nil }
    return meant.filter { if case .asked(let request) = $0.value { !request.isOverdue } else { false } }.keys.sorted()
  }
}

extension ChannelTable.State {
  /// The pending request's identifier.
  fileprivate var identifier: UInt8? {
    switch self {
    case .asked(let request): request.identifier
    case .closing(_, let identifier, _): identifier
    case .open: nil
    }
  }

  /// The pending request's deadline.
  fileprivate var until: Instant? {
    switch self {
    case .asked(let request): request.until
    case .closing(_, _, let until): until
    case .open: nil
    }
  }
}
