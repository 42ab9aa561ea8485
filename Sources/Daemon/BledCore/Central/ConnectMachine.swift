import Bluetooth

/// A device shared by sessions: the first brings the link up, the last ends it.
///
/// | State       | Input                     | Actions, next state                                              |
/// |-------------|---------------------------|------------------------------------------------------------------|
/// | idle        | want                      | connect → connecting                                             |
/// | connecting  | link up                   | negotiate (`LinkUp`) → negotiating                               |
/// | connecting  | failed (adapter gone …)   | refuse all, cancel → idle                                        |
/// | negotiating | negotiated                | answer all, which now use it → connected                         |
/// | negotiating | link down                 | connect → connecting; after `maximumRetries` refuse all → idle   |
/// | negotiating | unusable                  | refuse all, disconnect → ending (linked, if the other side started it); persistent ones wait on |
/// | negotiating | it was never there (0x3E) | connect, after a pause of at most 1 s → connecting               |
/// | connected   | it was never there (0x3E) | notify each user; for persistent ones as above                   |
/// | connected   | want                      | answer                                                           |
/// | connected   | link down                 | notify each user → idle; for persistent ones connect → connecting |
/// | ending      | link down                 | → idle; connect → connecting if it is wanted again               |
/// | idle        | link up, from the other side | → linked: nothing is sent on it until it is wanted               |
/// | linked      | want; secured, and wanted | negotiate → negotiating                                          |
/// | negotiating | negotiated                | persistent ones are notified that it is back                     |
/// | any         | rejoin                    | as want, without an answer: notified when the link is established; no failure ends it |
/// | any         | refused                   | refuse all, notify each that uses it or waits without a call: cancel, or disconnect, in either role → ending |
/// | any         | release, expired          | refuse or notify that one; the last one: cancel, or disconnect → ending (linked, if the other side started it) |
struct ConnectMachine<Who: Hashable, Request: Hashable> {
  enum State: Hashable { case idle, connecting, negotiating, connected, linked, ending }

  enum Action {
    /// With a delay after unstable links.
    case connect(after: Duration)
    case cancelConnect
    case negotiate
    case disconnect
    case answer(Request, BluetoothError?)
    /// The reason is nil for a session that requested it.
    case tellDisconnected(Who, BluetoothError?, isReconnecting: Bool)
    /// A session that waits without a call stops waiting.
    case tellFailed(Who, BluetoothError)
    /// The link is back for a session that keeps it.
    case tellConnected(Who)
  }

  /// Maximum retries for a link that drops before it could be used.
  static var maximumRetries: Int { 5 }

  private(set) var state = State.idle
  /// The sessions that use the link, oldest first.
  private(set) var users: [Who] = []
  /// The sessions whose link is reestablished whenever it drops.
  private(set) var persistent: Set<Who> = []
  private var waiting: [(who: Who, request: Request)] = []
  /// The sessions waiting for the link without a call: persistent ones after their link dropped, those of `rejoin`.
  private var rejoining: [Who] = []
  private var isOurs = true
  private var backOff = LinkBackOff()
  /// Consecutive links that were never established.
  private var noLinks = 0

  /// The sessions waiting for the link.
  var waiters: [Who] { waiting.map(\.who) + rejoining }

  func isWaiting(_ who: Who) -> Bool { rejoining.contains(who) || waiting.contains { $0.who == who } }

  /// How this session waits.
  func requests(of who: Who) -> [Request] { waiting.filter { $0.who == who }.map(\.request) }

