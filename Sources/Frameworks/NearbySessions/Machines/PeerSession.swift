import Bluetooth

/// A session with one peer: the invitation, messages, streams and resources, over successive links.
///
/// | State        | Input                     | Effect                                                         |
/// |--------------|---------------------------|----------------------------------------------------------------|
/// | beginning    | invite (dialer)           | the frame → inviting until the timeout                         |
/// | beginning    | invite (acceptor)         | `invited` → invited until the timeout                          |
/// | beginning    | 30 s passed               | → ended                                                        |
/// | inviting     | answer                    | `connected`, or → ended                                        |
/// | invited      | answer (by the owner)     | the frame, `connected`, or → ended                             |
/// | inviting, invited | the timeout, link lost | → ended                                                      |
/// | connected    | link lost                 | `lost` → lost, until the time for resumption has passed        |
/// | lost         | resume                    | frames that the other side lacks are sent; `resumed` → connected |
/// | lost         | the time has passed       | → ended                                                        |
/// | any          | bye, a violation, end     | → ended                                                        |
///
/// `ended` is reported once, and nothing after it. Output is fetched with `output(on:)`, when a channel has room.
struct PeerSession: Sendable {
  enum State: Hashable, Sendable {
    case beginning(until: Instant)
    case inviting(until: Instant)
    case invited(until: Instant)
    case connected
    case lost(until: Instant)
    case ended
  }

  /// An event for the owner.
  enum Event: Hashable, Sendable {
    case invited(context: [UInt8], timeout: Duration)
    case connected
    case message([UInt8])
    case datagram([UInt8])
    case flow(FlowTable.Event)
    case lost
    case resumed
    case ended(NearbyEnd)
  }

  /// Maximum wait for an invitation after the handshake.
  static let timeout = Duration.seconds(30)
  /// Maximum octets and frames waiting for the other side, on the message channel.
  static let queue = (octets: (1 << 20) + (64 << 10), frames: 4096)
  /// Maximum octets of queued datagrams.
  private static let datagramRoom = 64 << 10
  /// Maximum unacknowledged `FlowTable` frames caused by the other side.
  static let answerLimit = 4096
  /// Maximum octets of the bulk channel held until the invitation is answered.
  private static let heldBeforeConnected = 256 << 10
  /// The octets of `output` at a time, before encryption: in whole Noise messages.
  private static let burst = 4 * SecureStream.longestPlaintext
  /// The queue with messages that go first.
  private static let urgentQueue = (octets: queue.octets + (256 << 10), frames: queue.frames + 64)

  let isDialer: Bool
  /// The session's identifier, 16 octets.
  let identifier: [UInt8]
  private let resumption: Duration
  private(set) var state: State
  private var channels: [Frame.Lane: Channel] = [:]
  private var lanes: [Frame.Lane: ReliableLane] = [.control: ReliableLane(), .bulk: ReliableLane()]
  private var flows: FlowTable
  private var datagrams: [Frame] = []
  private var bye: NearbyEnd?
  /// True if the session's end is reported to the other side.
  private(set) var tellsEnd = false
  /// Unsent datagrams, dropped because others were queued.
  private(set) var droppedDatagrams = 0

  /// A channel of the present link.
  private struct Channel: Sendable {
    var stream: SecureStream
    /// The rest of the fetched outgoing frames.
    var outgoing = OctetQueue()
  }

  /// - Parameter resumption: maximum time for a lost link to return.
  init(
    isDialer: Bool, identifier: [UInt8], control: SecureStream, resumption: Duration, at now: Instant
  ) {
    self.isDialer = isDialer
    self.identifier = identifier
    self.resumption = resumption
    state = .beginning(until: now.advanced(by: Self.timeout))
    channels[.control] = Channel(stream: control)
    flows = FlowTable(isDialer: isDialer)
  }

  /// The moment to call `pass`, if nothing else happens before.
  var deadline: Instant? {
    switch state {
    case .beginning(let until), .inviting(let until), .invited(let until), .lost(let until): until
    case .connected, .ended: nil
    }
  }

  /// The counted frames received on a channel, for the hello of another link.
  func receivedCount(on lane: Frame.Lane) -> UInt64 { lanes[lane]?.receivedCount ?? 0 }

  // MARK: The link

  /// The link's bulk channel is open.
  mutating func openedBulk(_ stream: SecureStream) -> [Event] {
    channels[.bulk] = Channel(stream: stream)
    return drain(.bulk)
  }

  /// Another link for the same session, with the counts from the other side's hello.
  mutating func resume(control: SecureStream, receivedControl: UInt64, receivedBulk: UInt64) -> [Event] {
    switch state {
    case .connected, .lost: break
    case .beginning, .inviting, .invited: return end(.violation("a session was resumed before it was connected"))
    case .ended: return []
    }
    let wasLost = state != .connected
    channels = [.control: Channel(stream: control)]
    datagrams = []
    do {
      try lanes[.control]?.resume(receivedControl)
      try lanes[.bulk]?.resume(receivedBulk)
    } catch {
      return end(.violation(error.text))
    }
    state = .connected
    return (wasLost ? [] : [.lost]) + [.resumed] + drain(.control)
  }

