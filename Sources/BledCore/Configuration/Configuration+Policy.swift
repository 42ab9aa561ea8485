import BledRPC

extension Configuration {
  /// Who may do what.
  public struct Policy: Hashable, Sendable, ConfigurationPart {
    /// Somebody who may do something.
    public enum Grantee: Hashable, Sendable {
      /// Who can open the socket.
      case everyone
      /// A user, by name or number.
      case user(String)
      /// The members of a group, by name or number.
      case group(String)
    }

    /// Who has each permission, apart from root and the daemon's own user.
    public var grants: [Permission: [Grantee]] = Dictionary(
      uniqueKeysWithValues: Permission.allCases.map { ($0, $0.isForMembers ? [.group("bluetooth")] : []) })

    /// The default policy.
    public init() {}

    static let keys = ["policy"]
    static let isReloaded = true

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      guard let section = try root.section("policy") else { return }
      try section.allow(Permission.allCases.map(\.rawValue))
      let remedy = "give a list of \"user:NAME\", \"group:NAME\" or \"everyone\"; numbers do for names"
      for permission in Permission.allCases {
        guard let texts = try section.value(permission.rawValue, [String].self, remedy) else { continue }
        let grantees = texts.compactMap(Grantee.init)
        guard grantees.count == texts.count else { throw section.badValue(permission.rawValue, remedy) }
        grants[permission] = grantees
      }
    }
  }
}

extension Configuration.Policy.Grantee {
  /// As the file has it.
  var text: String {
    switch self {
    case .everyone: "everyone"
    case .user(let name): "user:\(name)"
    case .group(let name): "group:\(name)"
    }
  }

  fileprivate init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    switch (parts.first, parts.dropFirst().first) {
    case ("everyone", nil): self = .everyone
    case ("user", let name?) where !name.isEmpty: self = .user(name)
    case ("group", let name?) where !name.isEmpty: self = .group(name)
    default: return nil
    }
  }
}

extension Permission {
  /// Whether members of the group bluetooth have it by default.
  fileprivate var isForMembers: Bool {
    switch self {
    case .scan, .connect, .serve, .advertise, .pair: true
    case .adapters, .sessions: false
    }
  }
}
