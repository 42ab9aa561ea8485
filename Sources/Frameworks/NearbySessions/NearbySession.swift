import BledClient

/// A session within its node: the machine, the channels of the present link, and the program's events and waits. Used
/// within its node only.
final class NearbySession {
  /// A place where calls wait until something has happened there, which each checks again.
  enum Place: Hashable {
    /// The next event.
    case event
    /// Room for the events, so more is read from a channel.
    case reading(Frame.Lane)
    /// Room in the message queue.
    case messages
    /// A stream or resource.
    case flow(UInt32)
  }

  let number: Int
  let remote: FoundPeer
  let key: [UInt8]
  let code: String
  let waits = Waits<Place>()
  weak var connection: NearbyConnection?
  /// The connection while its invitation is awaited: nothing else refers to it yet.
  var unreported: NearbyConnection?
  /// For an acceptor, the number and key of the awaited bulk channel.
  var ticket: (number: UInt64, key: [UInt8])?
  /// The dialer's connection to the device.
  private(set) var link: Peripheral?
  /// The device whose link the session uses, of either role.
  private var device: String?
  /// True while the lost link is being dialled: two links for one session would contradict each other.
  var isRedialing = false
  /// True if the session has ended here, and the other side has yet to close the channels.
  var isLingering = false
  /// True if messages, or octets of a stream or resource, were sent or received.
  var hasTransferred = false
  /// The machine, and the streams and resources, which `NearbySession+Flows` changes, too.
  var machine: PeerSession
  var flows = SessionFlows()

  private(set) var sockets: [Frame.Lane: BlockingSocket] = [:]
  private var isWriting: Set<Frame.Lane> = []
  private var timer: Task<Void, Never>?
  /// The events not fetched yet.
  private(set) var events = EventQueue()
  /// The end, once reported.
  private(set) var end: NearbyEnd?
  /// The wait for the answer to an invitation.
  private(set) var answerWaiter: CheckedContinuation<NearbyEnd?, Never>?

  init(_ number: Int, _ machine: PeerSession, _ remote: FoundPeer, key: [UInt8], code: String) {
    (self.number, self.machine, self.remote, self.key, self.code) = (number, machine, remote, key, code)
  }

  var hasEnded: Bool { end != nil }
  /// True if this side has begun it, and it has not ended.
  var isOurs: Bool { machine.isDialer && !hasEnded }
  /// True if it is connected, or may be again.
  var isAlive: Bool { machine.isAlive }
  /// True if the link is lost, and may be restored.
  var isLost: Bool { if case .lost = machine.state { true } else { false } }

  // MARK: The machine

  /// Gives the machine an input.
  func handle(on node: isolated NearbyNode, _ input: (inout PeerSession) -> [PeerSession.Event]) {
    handle(input(&machine), on: node)
  }

  /// Handles the machine's events, and sends its output.
  func handle(_ events: [PeerSession.Event], on node: isolated NearbyNode) {
    for event in events { handle(event, on: node) }
    for lane in Frame.Lane.allCases { pump(lane, on: node) }
    watchDeadline(on: node)
    waits.wake(at: .messages)
    node.finish(self)
  }

  private func handle(_ event: PeerSession.Event, on node: isolated NearbyNode) {
    switch event {
    case .invited(let context, _): node.invited(context, self)
    case .connected: answered(nil)
    case .message(let message):
      hasTransferred = true
      queue(.message(message))
    case .datagram(let octets): queue(.datagram(octets))
    case .flow(let event): handle(event)
    case .lost:
      closeSockets(on: node)
      queue(.lost)
      if machine.isDialer { Task { await node.redial(self) } }
    case .resumed: queue(.resumed)
    case .ended(let reason):
      queue(.ended(reason))
      answered(reason)
      unreported = nil
      end = reason
      resumeReaders()
      for flow in flows.all { closed(flow, .cancelled) }
      node.ended(self)
    }
  }

  private func watchDeadline(on node: isolated NearbyNode) {
    timer?.cancel()
    timer = machine.deadline.map { deadline in
      let wait = node.now.duration(to: deadline)
      return Task { [weak node, number, clock = node.settings.clock] in
        try? await clock.sleep(for: max(.zero, wait))
        guard !Task.isCancelled else { return }
        await node?.pass(number)
      }
    }
  }

  /// Waits for the answer to an invitation.
  /// - Returns: nil if it was accepted.
  func answer(on node: isolated NearbyNode) async -> NearbyEnd? {
    await withCheckedContinuation { waiter in
      guard machine.state != .connected, machine.state != .ended else {
        return waiter.resume(returning: machine.state == .connected ? nil : end ?? .linkLost)
      }
      answerWaiter = waiter
    }
  }

  private func answered(_ end: NearbyEnd?) {
    answerWaiter?.resume(returning: end)
    answerWaiter = nil
  }