  /// The link, or one of its channels, has ended.
  mutating func lost(at now: Instant) -> [Event] {
    switch state {
    case .connected:
      channels = [:]
      state = .lost(until: now.advanced(by: resumption))
      return [.lost]
    case .beginning, .inviting, .invited: return end(.linkLost)
    case .lost, .ended: return []
    }
  }

  /// Time has passed.
  mutating func pass(to now: Instant) -> [Event] {
    guard let deadline, deadline <= now else { return [] }
    switch state {
    case .beginning, .inviting, .invited: return end(.timeout, tellsOther: true)
    case .lost: return end(.linkLost)
    case .connected, .ended: return []
    }
  }

  /// Octets from a channel of the present link.
  mutating func receive(_ octets: [UInt8], on lane: Frame.Lane, at now: Instant) -> [Event] {
    guard state != .ended, channels[lane] != nil else { return [] }
    channels[lane]?.stream.append(octets)
    return drain(lane, at: now)
  }

  /// Encrypted octets for a channel, a few thousand at a time; nil if there is nothing to send.
  mutating func output(on lane: Frame.Lane) -> [UInt8]? {
    guard var count = channels[lane]?.outgoing.count else { return nil }
    while count < Self.burst, let frame = nextFrame(on: lane) {
      channels[lane]?.outgoing.append(frame.encoded)
      count += frame.length
    }
    guard count > 0, let plaintext = channels[lane]?.outgoing.takeUp(to: Self.burst) else { return nil }
    return try? channels[lane]?.stream.seal(plaintext)
  }

  private mutating func nextFrame(on lane: Frame.Lane) -> Frame? {
    if let bye {
      guard lane == .control else { return nil }
      self.bye = nil
      return Frame(kind: .bye, payload: [bye.code])
    }
    guard state != .ended else { return nil }
    let hasOthers = lanes[lane]?.hasUnsent == true || lane == .control && !datagrams.isEmpty
    if hasOthers || lanes[lane]?.isAcknowledgementDue == true, let frame = lanes[lane]?.acknowledgement() {
      return frame
    }
    if lane == .control, !datagrams.isEmpty { return datagrams.removeFirst() }
    return lanes[lane]?.nextFrame()
  }

  // MARK: Frames

  private mutating func drain(_ lane: Frame.Lane, at now: Instant? = nil) -> [Event] {
    var events: [Event] = []
    do throws(Violation) {
      // The answer to the invitation may come behind the first stream: they are on different channels.
      guard lane == .control || state == .connected else {
        let held = channels[lane]?.stream.heldCount ?? 0
        guard held <= Self.heldBeforeConnected else { throw Violation("\(held) octets before the invitation's answer") }
        return []
      }
      while state != .ended, let frame = try channels[lane]?.stream.next() {
        events += try handle(frame, on: lane, at: now)
      }
    } catch {
      events += end(.violation(error.text))
    }
    return events
  }

  private mutating func handle(_ frame: Frame, on lane: Frame.Lane, at now: Instant?) throws(Violation) -> [Event] {
    guard frame.kind.lane == nil || frame.kind.lane == lane else {
      throw Violation("a frame \"\(frame.kind)\" on the other channel")
    }
    if frame.kind.isCounted { lanes[lane]?.received(frame) }
    var reader = OctetReader(frame.payload)
    switch (frame.kind, state) {
    case (.acknowledge, _):
      guard let total = reader.number(UInt64.self) else { throw Violation("a malformed acknowledgement") }
      try lanes[lane]?.acknowledge(total)
      return []
    case (.bye, _): return end(NearbyEnd(code: reader.number(UInt8.self) ?? 0))
    case (.invite, .beginning) where !isDialer:
      guard let seconds = reader.number(UInt16.self), let now else { throw Violation("a malformed invitation") }
      let timeout = Duration.seconds(Int(max(1, seconds)))
      state = .invited(until: now.advanced(by: timeout))
      return [.invited(context: Array(reader.rest), timeout: timeout)]
    case (.answer, .inviting):
      guard reader.number(UInt8.self) == 1 else { return end(.declined) }
      state = .connected
      return [.connected] + drain(.bulk)
    case (.message, .connected): return [.message(frame.payload)]
    case (.datagram, .connected): return [.datagram(frame.payload)]
    case (.openStream, .connected), (.offer, .connected), (.accept, .connected), (.data, .connected),
      (.credit, .connected), (.close, .connected):
      let (event, answer) = try flows.receive(frame)
      if let answer { lanes[.bulk]?.enqueue(answer) }
      guard answersKept < Self.answerLimit else { throw Violation("too little acknowledgement of frames") }
      return event.map { [.flow($0)] } ?? []
    case (.hello, _), (.invite, _), (.answer, _), (.message, _), (.datagram, _), (.openStream, _), (.offer, _),
      (.accept, _), (.data, _), (.credit, _), (.close, _):
      throw Violation("a frame \"\(frame.kind)\" out of order")
    }
  }

