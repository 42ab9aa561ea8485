import BledClient
import Noise

/// This program among the programs that are near: it advertises itself, hears others, and has sessions with them.
///
/// A radio does not hear itself: two programs on one machine meet only if each has an adapter of its own.
public actor NearbyNode {
  /// The peers that a node may be connected with at a time: eight with itself.
  public static let peerLimit = 7
  /// The handshakes and unanswered invitations of others at a time.
  static let pendingLimit = 16
  /// The same of one device, so that none can keep all others out.
  static let pendingDeviceLimit = 4
  /// How long the other side has to close the channels of a session that was ended here.
  private static let lingering = Duration.seconds(2)
  /// How long the reading of a description may take, however many services a device has: others wait for it.
  static let readingLimit = Duration.seconds(15)
  /// How long a device may take to be connected.
  static let connectingLimit = Duration.seconds(10)
  /// How long a connection may take, all attempts and the handshake included, and the opening of each channel.
  static let dialingLimit = Duration.seconds(30)

  let client: BledClient
  let settings: NearbySettings
  /// The invitations that the program has not fetched.
  let unfetched = InvitationQueue(limit: NearbyNode.pendingLimit)
  private let elapsed: @Sendable () -> Duration

  var peers: [Int: PeerState] = [:]
  var lastNumber = 0
  /// The channels of others whose handshakes are under way, by device.
  var pending: [String: Int] = [:]
  /// The handshakes and invitations of others that were refused since as many were waiting as may.
  public internal(set) var refusals = 0
  /// The listener, the service and the advertisement, once there are some.
  var listening: L2CAPPublish.Result?
  var service: UInt16?
  var advertisement: Int?
  /// The service data that is advertised.
  var advertised: [UInt8] = []
  var isVisible: Bool { visibility.isWanted }
  /// Whether peers that know the identifier may invite this one, also while it is not visible.
  var isReachable: Bool { reachability.isWanted }
  var visibility = Acceptance(), reachability = Acceptance()
  var lastAcceptance = 0
  /// The texts of the description.
  var information: [String: String]
  /// The texts of the last call that was not cancelled.
  var settledInformation: [String: String]
  /// The calls whose texts are not in the description yet, and the one whose texts are.
  var describing: Set<Int> = [], lastDescriber: Int?
  var revision: UInt8 = .random(in: 0...255)
  var listener: Task<Void, Never>?
  /// The connections to devices.
  var links: [String: DeviceLink] = [:]
  /// The changes of the channel, the description and the advertisement: of two at once one would stay on the air.
  let advertisingTurns = Turns()
  var lastScan = 0
  /// The reading of descriptions: the first of a device, and those after one that failed.
  let lookTurns = Turns(), retryTurns = Turns()
  /// The invitations of this side, by the identifier of the peer.
  var inviting: [UInt64: OwnInvitation] = [:]
  var lastInvitation = 0
  /// The dials that are under way.
  var dials: [Int: Task<Result<Dialed, BluetoothError>, Never>] = [:]
  var lastDial = 0
  private(set) var hasStopped = false
  /// The sessions whose invitation is awaited: nothing else refers to them yet.
  var waiting: [Int: NearbyConnection] = [:]
  /// The waits of calls, each with its number.
  var waits: [WaitingPlace: [Int: CheckedContinuation<Void, Never>]] = [:]
  var lastWait = 0

  /// - Throws: `BledError.invalidParameter` for information that is too long.
  public init(client: BledClient, settings: NearbySettings) throws(BluetoothError) {
    try Self.check(settings.information)
    self.client = client
    self.settings = settings
    elapsed = settings.clock.stopwatch()
    information = settings.information
    settledInformation = settings.information
  }

  static func check(_ information: [String: String]) throws(BluetoothError) {
    guard PeerDescription.fits(information) else {
      throw BledError.invalidParameter.error(
        "the information of a peer is at most 400 octets long, and each of its pairs at most 254")
    }
  }

  deinit { unfetched.finish() }

  /// The invitations of others, for one reader at a time. One that has timed out, or ended otherwise, leaves.
  public nonisolated var invitations: AsyncStream<NearbyInvitation> {
    AsyncStream(unfolding: { [unfetched] in await unfetched.next() })
  }

  /// The name that others see.
  public nonisolated var name: String { settings.name }

  /// The time of the sessions.
  var now: Instant { Instant.zero.advanced(by: elapsed()) }

  /// Ends all sessions, invitations, the advertisement and the listener, for good; in a task that is cancelled without
  /// waiting for it.
  public func stop() async {
    (visibility, reachability) = (Acceptance(), Acceptance())
    hasStopped = true
    await Self.outcome { await self.endAll() }
  }

  private func endAll() async {
    for dial in dials.values { dial.cancel() }
    for (identifier, own) in inviting { wakeCrossing(identifier, own.number) }
    await endSessions()
    for dial in dials.values { _ = await dial.value }
    await advertisingTurns.begin()
    defer { advertisingTurns.end() }
    listener?.cancel()
    listener = nil
    if let advertisement { try? await client.stopAdvertising(advertisement) }
    if let service { try? await client.unpublish(service) }
    if let listening { try? await client.unpublishL2CAPChannel(listening.psm, adapter: listening.adapter) }
    (advertisement, service, listening) = (nil, nil, nil)
    unfetched.finish()
  }

  /// Ends all sessions, and waits until the other sides know, or had the time to.
  private func endSessions() async {
    repeat {
      for number in peers.keys.sorted() { end(number, .byUs) }
      guard peers.values.contains(where: { !$0.sockets.isEmpty }) else { return }
      await wait(at: .channels)
    } while true
  }

  /// Waits until a peer knows that its former session has ended here, or had the time to: it takes an invitation before
  /// that for one that crosses its own. Sessions that end later do not count: anyone can bring those about.
  func formerEnds(of identifier: UInt64) async {
    let former = peers.filter { _, peer in
      peer.remote.identifier == identifier && peer.hasEnded && !peer.session.isDialer
    }.keys
    while !hasStopped, !Task.isCancelled, former.contains(where: { peers[$0]?.sockets.isEmpty == false }) {
      await wait(at: .channels)
    }
  }

  // MARK: Events of sessions

  /// Handles the events of a session's machine, and sends its output.
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
      for flow in (peers[number]?.flows ?? [:]).keys { closed(flow, .cancelled, of: number) }
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
    if let waiter = peers[number]?.eventWaiter {
      peers[number]?.eventWaiter = nil
      waiter.continuation.resume(returning: true)
    }
  }

  /// A session that has ended here stays until the other side, which is told so, closes the channels: an earlier end of
  /// the link would take the news with it. One that does not read has as much time as any other.
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
    peer.eventWaiter?.continuation.resume(returning: false)
    resumeSenders(of: number)
    peers[number] = nil
    Task { await updateAdvertising() }
  }

  func closeSockets(of number: Int) {
    guard let peer = peers[number] else { return }
    for socket in peer.sockets.values { socket.close() }
    peers[number]?.sockets = [:]
    peers[number]?.isWriting = []
    resumeReaders(of: number)
    wake(at: .channels)
    peers[number]?.link = nil
    if let device = peer.device {
      peers[number]?.device = nil
      Task { await release(device) }
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
