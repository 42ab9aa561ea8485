/// The reason for a session's end.
public enum NearbyEnd: Hashable, Sendable {
  /// This side ended it.
  case byUs
  /// Ended by the other side.
  case byPeer
  /// The invitation was not accepted.
  case declined
  /// The invitation was not answered in time.
  case timeout
  /// The link was lost and not restored in time.
  case linkLost
  /// The other side no longer knows the session: its program has restarted.
  case forgotten
  /// The peer itself began another session.
  case replaced
  /// The other side violated the protocol, as described in the text.
  case violation(String)

  /// The octet of "bye".
  var code: UInt8 {
    switch self {
    case .byUs, .byPeer, .linkLost, .forgotten, .violation: 0
    case .declined: 1
    case .timeout: 2
    case .replaced: 3
    }
  }

  /// The end reported by the other side.
  init(code: UInt8) {
    switch code {
    case 1: self = .declined
    case 2: self = .timeout
    case 3: self = .replaced
    default: self = .byPeer
    }
  }
}

extension NearbyEnd {
  /// The reason as a clause, for messages.
  public var text: String {
    switch self {
    case .byUs: "this side ended the session"
    case .byPeer: "the other side ended the session"
    case .declined: "the invitation was declined"
    case .timeout: "the invitation was not answered in time"
    case .linkLost: "the link was lost and did not come back"
    case .forgotten: "the other program was started again"
    case .replaced: "the other program began another session"
    case .violation(let text): "the other side sent \(text)"
    }
  }
}
