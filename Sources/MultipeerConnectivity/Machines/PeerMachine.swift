/// One peer of a session, from the invitation to the end.
///
/// | State     | Input                          | Effect                                                       |
/// |-----------|--------------------------------|--------------------------------------------------------------|
/// | invited   | opened                         | told "connecting"; a greeting is sent → greeting             |
/// | greeting  | greeting                       | its certificate is to be judged; not if one side does without encryption and the other does not: → over |
/// | greeting  | judged: accepted               | "ready" is sent; connected, if "ready" has come              |
/// | greeting  | judged: refused                | → over                                                       |
/// | greeting  | ready                          | connected, if the certificate was accepted                   |
/// | connected | (begin)                        | told "connected"                                             |
/// | any       | ended, anything else           | told "notConnected", once; closed → over                     |
/// | over      | anything                       | nothing                                                      |
///
/// So "connecting" is told before "connected", and each that was invited ends with exactly one "notConnected".
struct PeerMachine: Sendable {
  private enum State: Sendable {
    case invited
    case greeting(hasGreeting: Bool, isReady: Bool, isAccepted: Bool)
    case connected
    case over
  }

  /// An effect for the owner.
  enum Action: Hashable, Sendable {
    case tell(MCSessionState)
    case send(SessionMessage)
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
    state = .greeting(hasGreeting: false, isReady: false, isAccepted: false)
    return [.tell(.connecting), .send(.greeting(greeting))]
  }

  /// The other side's first message.
  mutating func received(_ other: Greeting) -> [Action] {
    guard case .greeting(false, let isReady, let isAccepted) = state else { return ended() }
    guard greeting.isCompatible(with: other) else { return ended() }
    state = .greeting(hasGreeting: true, isReady: isReady, isAccepted: isAccepted)
    return [.judge(other.certificates)]
  }

  /// The program has judged the certificate.
  mutating func judged(_ accepts: Bool) -> [Action] {
    guard case .greeting(true, let isReady, false) = state else { return [] }
    guard accepts else { return ended() }
    state = isReady ? .connected : .greeting(hasGreeting: true, isReady: false, isAccepted: true)
    return [.send(.ready)] + (isReady ? [.tell(.connected)] : [])
  }

  /// The other side has accepted this one's certificate.
  mutating func receivedReady() -> [Action] {
    guard case .greeting(true, false, let isAccepted) = state else { return ended() }
    state = isAccepted ? .connected : .greeting(hasGreeting: true, isReady: true, isAccepted: false)
    return isAccepted ? [.tell(.connected)] : []
  }

  /// The invitation failed, the connection has ended, or is to end.
  mutating func ended() -> [Action] {
    guard !isOver else { return [] }
    state = .over
    return [.tell(.notConnected), .close]
  }
}
