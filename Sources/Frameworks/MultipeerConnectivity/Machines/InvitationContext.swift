/// The context of an invitation between nearby sessions (docs/multipeer.md).
enum InvitationContext: Hashable, Sendable {
  /// The program's own octets, if it has given some.
  case program(Data?)
  /// An invitation among members of one session.
  case member(GroupToken)

  /// The longest context from a program.
  static let longest = (1 << 16) - 1

  var encoded: [UInt8] {
    switch self {
    case .program(nil): [0]
    case .program(let context?): [1] + context
    case .member(let token): [2] + token.octets
    }
  }

  /// - Returns: nil if malformed.
  init?(_ octets: [UInt8]) {
    let rest = octets.dropFirst()
    switch octets.first {
    // No octet: a program without this module.
    case nil, 0: self = .program(nil)
    case 1: self = .program(Data(rest))
    case 2:
      guard let token = GroupToken(rest) else { return nil }
      self = .member(token)
    default: return nil
    }
  }
}

/// The data for connecting programs that have found each other by other means.
struct ConnectionData: Hashable, Sendable {
  private static let version: UInt8 = 1

  var identifier: UInt64
  var token: GroupToken

  var encoded: Data { Data([Self.version] + identifier.octets + token.octets) }

  init(identifier: UInt64, token: GroupToken) { (self.identifier, self.token) = (identifier, token) }

  /// - Returns: nil for data of another kind.
  init?(_ data: Data) {
    let octets = Array(data)
    guard octets.count == 9 + GroupToken.length, octets.first == Self.version,
      let token = GroupToken(octets.dropFirst(9))
    else { return nil }
    self.init(identifier: UInt64(octets[1..<9]), token: token)
  }
}
