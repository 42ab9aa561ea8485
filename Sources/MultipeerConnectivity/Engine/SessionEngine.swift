import BledClient
import FrameworkSupport
import NearbySessions

/// The work behind a session: its peers and their links. The members of a session connect with each other by
/// themselves (`SessionEngine+Members`).
final class SessionEngine: @unchecked Sendable {
  /// The news for the program, on the session's queue.
  enum Event {
    case changed(PeerIdentity, MCSessionState)
    case data(Data, PeerIdentity)
    case stream(InputStream, name: String, PeerIdentity)
    case resourceStarted(String, Progress, PeerIdentity)
    case resourceFinished(String, Result<URL, NSError>, PeerIdentity)
    case certificate([Data]?, PeerIdentity, (Bool) -> Void)
  }

  /// A peer that was invited, or is connected.
  struct Entry {
    let peer: PeerIdentity
    var machine: PeerMachine
    var link: PeerLink?
    /// The invitations of this side that are under way.
    var attempts = 0
    /// The wait for an invitation of the peer, by its number.
    var wait: Int?
    /// The session that an invitation would be.
    var pending: NearbyConnection?
    /// The order in which peers were connected.
    var rank = 0
    /// The secret of its session, while it is connected.
    var token: GroupToken?

    /// Whether there is neither a connection nor an attempt.
    var isIdle: Bool { link == nil && attempts == 0 && wait == nil }
  }

  struct State {
    /// Entries of one peer follow each other: an event of a former one is of no effect.
    var entries: [UInt64: Entry] = [:]
    var lastRank = 0, lastWait = 0
    /// Counts the disconnections: attempts that were begun before one are ended.
    var era = 0
    /// The secret by which members of this session are known, beside those of its peers.
    var token = GroupToken()
    /// The peers whose connection the program has ended, by identifier, and their keys: members cannot bring them back.
    var cancelled: [UInt64: [UInt8]] = [:]
    /// The nodes at which this side is to be reached.
    var reachable: [LocalNode] = []
    /// The members that are being dialled.
    var dialing: Set<UInt64> = []
    var isClosed = false
  }

  /// A session between two disconnections.
  struct Era: Hashable, Sendable {
    let session: ObjectIdentifier
    let number: Int
  }

  /// The time for greetings and the judgement of the certificate.
  private static let opening = Duration.seconds(60)

  let own: PeerIdentity
  let encryption: MCEncryptionPreference
  private let certificates: [Data]?
  let state = Guarded(State())
  private let delivery = Delivery(to: DispatchQueue(label: "MCSession"))
  private let onEvent: (Event) -> Void

  init(
    _ own: PeerIdentity, _ encryption: MCEncryptionPreference, certificates: [Data]?,
    onEvent: @escaping (Event) -> Void
  ) {
    (self.own, self.encryption, self.certificates, self.onEvent) = (own, encryption, certificates, onEvent)
    renew()
  }

  /// The session is released.
  func close() {
    disconnect()
    state[\.isClosed] = true
    state.with { Memberships.remove($0.token, of: self) }
  }

  // MARK: The program

  /// The connected peers, in the order in which they were connected.
  var connected: [PeerIdentity] {
    state.with { $0.entries.values.filter(\.machine.isConnected) }.sorted { $0.rank < $1.rank }.map(\.peer)
  }

  func link(to identifier: UInt64) -> PeerLink? {
    state.with { state in state.entries[identifier].flatMap { $0.machine.isConnected ? $0.link : nil } }
  }

  /// Invites a peer.
  func invite(_ peer: PeerIdentity, _ context: InvitationContext, at local: LocalNode, timeout: Duration) {
    guard case let era? = begin(peer) else { return }
    state.with { $0.cancelled[peer.identifier] = nil }
    Task {
      do throws(BluetoothError) {
        let connection = try await local.invite(peer.identifier, context, timeout: timeout) { [weak self] opened in
          self?.pending(opened, peer, era)
        }
        attach(connection, peer, at: local, era, isOwn: true)
      } catch {
        failed(peer, era)
      }
    }
  }

  /// Accepts an invitation, also of a connected peer: it may have been started again. Its identifier is easily taken,
  /// so another key is declined as long as there is a link to the former peer.
  func join(_ invitation: NearbyInvitation, from peer: PeerIdentity, at local: LocalNode) {
    guard case let era? = begin(peer, evenIfConnected: true) else { return }
    Task {
      let former = state.with { $0.entries[peer.identifier]?.link?.connection }
      if let former, former.key != invitation.connection.key, await former.hasLink {
        await invitation.answer(false)
        return failed(peer, era)
      }
      guard await invitation.answer(true) else { return failed(peer, era) }
      attach(invitation.connection, peer, at: local, era, isOwn: true)
    }
  }

  /// Ends the connections to all peers, and all attempts.
  func disconnect() {
    let (nodes, era) = state.with { state in
      defer { state.reachable = [] }
      return (state.reachable, self.era(state))
    }
    for node in nodes { Task { await node.becomeUnreachable(for: era) } }
    let entries = state.with { state in
      state.era += 1
      let entries = state.entries
      for identifier in entries.keys { perform({ $0.ended() }, identifier, &state) }
      state.entries = [:]
      state.dialing = []
      state.cancelled = [:]
      return entries.values
    }
    for entry in entries { if let pending = entry.pending { Task { await pending.disconnect() } } }
    renew()
  }

