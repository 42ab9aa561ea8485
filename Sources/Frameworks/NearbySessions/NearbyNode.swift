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

  /// A place where calls wait until something has happened there, which each checks again.
  enum Place: Hashable {
    /// The peer's own invitation, instead of its answer to this side's one with that number.
    case crossing(Int)
    /// The end of channels, of any session.
    case channels
  }

  let client: BledClient
  let settings: NearbySettings
  /// The invitations not fetched by the program.
  let unfetched = InvitationQueue(limit: Handshakes.limit)
  private let elapsed: @Sendable () -> Duration

  private(set) var sessions: [Int: NearbySession] = [:]
  private var lastNumber = 0
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
  let waits = Waits<Place>()

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
      for number in sessions.keys.sorted() { end(number, .byUs) }
      guard sessions.values.contains(where: { !$0.sockets.isEmpty }) else { return }
      await waits.wait(at: .channels)
    } while true
  }

  /// Waits until a peer knows that its former session has ended here, or had time to: before that it would treat an
  /// invitation as crossing its own. Sessions that end later do not count: anyone can cause them.
  func formerEnds(of identifier: UInt64) async {
    let former = sessions.values.filter {
      $0.remote.identifier == identifier && $0.hasEnded && !$0.machine.isDialer
    }
    while !hasStopped, !Task.isCancelled, former.contains(where: { !$0.sockets.isEmpty }) {
      await waits.wait(at: .channels)
    }
  }

  // MARK: Sessions

  /// Adds a session whose control channel is open.
  func add(
    _ opened: ControlOpening.Opened, _ peripheral: String, isDialer: Bool, _ identifier: [UInt8]
  ) -> NearbySession {
    lastNumber += 1
    let remote = FoundPeer(
      identifier: opened.hello.identifier, name: opened.hello.name, information: [:], peripheral: peripheral)
    let machine = PeerSession(
      isDialer: isDialer, identifier: identifier, control: opened.stream, resumption: settings.resumption, at: now)
    let session = NearbySession(lastNumber, machine, remote, key: opened.remoteKey, code: opened.code)
    sessions[lastNumber] = session
    return session
  }

  func makeConnection(_ session: NearbySession) -> NearbyConnection {
    let connection = NearbyConnection(
      node: self, number: session.number, identifier: session.remote.identifier, name: session.remote.name,
      key: session.key, code: session.code)
    session.connection = connection
    return connection
  }

  /// The sessions connected, or about to return.
  var connectedCount: Int { sessions.values.count(where: \.isAlive) }

  /// True if a session's dialer may have to find this side again.
  private var isSought: Bool { sessions.values.contains { !$0.machine.isDialer && $0.isAlive } }

  func end(_ session: NearbySession, _ reason: NearbyEnd) {
    session.handle(on: self) { $0.end(reason, tellsOther: true) }
  }

  /// A session's time has passed.
  func pass(_ number: Int) { sessions[number]?.handle(on: self) { $0.pass(to: now) } }

  /// A session has ended.
  func ended(_ session: NearbySession) {
    unfetched.remove(session.number)
    inviting.withdrawn(session.number, by: session.remote.identifier)
    Task { await advertiser.update() }
  }

  /// A session ended here stays until the other side, which is notified, closes the channels: an earlier end of the
  /// link would lose the notice. A peer that does not read has as much time as any other.
  func finish(_ session: NearbySession) {
    guard session.hasEnded else { return }
    guard session.machine.tellsEnd, !session.sockets.isEmpty else { return forget(session) }
    guard !session.isLingering else { return }
    session.isLingering = true
    Task {
      try? await Task.sleep(for: Self.lingering)
      forget(session)
    }
  }

  private func forget(_ session: NearbySession) {
    session.close(on: self)
    // Its events may still be fetched.
    guard session.events.isEmpty || session.connection == nil else { return }
    sessions[session.number] = nil
  }
}