  // MARK: The owner

  /// The dialer invites the other side.
  /// - Parameter timeout: 1 to 65535 s.
  mutating func invite(context: [UInt8], timeout: Duration, at now: Instant) {
    guard isDialer, case .beginning = state else { return }
    let seconds = UInt16(clamping: max(1, timeout.components.seconds))
    var payload: [UInt8] = []
    payload.append(number: seconds)
    lanes[.control]?.enqueue(Frame(kind: .invite, payload: payload + context))
    state = .inviting(until: now.advanced(by: .seconds(Int(seconds))))
  }

  /// The acceptor answers the invitation; an expired one no longer exists.
  mutating func answer(_ accepts: Bool) -> [Event] {
    guard case .invited = state else { return [] }
    guard accepts else { return end(.declined, tellsOther: true) }
    // No message may overtake it.
    lanes[.control]?.enqueueFirst(Frame(kind: .answer, payload: [1]))
    state = .connected
    return [.connected]
  }

  /// True if this number of octets can be queued as a message.
  func hasRoom(for message: Int, isFirst: Bool = false) -> Bool {
    guard let lane = lanes[.control] else { return false }
    let limit = isFirst ? Self.urgentQueue : Self.queue
    return lane.keptCount < limit.frames && lane.keptOctets + message + Frame.headerLength <= limit.octets
  }

  /// Queues a message, which arrives once and in order, or the session ends.
  /// - Parameter isFirst: true to overtake the unsent messages.
  /// - Returns: false if there is no room, or no session.
  mutating func send(_ message: [UInt8], isFirst: Bool = false) -> Bool {
    guard isAlive, message.count <= Frame.Kind.message.longest, hasRoom(for: message.count, isFirst: isFirst) else {
      return false
    }
    let frame = Frame(kind: .message, payload: message)
    if isFirst { lanes[.control]?.enqueueFirst(frame) } else { lanes[.control]?.enqueue(frame) }
    return true
  }

  /// Sends a datagram at once, or drops it if messages wait to be sent or there is no link.
  mutating func sendDatagram(_ octets: [UInt8]) -> Bool {
    let waiting = datagrams.reduce(0) { $0 + $1.length }
    guard state == .connected, channels[.control] != nil, lanes[.control]?.hasUnsent == false,
      octets.count <= Frame.Kind.datagram.longest, waiting == 0 || waiting + octets.count <= Self.datagramRoom
    else {
      droppedDatagrams += 1
      return false
    }
    datagrams.append(Frame(kind: .datagram, payload: octets))
    return true
  }

  /// True if it is connected, or may be again.
  var isAlive: Bool {
    switch state {
    case .connected, .lost: true
    case .beginning, .inviting, .invited, .ended: false
    }
  }

  /// True if the other side waits for the owner's answer.
  var isInvited: Bool { if case .invited = state { true } else { false } }

  private var answersKept: Int { lanes[.bulk]?.answersKept ?? 0 }

  /// Opens a stream, or offers a resource.
  mutating func openFlow(name: String, offer: ResourceOffer? = nil) -> UInt32? {
    guard isAlive, answersKept < Self.answerLimit / 2, let (number, frame) = flows.open(name: name, offer: offer)
    else { return nil }
    lanes[.bulk]?.enqueue(frame)
    return number
  }

  mutating func acceptFlow(_ number: UInt32, offset: UInt64) {
    if let frame = flows.accept(number, offset: offset) { lanes[.bulk]?.enqueue(frame) }
  }

  /// The octets of a flow that can be sent now.
  func room(_ number: UInt32) -> Int { min(flows.room(number), Frame.Kind.data.longest) }

  mutating func send(_ octets: [UInt8], on number: UInt32) -> Bool {
    guard let frame = flows.send(octets, on: number) else { return false }
    lanes[.bulk]?.enqueue(frame)
    return true
  }

  mutating func consume(_ count: Int, of number: UInt32) {
    if let frame = flows.consume(count, of: number) { lanes[.bulk]?.enqueue(frame) }
  }

  mutating func closeFlow(_ number: UInt32, _ end: FlowEnd) {
    if let frame = flows.close(number, end) { lanes[.bulk]?.enqueue(frame) }
  }

  /// Ends the session here, with a report to the other side if there is a link.
  mutating func end(_ reason: NearbyEnd, tellsOther: Bool = false) -> [Event] {
    guard state != .ended else { return [] }
    let open = flows.all
    state = .ended
    lanes = [:]
    datagrams = []
    tellsEnd = tellsOther || reason == .byUs
    if tellsEnd { bye = reason } else { channels = [:] }
    return open.map { .flow(.closed($0, .cancelled)) } + [.ended(reason)]
  }
}
