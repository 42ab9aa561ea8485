import BledClient
import FrameworkSupport
import NearbySessions
import Noise

/// This program's peer with one service type: the node shared by its advertisers, browsers and sessions.
///
/// The node is made when it is first needed, and again when the daemon was started again.
actor LocalNode {
  struct Key: Hashable, Sendable {
    var peer: PeerIdentity
    var type: ServiceType
    var place: Place
  }

  private static let all = Guarded<[Key: WeakReference<LocalNode>]>([:])
  /// The keys of this program's peers, by identifier.
  private static let keyPairs = Guarded<[UInt64: X25519KeyPair]>([:])

  /// How often an invitation is sent whose link is lost.
  private static let attempts = 3

  let key: Key
  /// The wanted advertisement, applied by `reconcile`.
  private let wanted = Guarded(Wanted())
  /// The number of the applied one.
  private var applied = 0
  private var isReconciling = false
  /// The sessions to be reachable for members.
  private var reachers: Set<SessionEngine.Era> = []
  private var opened: (client: BledClient, node: NearbyNode)?
  private var opening: Task<Result<(client: BledClient, node: NearbyNode), BluetoothError>, Never>?
  private var watches: [Task<Void, Never>] = []
  /// The discovered peers.
  private var heard = HeardPeers()
  /// The attempts and connections being ended, by peer: the next invitation waits for them.
  private let ends = Guarded((last: 0, tasks: [UInt64: [Int: Task<Void, Never>]]()))

  private init(key: Key) { self.key = key }

  deinit {
    for watch in watches { watch.cancel() }
    if let opened {
      Task {
        await opened.node.stop()
        opened.client.close()
      }
    }
  }

  /// A peer's node, which lives as long as it is held.
  static func shared(_ peer: MCPeerID, _ type: ServiceType) -> LocalNode {
    let key = Key(peer: peer.identity, type: type, place: peer.place)
    return all.with { all in
      if let node = all[key]?.object { return node }
      all = all.filter { $0.value.object != nil }
      let node = LocalNode(key: key)
      all[key] = WeakReference(node)
      return node
    }
  }

  /// The node, connected with the daemon.
  func current() async throws(BluetoothError) -> NearbyNode {
    if let opened, opened.client.isConnected { return opened.node }
    let task = opening ?? Task { [key] in await Self.open(key) }
    opening = task
    let result = await task.value
    guard opening == task else { return try await current() }
    opening = nil
    adopt(try result.get())
    return try result.get().node
  }

  private static func open(_ key: Key) async -> Result<(client: BledClient, node: NearbyNode), BluetoothError> {
    do throws(BluetoothError) {
      let client = try await BledClient.connect(to: key.place.socket ?? BledClient.defaultSocketPath)
      var settings = NearbySettings(type: key.type, name: key.peer.name)
      settings.identifier = key.peer.identifier
      settings.adapter = key.place.adapter
      settings.clock = key.place.clock
      settings.key = keyPairs.with { pairs in
        let pair = pairs[key.peer.identifier] ?? settings.key
        pairs[key.peer.identifier] = pair
        return pair
      }
      return .success((client, try NearbyNode(client: client, settings: settings)))
    } catch {
      return .failure(error)
    }
  }

  private func adopt(_ new: (client: BledClient, node: NearbyNode)) {
    for watch in watches { watch.cancel() }
    if let former = opened { Task { await former.node.stop() } }
    opened = new
    applied = 0
    watches = [
      Task { [weak self] in
        for await invitation in new.node.invitations { await self?.invited(invitation) }
      },
      Task { [weak self] in
        // Ends with the connection to the daemon.
        do { for try await _ in new.client.notifications(AdapterChanged.self, buffering: .newest(1)) {} } catch {}
        guard !Task.isCancelled else { return }
        await self?.daemonEnded()
      },
    ]
  }

  private func daemonEnded() async {
    applied = 0
    await reconcile()
    if !reachers.isEmpty { try? await current().becomeReachable() }
  }

  // MARK: Invitations

  private func invited(_ invitation: NearbyInvitation) async {
    let peer = PeerIdentity(identifier: invitation.connection.identifier, name: invitation.connection.name)
    switch InvitationContext(invitation.context) {
    case nil: await invitation.answer(false)
    case .member(let token):
      guard let session = Memberships.session(of: key.peer.identifier, token),
        session.state.with({ $0.isMember(peer.identifier, invitation.connection.key, token) })
      else {
        await invitation.answer(false)
        return
      }
      session.join(invitation, from: peer, at: self, isAsked: false)
    case .program(let context):
      guard let advertiser = wanted[\.advertisement]?.advertiser.object else {
        await invitation.answer(false)
        return
      }
      advertiser.invited(invitation, peer, context, at: self)
    }
  }

  /// Invites a peer and waits until it has accepted. The end of the task ends the invitation.
  func invite(
    _ identifier: UInt64, _ context: InvitationContext, timeout: Duration
  ) async throws(BluetoothError) -> NearbyConnection {
    let elapsed = key.place.clock.stopwatch()
    var attempt = 1
    while true {
      let hasOpened = Guarded(false)
      do throws(BluetoothError) {
        let node = try await current()
        let peer = try await find(identifier, by: node, timeout: timeout)
        return try await node.invite(peer, context: context.encoded, timeout: timeout) { _ in
          hasOpened[\.self] = true
        }
      } catch {
        // Two peers that invite each other, or read each other's descriptions, can take a link away from each other.
        guard error.isLoss(hasOpened[\.self]), attempt < Self.attempts, elapsed() < timeout, !Task.isCancelled
        else { throw error }
        attempt += 1
        try? await Task.sleep(for: .milliseconds(250))
      }
    }
  }

  private func find(
    _ identifier: UInt64, by node: NearbyNode, timeout: Duration
  ) async throws(BluetoothError) -> FoundPeer {
    if let peer = heard[identifier] { return peer }
    let search = Task { () -> Result<FoundPeer, BluetoothError> in
      do throws(BluetoothError) {
        return .success(try await node.find(identifier))
      } catch {
        return .failure(error)
      }
    }
    let timer = Task { [clock = key.place.clock] in
      try await clock.sleep(for: timeout)
      search.cancel()
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
      await search.value
    } onCancel: {
      search.cancel()
    }
    return try result.get()
  }

  /// The work to end attempts and connections to a peer.
  nonisolated func endings(of identifier: UInt64) -> [Task<Void, Never>] {
    ends.with { $0.tasks[identifier].map { Array($0.values) } ?? [] }
  }

  /// Begins such work. Any thread.
  nonisolated func end(_ identifier: UInt64, _ work: @escaping @Sendable () async -> Void) {
    ends.with { ends in
      ends.last += 1
      ends.tasks[identifier, default: [:]][ends.last] = Task { [number = ends.last] in
        await work()
        self.ends.with { ends in
          ends.tasks[identifier]?[number] = nil
          if ends.tasks[identifier]?.isEmpty == true { ends.tasks[identifier] = nil }
        }
      }
    }
  }

  /// A browser has found a peer, or lost it.
  func changed(_ change: NearbyChange) { _ = heard.change(change) }

  // MARK: Advertising

  /// An advertiser's request.
  private struct Advertisement: Sendable {
    let advertiser: WeakReference<AdvertiserEngine>
    let information: [String: String]
  }

  private struct Wanted {
    /// Counts the changes.
    var number = 0
    var advertisement: Advertisement?

    mutating func change(to advertisement: Advertisement?) {
      number += 1
      self.advertisement = advertisement
    }
  }

  /// An advertiser starts, and replaces an earlier one.
  nonisolated func advertise(_ advertiser: AdvertiserEngine, _ information: [String: String]) {
    wanted.with {
      $0.change(to: Advertisement(advertiser: WeakReference(advertiser), information: information))
    }
    Task { await reconcile() }
  }

  /// The advertiser stops, unless another one has replaced it.
  nonisolated func stopAdvertising(_ advertiser: AdvertiserEngine) {
    wanted.with { wanted in
      if let present = wanted.advertisement?.advertiser.object, present !== advertiser { return }
      wanted.change(to: nil)
    }
    Task { await reconcile() }
  }

  private func reconcile() async {
    guard !isReconciling else { return }
    isReconciling = true
    defer { isReconciling = false }
    while case let (number, advertisement) = wanted.with({ ($0.number, $0.advertisement) }), number != applied {
      guard let advertisement else {
        await opened?.node.stopAdvertising()
        applied = number
        continue
      }
      do throws(BluetoothError) {
        try await current().advertise(advertisement.information)
        applied = number
        advertisement.advertiser.object?.started()
      } catch {
        guard let advertiser = advertisement.advertiser.object else { return }
        // A failure of an advertiser that never worked is reported; one that worked before waits for the daemon.
        if advertiser.failed(error) { wanted.with { if $0.number == number { $0.change(to: nil) } } }
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Accepts invitations from a session's members, even without a started advertiser.
  func becomeReachable(for era: SessionEngine.Era) async throws(BluetoothError) {
    reachers.insert(era)
    try await current().becomeReachable()
  }

  /// The session needs no further invitations, or has changed since it was disconnected.
  func becomeUnreachable(for era: SessionEngine.Era) async {
    guard reachers.remove(era) != nil, reachers.isEmpty else { return }
    await opened?.node.becomeUnreachable()
  }
}

extension BluetoothError {
  /// True if an invitation may have failed because of its link, and not for a permanent reason.
  /// - Parameter hasOpened: true if it has reached the peer, which may have declined it then.
  fileprivate func isLoss(_ hasOpened: Bool) -> Bool {
    switch domain {
    case .gap where code == GAPError.disconnected.rawValue: return true
    case .gap: return !hasOpened && [GAPError.notConnected, .connectionFailed].contains { $0.rawValue == code }
    // The peer's description was not there, or its channel was not opened.
    case .bled: return !hasOpened && code == BledError.unknownAttribute.rawValue
    case .att, .hci: return !hasOpened
    }
  }
}

/// A weak reference.
struct WeakReference<Object: AnyObject & Sendable>: Sendable {
  private(set) weak var object: Object?

  init(_ object: Object) { self.object = object }
}
