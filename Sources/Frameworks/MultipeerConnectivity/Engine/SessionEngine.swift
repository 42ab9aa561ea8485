import BledClient
import FrameworkSupport
import NearbySessions

/// The work behind a session: its peers and their links. The members of a session connect with each other by themselves
/// (`SessionEngine+Members`).
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

  typealias State = SessionState

  /// A session between two disconnections.
  struct Era: Hashable, Sendable {
    let session: ObjectIdentifier
    let number: Int
  }

  /// The time for greetings and the certificate's validation.
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
    state.with { Memberships.add($0.token, of: self) }
  }

  /// The session is released.
  func close() {
    disconnect()
    state.with { state in
      state.isClosed = true
      Memberships.remove(state.token, of: self)
    }
  }

  // MARK: The program

  /// The connected peers, in the order of their connections.
  var connected: [PeerIdentity] {
    state.with { $0.entries.values.filter(\.machine.isConnected) }.sorted { $0.rank < $1.rank }.map(\.peer)
  }

  func link(to identifier: UInt64) -> PeerLink? {
    state.with { state in state.entries[identifier].flatMap { $0.machine.isConnected ? $0.link : nil } }
  }

  /// Invites a peer, once a former attempt or connection has ended.
  func invite(_ peer: PeerIdentity, _ context: InvitationContext, at local: LocalNode, timeout: Duration) {
    state.with { state in
      let begun = begin(peer, at: local, &state) { [self] attempt in
        do throws(BluetoothError) {
          let connection = try await local.invite(peer.identifier, context, timeout: timeout)
          await attach(connection, peer, at: local, .attempt(attempt))
        } catch {
          failed(peer, attempt)
        }
      }
      if begun { state.cancelled[peer.identifier] = nil }
    }
  }

  /// Accepts an invitation, also from a connected peer: it may have restarted. Its identifier is easily copied, so
  /// another key is declined while the former peer has a link.
  /// - Parameter isAsked: true if the program has accepted it.
  func join(_ invitation: NearbyInvitation, from peer: PeerIdentity, at local: LocalNode, isAsked: Bool) {
    state.with { state in
      let begun = begin(peer, at: local, evenIfConnected: true, &state) { [self] attempt in
        let former = self.state.with { $0.entries[peer.identifier]?.link?.connection }
        let isOther = if let former, former.key != invitation.connection.key { await former.hasLink } else { false }
        guard !isOther, !Task.isCancelled else {
          await invitation.answer(false)
          return failed(peer, attempt)
        }
        guard await invitation.answer(true) else { return failed(peer, attempt) }
        await attach(invitation.connection, peer, at: local, .attempt(attempt))
      }
      if begun, isAsked { state.cancelled[peer.identifier] = nil }
    }
  }

  /// Ends the connections to all peers, and all attempts.
  func disconnect() {
    let (nodes, era) = state.with { state in
      defer { state.reachable = [] }
      return (state.reachable, self.era(state))
    }
    for node in nodes { Task { await node.becomeUnreachable(for: era) } }
    state.with { state in
      state.era += 1
      for identifier in state.entries.keys { end(identifier, &state) }
      for (identifier, attempt) in state.dialing { attempt.end(identifier) }
      state.dialing = [:]
      state.cancelled = [:]
      renew(&state)
      for pass in state.passes.values { Memberships.remove(pass, of: self) }
      state.passes = [:]
    }
  }

  /// Ends the connection to one peer, or the attempts. The session's secret changes, as the peer knows it.
  func cancel(_ identifier: UInt64) {
    state.with { state in
      let connection = state.entries[identifier]?.link?.connection
      end(identifier, &state)
      guard let connection else { return }
      state.cancelled[identifier] = connection.key
      renew(&state)
      for (identifier, entry) in state.entries where entry.machine.isConnected { sendToken(identifier, &state) }
    }
  }

  private func end(_ identifier: UInt64, _ state: inout State) {
    perform({ $0.ended() }, identifier, &state)
    for attempt in (state.entries.removeValue(forKey: identifier)?.attempts ?? [:]).values { attempt.end(identifier) }
  }

  // MARK: Connections

  var machine: PeerMachine { PeerMachine(greeting: Greeting(encryption: encryption, certificates: certificates)) }

  func era(_ state: State) -> Era { Era(session: ObjectIdentifier(self), number: state.era) }

  /// The connection to a peer is established. It replaces a former one: the peer's program has restarted. A connection
  /// no longer wanted is ended.
  func attach(_ connection: NearbyConnection, _ peer: PeerIdentity, at local: LocalNode, _ origin: SessionState.Origin)
    async
  {
    let link = state.with { state -> PeerLink? in
      guard state.conclude(origin, of: peer.identifier), !state.isClosed else { return nil }
      let former = state.entries[peer.identifier]
      let link = PeerLink(connection, peer, at: local)
      if former?.link != nil { perform({ $0.ended() }, peer.identifier, &state) }
      let machine = former.flatMap { $0.link == nil && !$0.machine.isOver ? $0.machine : nil }
      state.lastRank += 1
      state.entries[peer.identifier] = SessionEntry(
        peer: peer, machine: machine ?? self.machine, link: link, attempts: former?.attempts ?? [:],
        rank: state.lastRank)
      perform({ $0.opened() }, peer.identifier, &state)
      return link
    }
    guard let link else { return await connection.disconnect() }
    link.start(self)
    Task { [weak self, weak link, clock = local.key.place.clock] in
      try? await clock.sleep(for: Self.opening)
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
      // Its end was reported: the end of further attempts is not.
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
    if isNew { sendMembers() }
  }

  /// Changes a peer's machine, and carries out its actions, within the lock: so reports to the program keep this order.
  func perform(
    _ body: (inout PeerMachine) -> [PeerMachine.Action], _ identifier: UInt64, _ state: inout State
  ) {
    guard var entry = state.entries[identifier] else { return }
    let actions = body(&entry.machine)
    state.entries[identifier] = entry
    for action in actions {
      switch action {
      case .tell(let new):
        // The secret may have changed since it was sent; a second "ready" is possible only now.
        if new == .connected, state.entries[identifier]?.told != state.token { sendToken(identifier, &state) }
        deliver(.changed(entry.peer, new))
      case .send(let message): entry.link?.send(message)
      case .sendReady: sendToken(identifier, &state)
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

  /// Reports to the program, and waits until that is done.
  func report(_ event: Event) async {
    let event = Carried(event)
    await withCheckedContinuation { continuation in
      delivery { [onEvent] in
        onEvent(event.value)
        continuation.resume()
      }
    }
  }

  /// Reports to the program that a peer cannot be connected.
  func refuse(_ peer: PeerIdentity) { deliver(.changed(peer, .notConnected)) }

  /// Calls a program's handler on the session's queue.
  func call(_ body: @escaping () -> Void) { delivery(body) }
}