  /// - Parameter persists: true to reestablish a dropped link from now on.
  mutating func want(_ who: Who, _ request: Request, persists: Bool = false) -> [Action] {
    if persists { persistent.insert(who) } else { persistent.remove(who) }
    let isBackingOff = backOff.failures > 0 || noLinks > 0
    // Retries for persistent sessions do not count against a new request.
    if waiting.isEmpty, state != .connected { (backOff, noLinks) = (LinkBackOff(), 0) }
    switch state {
    case .connected:
      if !users.contains(who) { users.append(who) }
      return [.answer(request, nil)]
    case .idle:
      waiting.append((who, request))
      state = .connecting
      return [.connect(after: .zero)]
    case .linked:
      waiting.append((who, request))
      state = .negotiating
      return [.negotiate]
    case .connecting:
      waiting.append((who, request))
      rejoining.removeAll { $0 == who }
      // A new request does not wait for the back-off of persistent sessions.
      return isBackingOff ? [.connect(after: .zero)] : []
    case .negotiating, .ending:
      waiting.append((who, request))
      rejoining.removeAll { $0 == who }
      return []
    }
  }

  /// A preserved session wants the link, and waits for it through all failures.
  /// - Parameter persists: true to reestablish a link that drops later.
  mutating func rejoin(_ who: Who, persists: Bool) -> [Action] {
    if persists { persistent.insert(who) }
    guard !users.contains(who), !isWaiting(who) else { return [] }
    switch state {
    case .connected:
      users.append(who)
      return [.tellConnected(who)]
    case .idle:
      rejoining.append(who)
      state = .connecting
      (backOff, noLinks) = (LinkBackOff(), 0)
      return [.connect(after: .zero)]
    case .linked:
      rejoining.append(who)
      state = .negotiating
      return [.negotiate]
    case .connecting, .negotiating, .ending:
      rejoining.append(who)
      return []
    }
  }

  mutating func release(_ who: Who) -> [Action] {
    let cancelled = GAPError.cancelled.error("the connection request was cancelled")
    var actions = waiting.filter { $0.who == who }.map { Action.answer($0.request, cancelled) }
    waiting.removeAll { $0.who == who }
    rejoining.removeAll { $0 == who }
    persistent.remove(who)
    if users.contains(who) {
      users.removeAll { $0 == who }
      actions.append(.tellDisconnected(who, nil, isReconnecting: false))
    }
    return actions + letGo()
  }

  /// A request has timed out.
  mutating func expired(_ request: Request, _ error: BluetoothError) -> [Action] {
    guard let index = waiting.firstIndex(where: { $0.request == request }) else { return [] }
    waiting.remove(at: index)
    return [.answer(request, error)] + letGo()
  }

  /// A link was established.
  /// - Parameter isOurs: true if we initiated it.
  mutating func linkUp(isOurs: Bool) -> [Action] {
    self.isOurs = isOurs
    var actions: [Action] = []
    if state == .connecting, !isOurs { actions.append(.cancelConnect) }
    if isWanted {
      state = .negotiating
      actions.append(.negotiate)
    } else if isOurs {
      state = .ending
      actions.append(.disconnect)
    } else {
      state = .linked
    }
    return actions
  }

  /// The link can be used.
  mutating func negotiated(at now: Instant) -> [Action] {
    guard state == .negotiating else { return [] }
    state = .connected
    backOff.began = now
    let (ready, back) = (waiting, rejoining)
    (waiting, rejoining) = ([], [])
    for who in ready.map(\.who) + back where !users.contains(who) { users.append(who) }
    return ready.map { .answer($0.request, nil) } + back.map { .tellConnected($0) }
  }

  /// Neither this link nor an immediate next one is usable. Sessions that keep the link continue to wait.
  mutating func unusable(_ error: BluetoothError, at now: Instant) -> [Action] {
    guard state == .negotiating else { return [] }
    state = isOurs ? .ending : .linked
    backOff.fail(at: now)
    return refuseWaiting(error) + (isOurs ? [.disconnect] : [])
  }

  /// The link is protected by the keys of its bond, perhaps only now.
  mutating func secured() -> [Action] {
    guard state == .linked, isWanted else { return [] }
    state = .negotiating
    return [.negotiate]
  }

