/// This side's pending invitations. The peer may invite at the same time; an identifier is easily copied, so the key
/// shows if it is the invited peer.
///
/// | Input              | Effect                                                                                   |
/// |--------------------|------------------------------------------------------------------------------------------|
/// | begin              | pending                                                                                  |
/// | received           | no invitation to that identifier, or another key: offered; key unknown: held; same: crossing |
/// | opened(key)        | the key is known; the held ones are to be received again                                 |
/// | cross(connection)  | the peer's invitation takes the place of this side's                                     |
/// | withdrawn          | a held one whose session has ended is forgotten, with its context                        |
/// | end                | over; the held ones are to be offered                                                    |
struct OwnInvitations {
  /// A peer's invitation, by the number of its session.
  typealias Held = (number: Int, context: [UInt8])

  /// The treatment of a peer's invitation.
  enum Treatment {
    case offered
    case held
    case crossing
  }

  private struct Invitation {
    /// Distinguishes it from an earlier one to the same peer.
    let number: Int
    /// The number of its session and the peer's key, once a channel to it is open.
    var session: (number: Int, key: [UInt8])?
    /// The invitations from that identifier that wait for the key.
    var held: [Held] = []
    /// The peer's own invitation, which replaced this one.
    var crossed: NearbyConnection?
  }

  private var invitations: [UInt64: Invitation] = [:]
  private var last = 0

  var count: Int { invitations.count }
  var numbers: [Int] { invitations.values.map(\.number) }

  func number(to identifier: UInt64) -> Int? { invitations[identifier]?.number }

  /// The number of the session with the invited peer, once a channel to it is open.
  func session(with identifier: UInt64) -> Int? { invitations[identifier]?.session?.number }

  /// The peer's own invitation, if it replaced this side's.
  func crossed(by identifier: UInt64) -> NearbyConnection? { invitations[identifier]?.crossed }

  mutating func begin(_ identifier: UInt64) {
    last += 1
    invitations[identifier] = Invitation(number: last)
  }

  mutating func received(_ held: Held, from identifier: UInt64, _ key: [UInt8]) -> Treatment {
    guard let own = invitations[identifier] else { return .offered }
    guard let session = own.session else {
      invitations[identifier]?.held.append(held)
      return .held
    }
    return session.key == key ? .crossing : .offered
  }

  mutating func withdrawn(_ number: Int, by identifier: UInt64) {
    invitations[identifier]?.held.removeAll { $0.number == number }
  }

  mutating func opened(_ identifier: UInt64, _ number: Int, _ key: [UInt8]) -> [Held] {
    invitations[identifier]?.session = (number, key)
    defer { invitations[identifier]?.held = [] }
    return invitations[identifier]?.held ?? []
  }

  mutating func cross(_ identifier: UInt64, _ connection: NearbyConnection) {
    invitations[identifier]?.crossed = connection
  }

  mutating func end(_ identifier: UInt64) -> [Held] { invitations.removeValue(forKey: identifier)?.held ?? [] }
}
