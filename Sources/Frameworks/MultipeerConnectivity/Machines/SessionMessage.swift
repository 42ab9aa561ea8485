/// The messages of sessions over nearby sessions (docs/multipeer.md): an octet for the kind, and the contents.
enum SessionMessage: Hashable, Sendable {
  /// The end of data, or all of it.
  case data([UInt8])
  /// Data with more to follow.
  case part([UInt8])
  case greeting(Greeting)
  /// The sender accepts the receiver: the secret that identifies peers as its session's members.
  case ready(GroupToken)
  /// The other peers in the sender's session.
  case members([UInt64])

  /// The octets of data in a message.
  static let partLength = 60 << 10
  /// Maximum peers in a list.
  private static let memberLimit = 16

  var encoded: [UInt8] {
    switch self {
    case .data(let octets): [0] + octets
    case .part(let octets): [1] + octets
    case .greeting(let greeting): [2] + greeting.encoded
    case .ready(let token): [3] + token.octets
    case .members(let members): [4] + members.flatMap(\.octets)
    }
  }

  /// - Returns: nil for a malformed or unknown message.
  init?(_ octets: [UInt8]) {
    let rest = octets.dropFirst()
    switch octets.first {
    case 0: self = .data(Array(rest))
    case 1: self = .part(Array(rest))
    case 2:
      guard let greeting = Greeting(rest) else { return nil }
      self = .greeting(greeting)
    case 3:
      guard let token = GroupToken(rest) else { return nil }
      self = .ready(token)
    case 4:
      guard rest.count % 8 == 0, rest.count / 8 <= Self.memberLimit else { return nil }
      self = .members(stride(from: rest.startIndex, to: rest.endIndex, by: 8).map { UInt64(rest[$0..<$0 + 8]) })
    default: return nil
    }
  }
}

/// The first message of each side.
struct Greeting: Hashable, Sendable {
  /// The certificates and their octets.
  static let certificateLimit = 16, octetLimit = 64 << 10

  var encryption: MCEncryptionPreference
  /// The sender's certificates; nil: it has none.
  var certificates: [Data]?

  /// True if the sides' encryption preferences are compatible.
  func isCompatible(with other: Greeting) -> Bool {
    switch (encryption, other.encryption) {
    case (.required, .none), (.none, .required): false
    default: true
    }
  }

  fileprivate var encoded: [UInt8] {
    [UInt8(encryption.rawValue)]
      + (certificates ?? []).flatMap { certificate in
        let count = certificate.count
        return [UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)] + certificate
      }
  }

  init(encryption: MCEncryptionPreference, certificates: [Data]?) {
    (self.encryption, self.certificates) = (encryption, certificates)
  }

  fileprivate init?(_ octets: ArraySlice<UInt8>) {
    guard octets.count <= Self.octetLimit,
      let encryption = octets.first.flatMap({ MCEncryptionPreference(rawValue: Int($0)) })
    else { return nil }
    var rest = octets.dropFirst()
    var certificates: [Data] = []
    while !rest.isEmpty {
      let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
      guard rest.count >= 2 + length, certificates.count < Self.certificateLimit else { return nil }
      certificates.append(Data(rest.dropFirst(2).prefix(length)))
      rest = rest.dropFirst(2 + length)
    }
    self.init(encryption: encryption, certificates: certificates.isEmpty ? nil : certificates)
  }
}

/// A session's secret, known to its members: a peer that gives it in an invitation is one of them.
struct GroupToken: Hashable, Sendable {
  static let length = 16
  let octets: [UInt8]

  /// Makes a random one.
  init() { octets = (0..<Self.length).map { _ in .random(in: .min ... .max) } }

  /// - Returns: nil unless there are 16 octets.
  init?(_ octets: some Collection<UInt8>) {
    guard octets.count == Self.length else { return nil }
    self.octets = Array(octets)
  }
}