  /// Ends the connection to one peer, or the attempts.
  func cancel(_ identifier: UInt64) {
    let entry = state.with { state in
      let entry = state.entries[identifier]
      if let connection = entry?.link?.connection ?? entry?.pending { state.cancelled[identifier] = connection.key }
      perform({ $0.ended() }, identifier, &state)
      state.entries[identifier] = nil
      return entry
    }
    if let pending = entry?.pending { Task { await pending.disconnect() } }
  }

  // MARK: Connections

  func machine(_ state: State) -> PeerMachine {
    PeerMachine(greeting: Greeting(encryption: encryption, certificates: certificates), token: state.token)
  }

  func era(_ state: State) -> Era { Era(session: ObjectIdentifier(self), number: state.era) }

  /// The connection to a peer is there. It takes the place of a former one: the peer's program was started again.
  /// - Parameter isOwn: whether `begin` was called for it.
  func attach(_ connection: NearbyConnection, _ peer: PeerIdentity, at local: LocalNode, _ era: Int, isOwn: Bool) {
    let link = PeerLink(connection, peer, at: local)
    let isWanted = state.with { state in
      guard state.era == era, !state.isClosed,
        isOwn ? state.entries[peer.identifier] != nil : state.cancelled[peer.identifier] == nil
      else { return false }
      let former = state.entries[peer.identifier]
      if former?.link != nil { perform({ $0.ended() }, peer.identifier, &state) }
      let machine = former.flatMap { $0.link == nil && !$0.machine.isOver ? $0.machine : nil }
      state.lastRank += 1
      state.entries[peer.identifier] = Entry(
        peer: peer, machine: machine ?? self.machine(state), link: link,
        attempts: max(0, (former?.attempts ?? 0) - (isOwn ? 1 : 0)), rank: state.lastRank)
      perform({ $0.opened() }, peer.identifier, &state)
      return true
    }
    guard isWanted else { return link.close() }
    link.start(self)
    Task { [weak self, weak link] in
      try? await Task.sleep(for: Self.opening)
      if let self, let link, !isConnected(link) { ended(link) }
    }
  }

  // MARK: Links

  func isConnected(_ link: PeerLink) -> Bool {
    state.with { state in
      state.entries[link.peer.identifier].map { $0.link === link && $0.machine.isConnected } ?? false
    }
  }

  func greeted(_ greeting: Greeting, _ link: PeerLink) { change(link) { $0.received(greeting) } }

  func ready(_ token: GroupToken, _ link: PeerLink) { change(link) { $0.receivedReady(token) } }

  /// A link has ended.
  func ended(_ link: PeerLink) {
    change(link) { $0.ended() }
    state.with { state in
      guard let entry = state.entries[link.peer.identifier], entry.link === link else { return }
      // Its end was told: the end of further attempts is not.
      state.entries[link.peer.identifier]?.link = nil
      endIfIdle(link.peer.identifier, &state)
    }
  }

  private func change(_ link: PeerLink, _ body: (inout PeerMachine) -> [PeerMachine.Action]) {
    let isNew = state.with { state in
      guard let entry = state.entries[link.peer.identifier], entry.link === link else { return false }
      perform(body, link.peer.identifier, &state)
      return !entry.machine.isConnected && state.entries[link.peer.identifier]?.machine.isConnected == true
    }
    if isNew { tellMembers() }
  }

  /// Changes a peer's machine, and carries out its actions, within the lock: so the program is told in this order.
  func perform(
    _ body: (inout PeerMachine) -> [PeerMachine.Action], _ identifier: UInt64, _ state: inout State
  ) {
    guard var entry = state.entries[identifier] else { return }
    let actions = body(&entry.machine)
    state.entries[identifier] = entry
    for action in actions {
      switch action {
      case .tell(let new): deliver(.changed(entry.peer, new))
      case .send(let message): _ = entry.link?.send(.message(message))
      case .know(let token): know(token, identifier, &state)
      case .close:
        entry.link?.close()
        forgetToken(of: identifier, &state)
      case .judge(let certificates):
        guard let link = entry.link else { break }
        deliver(
          .certificate(certificates, entry.peer) { [weak self, weak link] accepts in
            if let link { self?.change(link) { $0.judged(accepts) } }
          })
      }
    }
  }

  // MARK: News

  private func deliver(_ event: Event) {
    let event = Carried(event)
    delivery { [onEvent] in onEvent(event.value) }
  }

  /// Tells the program, and waits until it has heard.
  func tell(_ event: Event) async {
    let event = Carried(event)
    await withCheckedContinuation { continuation in
      delivery { [onEvent] in
        onEvent(event.value)
        continuation.resume()
      }
    }
  }

  /// Tells the program that a peer cannot be connected.
  func refuse(_ peer: PeerIdentity) { deliver(.changed(peer, .notConnected)) }

  /// Calls a handler of the program on the session's queue.
  func call(_ body: @escaping () -> Void) { delivery(body) }
}