  /// The link has ended.
  mutating func linkDown(_ reason: BluetoothError, at now: Instant) -> [Action] {
    var actions: [Action] = []
    for who in users {
      let persists = persistent.contains(who)
      if persists, !isWaiting(who) { rejoining.append(who) }
      actions.append(.tellDisconnected(who, reason, isReconnecting: persists))
    }
    users = []
    guard isWanted else {
      state = .idle
      return actions
    }
    var pause = Duration.zero
    switch state {
    // The device did not receive our packets: the next time it may. A device that never does must not keep the radio
    // busy.
    case .negotiating where reason.isOfNoLink, .connected where reason.isOfNoLink:
      noLinks += 1
      pause = noLinks < 2 ? .zero : .milliseconds(250 << min(noLinks - 2, 2))
    case .negotiating, .connected:
      noLinks = 0
      backOff.fail(at: now)
    case .idle, .connecting, .linked, .ending: break
    }
    if state == .negotiating, backOff.failures > Self.maximumRetries {
      actions += refuseWaiting(GAPError.connectionFailed.error("the link dropped before it could be used: \(reason)"))
      guard isWanted else {
        state = .idle
        return actions
      }
    }
    let isAsked = !waiting.isEmpty
    state = .connecting
    return actions + [.connect(after: max(pause, isAsked ? .zero : backOff.delay))]
  }

  /// No connection is possible. Sessions that keep the link continue to wait.
  mutating func failed(_ error: BluetoothError) -> [Action] {
    switch state {
    case .connecting:
      let refused = refuseWaiting(error)
      guard !isWanted else { return refused }
      state = .idle
      return refused + [.cancelConnect]
    case .ending: return refuseWaiting(error)
    case .idle, .negotiating, .connected, .linked: return []
    }
  }

  /// Connections are no longer permitted.
  mutating func refused(_ error: BluetoothError) -> [Action] {
    var actions = refuseWaiting(error) + rejoining.map { .tellFailed($0, error) }
    actions += users.map { .tellDisconnected($0, error, isReconnecting: false) }
    (users, rejoining, persistent) = ([], [], [])
    switch state {
    case .connecting:
      state = .idle
      actions.append(.cancelConnect)
    case .negotiating, .connected, .linked:
      state = .ending
      actions.append(.disconnect)
    case .idle, .ending: break
    }
    return actions
  }

  private var isWanted: Bool { !waiting.isEmpty || !rejoining.isEmpty }

  private mutating func refuseWaiting(_ error: BluetoothError) -> [Action] {
    let refused = waiting.map { Action.answer($0.request, error) }
    waiting = []
    return refused
  }

  /// After a session left: ends unwanted links and attempts.
  private mutating func letGo() -> [Action] {
    guard !isWanted, users.isEmpty else { return [] }
    switch state {
    case .connecting:
      state = .idle
      return [.cancelConnect]
    case .negotiating, .connected:
      state = isOurs ? .ending : .linked
      return isOurs ? [.disconnect] : []
    case .idle, .linked, .ending:
      return []
    }
  }
}

extension BluetoothError {
  /// True if the device never answered on the link (Connection Failed to be Established).
  var isOfNoLink: Bool { domain == .hci && code == 0x3E }
}

/// The delay before requesting a link that drops repeatedly: none the first time, then 250 ms, doubled each time up to
/// 30 s.
private struct LinkBackOff {
  /// A link in use for this long counts as stable.
  private static let lasting = Duration.seconds(10)

  /// The beginning of the link's use.
  var began: Instant?
  /// Consecutive unstable links.
  private(set) var failures = 0

  var delay: Duration { failures < 2 ? .zero : min(.milliseconds(250 << min(failures - 2, 7)), .seconds(30)) }

  mutating func fail(at now: Instant) {
    if let began, began.duration(to: now) >= Self.lasting { failures = 0 }
    began = nil
    failures += 1
  }
}