  // MARK: Events

  func queue(_ event: QueuedEvent) {
    guard !hasEnded else { return }
    // The waiting call fetches it, or leaves it for the next one if it is cancelled meanwhile.
    events.append(event)
    waits.wake(at: .event)
  }

  /// The next event; nil after the last one, and when the task is cancelled, which removes none.
  func next(for connection: NearbyConnection, on node: isolated NearbyNode) async -> NearbyEvent? {
    while !Task.isCancelled {
      if let event = events.next() {
        resumeReaders()
        node.finish(self)
        return event.event(of: connection)
      }
      // There is one reader.
      guard !hasEnded, waits.count(at: .event) == 0 else { return nil }
      await waits.wait(at: .event)
    }
    return nil
  }

  // MARK: Channels

  /// The session uses a link, which its owner has acquired or joined for it, instead of a former one.
  func use(_ device: String, _ link: Peripheral? = nil, on node: isolated NearbyNode) {
    if let former = self.device { Task { [links = node.links] in await links.release(former) } }
    (self.device, self.link) = (device, link)
  }

  /// A channel on the present link is open.
  func attach(_ socket: BlockingSocket, _ lane: Frame.Lane, on node: isolated NearbyNode) {
    sockets[lane]?.close()
    sockets[lane] = socket
    Task { await read(socket, lane, on: node) }
    pump(lane, on: node)
  }

  /// The present link's bulk channel is open.
  func opened(_ socket: BlockingSocket, _ stream: SecureStream, on node: isolated NearbyNode) {
    let events = machine.openedBulk(stream)
    attach(socket, .bulk, on: node)
    handle(events, on: node)
  }

  /// The control channel on another link is open.
  func resume(_ opened: ControlOpening.Opened, _ socket: BlockingSocket, on node: isolated NearbyNode) {
    let hello = opened.hello
    let events = machine.resume(
      control: opened.stream, receivedControl: hello.receivedControl, receivedBulk: hello.receivedBulk)
    attach(socket, .control, on: node)
    handle(events, on: node)
  }

  private func read(_ socket: BlockingSocket, _ lane: Frame.Lane, on node: isolated NearbyNode) async {
    while true {
      while mustWait(lane) { await waits.wait(at: .reading(lane)) }
      guard sockets[lane] === socket else { return }
      var next = socket.readNow()
      // Where the other side sends without a pause, the program has its turn, too.
      if next == nil { next = await socket.read() } else { await Task.yield() }
      guard sockets[lane] === socket else { return }
      guard let octets = next else { return linkLost(on: node) }
      handle(on: node) { $0.receive(octets, on: lane, at: node.now) }
    }
  }

  func linkLost(on node: isolated NearbyNode) {
    closeSockets(on: node)
    handle(on: node) { $0.lost(at: node.now) }
  }

  func closeSockets(on node: isolated NearbyNode) {
    for socket in sockets.values { socket.close() }
    (sockets, isWriting, link) = ([:], [], nil)
    resumeReaders()
    node.waits.wake(at: .channels)
    guard let device else { return }
    self.device = nil
    Task { [links = node.links] in await links.release(device) }
  }

  /// Its end is over: the channels close, and no call waits any longer.
  func close(on node: isolated NearbyNode) {
    timer?.cancel()
    closeSockets(on: node)
    waits.wake(at: .event)
    waits.wake(at: .messages)
  }

  /// True if the program has to fetch something before more is read from a channel.
  private func mustWait(_ lane: Frame.Lane) -> Bool {
    guard !hasEnded, sockets[lane] != nil else { return false }
    if events.isFull(lane) { return true }
    // An ended flow has no window, but its octets still need room.
    return lane == .bulk && flows.endedUnread >= EventQueue.flowLimit
  }

  /// The program has fetched something, or the channels have ended.
  func resumeReaders() {
    for lane in Frame.Lane.allCases where !mustWait(lane) { waits.wake(at: .reading(lane)) }
  }

  /// Sends the output on a channel: at once as far as the socket has room, and the rest as soon as it has.
  func pump(_ lane: Frame.Lane, on node: isolated NearbyNode) {
    guard let socket = sockets[lane], !isWriting.contains(lane) else { return }
    while let octets = machine.output(on: lane) {
      let count = socket.writeNow(octets)
      guard count == octets.count else { return write(Array(octets.dropFirst(count)), to: socket, lane, on: node) }
    }
  }

  /// Waits until the socket has taken octets, one write at a time.
  private func write(_ octets: [UInt8], to socket: BlockingSocket, _ lane: Frame.Lane, on node: isolated NearbyNode) {
    isWriting.insert(lane)
    Task {
      let isOpen = await socket.write(octets)
      guard sockets[lane] === socket else { return }
      isWriting.remove(lane)
      if isOpen { pump(lane, on: node) }
      node.finish(self)
    }
  }
}
