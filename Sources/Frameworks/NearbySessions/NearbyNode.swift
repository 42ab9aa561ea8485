import BledClient
import Noise

/// This program among the nearby programs: it advertises itself, discovers others, and has sessions with them.
///
/// A radio does not receive itself: two programs on one machine meet only with an adapter each.
public actor NearbyNode {
  /// Maximum simultaneously connected peers of a node: eight with itself.
  public static let peerLimit = 7
  /// The time for the other side to close the channels of a session ended here.
  private static let lingering = Duration.seconds(2)

  let client: BledClient
  let settings: NearbySettings
  /// The invitations not fetched by the program.
  let unfetched = InvitationQueue(limit: Handshakes.limit)
  private let elapsed: @Sendable () -> Duration

  var peers: [Int: PeerState] = [:]
  var lastNumber = 0
  var handshakes = Handshakes()
  /// Handshakes and invitations refused because too many were waiting.
  public internal(set) var refusals = 0
  private(set) lazy var advertiser = Advertiser(
    client: client, settings: settings, isSought: { [weak self] in await self?.isSought == true },
    take: { [weak self] in await self?.take($0) })
  let links: SharedLinks
  let opener: ChannelOpener
  let dialer: Dialer
  var lastScan = 0
  var inviting = OwnInvitations()
  private(set) var hasStopped = false
  /// The sessions with an awaited invitation: nothing else refers to them yet.
  var waiting: [Int: NearbyConnection] = [:]
  let waits = Waits<WaitingPlace>()

  /// - Throws: `BledError.invalidParameter` for oversized information.
  public init(client: BledClient, settings: NearbySettings) throws(BluetoothError) {
    try Self.check(settings.information)
    self.client = client
    self.settings = settings
    elapsed = settings.clock.stopwatch()
    links = SharedLinks(client: client, settings: settings)
    opener = ChannelOpener(links: links, settings: settings)
    dialer = Dialer(opener)
  }

  static func check(_ information: [String: String]) throws(BluetoothError) {
    guard PeerDescription.fits(information) else {
      throw BledError.invalidParameter.error(
        "the information of a peer is at most 400 octets long, and each of its pairs at most 254")
    }
  }

  deinit { unfetched.finish() }

  /// Invitations from others, for one reader at a time. An invitation that expires, or ends otherwise, leaves.
  public nonisolated var invitations: AsyncStream<NearbyInvitation> {
    AsyncStream(unfolding: { [unfetched] in await unfetched.next() })
  }

  /// The name shown to others.
  public nonisolated var name: String { settings.name }

  /// The sessions' time.
  var now: Instant { Instant.zero.advanced(by: elapsed()) }

  /// Ends all sessions, invitations, the advertisement and the listener, for good; in a cancelled task without waiting
  /// for it.
  public func stop() async {
    hasStopped = true
    dialer.stop()
    await Task.outcome { await self.endAll() }
  }

  private func endAll() async {
    await advertiser.close()
    for number in inviting.numbers { waits.wake(at: .crossing(number)) }
    await endSessions()
    await dialer.ended()
    await advertiser.withdraw()
    unfetched.finish()
  }

  /// Ends all sessions, and waits until the other sides know, or had the time to.
  private func endSessions() async {
    repeat {
      for number in peers.keys.sorted() { end(number, .byUs) }
      guard peers.values.contains(where: { !$0.sockets.isEmpty }) else { return }
      await waits.wait(at: .channels)
    } while true
  }

  /// Waits until a peer knows that its former session has ended here, or had time to: before that it would treat an
  /// invitation as crossing its own. Sessions that end later do not count: anyone can cause them.
  func formerEnds(of identifier: UInt64) async {
    let former = peers.filter { _, peer in
      peer.remote.identifier == identifier && peer.hasEnded && !peer.session.isDialer
    }.keys
    while !hasStopped, !Task.isCancelled, former.contains(where: { peers[$0]?.sockets.isEmpty == false }) {
      await waits.wait(at: .channels)
    }
  }

  /// True if a session's dialer may have to find this side again.
  private var isSought: Bool { peers.values.contains { !$0.session.isDialer && $0.session.isAlive } }

  // MARK: Events of sessions

  /// Handles the events from a session's machine, and sends its output.
  func perform(_ events: [PeerSession.Event], of number: Int) {
    for event in events { handle(event, of: number) }
    for lane in Frame.Lane.allCases { pump(lane, of: number) }
    watchDeadline(of: number)
    resumeSenders(of: number)
    finish(number)
  }

  private func handle(_ event: PeerSession.Event, of number: Int) {
    switch event {
    case .invited(let context, _): invited(context, number)
    case .connected: answered(nil, number)
    case .message(let message):
      peers[number]?.hasTransferred = true
      queue(.message(message), for: number)
    case .datagram(let octets): queue(.datagram(octets), for: number)
    case .flow(let event): handle(event, of: number)
    case .lost:
      closeSockets(of: number)
      queue(.lost, for: number)
      if peers[number]?.session.isDialer == true { Task { await redial(number) } }
    case .resumed: queue(.resumed, for: number)
    case .ended(let end):
      queue(.ended(end), for: number)
      answered(end, number)
      waiting[number] = nil
      unfetched.remove(number)
      peers[number]?.end = end
      resumeReaders(of: number)
      for flow in peers[number]?.flows.all ?? [] { closed(flow, .cancelled, of: number) }
      Task { await advertiser.update() }
    }
  }

  private func answered(_ end: NearbyEnd?, _ number: Int) {
    guard let waiter = peers[number]?.answerWaiter else { return }
    peers[number]?.answerWaiter = nil
    waiter.resume(returning: end)
  }

  func queue(_ event: QueuedEvent, for number: Int) {
    guard peers[number]?.hasEnded == false else { return }
    // The waiting call fetches it, or leaves it for the next one if it is cancelled meanwhile.
    peers[number]?.events.append(event)
    waits.wake(at: .event(number))
  }

  /// A session ended here stays until the other side, which is notified, closes the channels: an earlier end of the
  /// link would lose the notice. A peer that does not read has as much time as any other.
  func finish(_ number: Int) {
    guard let peer = peers[number], peer.hasEnded else { return }
    guard peer.session.tellsEnd, !peer.sockets.isEmpty else { return forget(number) }
    guard !peer.isLingering else { return }
    peers[number]?.isLingering = true
    Task {
      try? await Task.sleep(for: Self.lingering)
      forget(number)
    }
  }

  private func forget(_ number: Int) {
    guard let peer = peers[number], peer.hasEnded else { return }
    peer.timer?.cancel()
    closeSockets(of: number)
    // Its events may still be fetched.
    guard peer.events.isEmpty || peer.connection == nil else { return }
    peers[number] = nil
    waits.wake(at: .event(number))
    resumeSenders(of: number)
  }

  func closeSockets(of number: Int) {
    guard let peer = peers[number] else { return }
    for socket in peer.sockets.values { socket.close() }
    peers[number]?.sockets = [:]
    peers[number]?.isWriting = []
    resumeReaders(of: number)
    waits.wake(at: .channels)
    peers[number]?.link = nil
    if let device = peer.device {
      peers[number]?.device = nil
      Task { await links.release(device) }
    }
  }

  private func watchDeadline(of number: Int) {
    guard let peer = peers[number] else { return }
    peer.timer?.cancel()
    peers[number]?.timer = peer.session.deadline.map { deadline in
      let wait = now.duration(to: deadline)
      return Task { [weak self, clock = settings.clock] in
        try? await clock.sleep(for: max(.zero, wait))
        guard !Task.isCancelled else { return }
        await self?.pass(number)
      }
    }
  }

  private func pass(_ number: Int) { perform(peers[number]?.session.pass(to: now) ?? [], of: number) }
}
