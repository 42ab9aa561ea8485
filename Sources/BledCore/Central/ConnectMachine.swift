import Bluetooth

/// One device that sessions connect to together: the first brings the link up, the last lets it go.
///
/// | State       | Input                     | Actions, next state                                              |
/// |-------------|---------------------------|------------------------------------------------------------------|
/// | idle        | want                      | connect → connecting                                             |
/// | connecting  | link up                   | negotiate (the MTU) → negotiating                                |
/// | connecting  | failed (adapter gone …)   | refuse all, cancel → idle                                        |
/// | negotiating | negotiated                | answer all, who now use it → connected                           |
/// | negotiating | link down                 | connect → connecting; after `maximumRetries` refuse all → idle   |
/// | connected   | want                      | answer                                                           |
/// | connected   | link down                 | tell each that uses it → idle                                    |
/// | ending      | link down                 | → idle; connect → connecting if somebody wants it again          |
/// | idle        | link up, from the other side | → linked: nothing is sent on it until somebody wants it       |
/// | linked      | want                      | negotiate → negotiating                                          |
/// | any         | release, expired          | refuse or tell that one; the last one: cancel, or disconnect → ending (linked, if the other side started it) |
struct ConnectMachine<Who: Hashable, Request: Hashable> {
  enum State: Hashable { case idle, connecting, negotiating, connected, linked, ending }

  enum Action {
    case connect
    case cancelConnect
    case negotiate
    case disconnect
    case answer(Request, BluetoothError?)
    /// The reason is nil for one who asked for it.
    case tellDisconnected(Who, BluetoothError?)
  }

  /// How often a link that drops before it could be used is tried again.
  static var maximumRetries: Int { 5 }

  private(set) var state = State.idle
  /// Those who use the link, in the order in which they came.
  private(set) var users: [Who] = []
  private var waiting: [(who: Who, request: Request)] = []
  private var isOurs = true
  private var retries = 0

  /// Those who wait for the link.
  var waiters: [Who] { waiting.map(\.who) }

  /// Whether this one waits for the link.
  func isWaiting(_ who: Who) -> Bool { waiting.contains { $0.who == who } }

  /// What this one waits with.
  func requests(of who: Who) -> [Request] { waiting.filter { $0.who == who }.map(\.request) }

  mutating func want(_ who: Who, _ request: Request) -> [Action] {
    switch state {
    case .connected:
      if !users.contains(who) { users.append(who) }
      return [.answer(request, nil)]
    case .idle:
      waiting.append((who, request))
      state = .connecting
      retries = 0
      return [.connect]
    case .linked:
      waiting.append((who, request))
      state = .negotiating
      return [.negotiate]
    case .connecting, .negotiating, .ending:
      waiting.append((who, request))
      return []
    }
  }

  mutating func release(_ who: Who) -> [Action] {
    let cancelled = GAPError.cancelled.error("the wish to connect was taken back")
    var actions = waiting.filter { $0.who == who }.map { Action.answer($0.request, cancelled) }
    waiting.removeAll { $0.who == who }
    if users.contains(who) {
      users.removeAll { $0 == who }
      actions.append(.tellDisconnected(who, nil))
    }
    return actions + letGo()
  }

  /// The time of a request is up.
  mutating func expired(_ request: Request, _ error: BluetoothError) -> [Action] {
    guard let index = waiting.firstIndex(where: { $0.request == request }) else { return [] }
    waiting.remove(at: index)
    return [.answer(request, error)] + letGo()
  }

  /// A link is there.
  /// - Parameter isOurs: whether we started it.
  mutating func linkUp(isOurs: Bool) -> [Action] {
    self.isOurs = isOurs
    var actions: [Action] = []
    if state == .connecting, !isOurs { actions.append(.cancelConnect) }
    if !waiting.isEmpty {
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

  /// The MTU is known.
  mutating func negotiated() -> [Action] {
    guard state == .negotiating else { return [] }
    state = .connected
    let ready = waiting
    waiting = []
    for (who, _) in ready where !users.contains(who) { users.append(who) }
    return ready.map { .answer($0.request, nil) }
  }

  /// The link is no more.
  mutating func linkDown(_ reason: BluetoothError) -> [Action] {
    let told = users.map { Action.tellDisconnected($0, reason) }
    users = []
    guard !waiting.isEmpty else {
      state = .idle
      return told
    }
    if state == .negotiating {
      retries += 1
      if retries > Self.maximumRetries {
        return told + refuseAll(GAPError.connectionFailed.error("the link dropped before it could be used: \(reason)"))
      }
    }
    state = .connecting
    return told + [.connect]
  }

  /// No connection can come about.
  mutating func failed(_ error: BluetoothError) -> [Action] {
    switch state {
    case .connecting: refuseAll(error) + [.cancelConnect]
    case .ending: refuseWaiting(error)
    case .idle, .negotiating, .connected, .linked: []
    }
  }

  private mutating func refuseAll(_ error: BluetoothError) -> [Action] {
    state = .idle
    return refuseWaiting(error)
  }

  private mutating func refuseWaiting(_ error: BluetoothError) -> [Action] {
    let refused = waiting.map { Action.answer($0.request, error) }
    waiting = []
    return refused
  }

  /// After somebody left: ends what nobody wants any more.
  private mutating func letGo() -> [Action] {
    guard waiting.isEmpty, users.isEmpty else { return [] }
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
