/// A session's peer, from the invitation to the end.
///
/// | State     | Input                | Effect                                                       |
/// |-----------|----------------------|--------------------------------------------------------------|
/// | invited   | opened               | reports "connecting"; a greeting is sent → greeting          |
/// | greeting  | greeting             | its certificate is to be judged; not if one side does without encryption and the other does not: → over |
/// | greeting  | judged: accepted     | "ready" is sent, with the own secret; connected, if "ready" has come |
/// | greeting  | judged: refused      | → over                                                       |
/// | greeting  | ready                | connected, if the certificate was accepted                   |
/// | connected | (begin)              | the secret of the other side's session is known; reports "connected" |
/// | connected | ready                | the secret has changed: the new one is known                 |
/// | any       | ended, anything else | reports "notConnected", once; closed → over                  |
/// | over      | anything             | nothing                                                      |
///
/// So "connecting" is reported before "connected", and each invited peer ends with exactly one "notConnected".
struct PeerMachine: Sendable {
  private enum State: Sendable {
    case invited
    /// With the secret in the other side's "ready", once received.
    case greeting(hasGreeting: Bool, ready: GroupToken?, isAccepted: Bool)
    case connected
    case over
  }

  /// An effect for the owner.
  enum Action: Hashable, Sendable {
    case tell(MCSessionState)
    case send(SessionMessage)
    /// "ready" is sent, with the present secret of this side's session.
    case sendReady
    /// The other side has sent its session's secret; it is known until `close`.
    case know(GroupToken)
    /// The program is to judge the certificate.
    case judge([Data]?)
    /// The connection is to be closed.
    case close
  }

  private let greeting: Greeting
  private var state = State.invited

  /// - Parameter greeting: this side's greeting.
  init(greeting: Greeting) { self.greeting = greeting }

  var isConnected: Bool { if case .connected = state { true } else { false } }
  var isOver: Bool { if case .over = state { true } else { false } }

  /// The invitation was accepted: there is a connection.
  mutating func opened() -> [Action] {
    guard case .invited = state else { return [] }
    state = .greeting(hasGreeting: false, ready: nil, isAccepted: false)
    return [.tell(.connecting), .send(.greeting(greeting))]
  }

  /// The other side's first message.
  mutating func received(_ other: Greeting) -> [Action] {
    guard case .greeting(false, let ready, let isAccepted) = state else { return ended() }
    guard greeting.isCompatible(with: other) else { return ended() }
    state = .greeting(hasGreeting: true, ready: ready, isAccepted: isAccepted)
    return [.judge(other.certificates)]
  }

  /// The program has judged the certificate.
  mutating func judged(_ accepts: Bool) -> [Action] {
    guard case .greeting(true, let ready, false) = state else { return [] }
    guard accepts else { return ended() }
    guard let ready else {
      state = .greeting(hasGreeting: true, ready: nil, isAccepted: true)
      return [.sendReady]
    }
    state = .connected
    return [.sendReady, .know(ready), .tell(.connected)]
  }

  /// The other side has accepted this one's certificate, or its secret has changed.
  mutating func receivedReady(_ other: GroupToken) -> [Action] {
    if case .connected = state { return [.know(other)] }
    guard case .greeting(true, nil, let isAccepted) = state else { return ended() }
    guard isAccepted else {
      state = .greeting(hasGreeting: true, ready: other, isAccepted: false)
      return []
    }
    state = .connected
    return [.know(other), .tell(.connected)]
  }

  /// The invitation failed, the connection has ended, or is to end.
  mutating func ended() -> [Action] {
    guard !isOver else { return [] }
    state = .over
    return [.tell(.notConnected), .close]
  }
}
