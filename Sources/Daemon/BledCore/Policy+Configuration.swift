import BledRPC

extension Policy {
  /// Makes the policy from a configuration.
  /// - Parameters:
  ///   - accounts: the system's users and groups, which names are looked up in: now, and not again when a client
  ///     connects.
  ///   - ownUser: the daemon's own user.
  ///   - onUnknown: called for each nonexistent user or group, which is ignored.
  public init(
    _ configuration: Configuration.Policy, accounts: Accounts, ownUser: UInt32,
    onUnknown: (String) -> Void = { _ in }
  ) {
    var unknown: Set<String> = []
    let subjects = configuration.grants.mapValues { grantees in
      Set(
        grantees.compactMap { grantee in
          let subject = Subject(grantee, accounts)
          if subject == nil, !grantee.isOptional { unknown.insert(grantee.text) }
          return subject
        })
    }
    for text in unknown.sorted() { onUnknown(text) }
    self.init(
      ownUser: ownUser, subjects: subjects,
      words: configuration.grants.mapValues { grantees in
        grantees.filter { !$0.isOptional || Subject($0, accounts) != nil }.map(\.text)
      })
  }
}

extension Configuration.Policy.Grantee {
  /// True if it comes with a package that may not be installed.
  fileprivate var isOptional: Bool {
    ([Configuration.Policy.facade, Configuration.Policy.gateways] + Configuration.Policy.bonded).contains(self)
  }
}

extension Policy.Subject {
  fileprivate init?(_ grantee: Configuration.Policy.Grantee, _ accounts: Accounts) {
    switch grantee {
    case .everyone: self = .everyone
    case .user(let name):
      guard let number = UInt32(name) ?? accounts.user(name) else { return nil }
      self = .user(number)
    case .group(let name):
      guard let number = UInt32(name) ?? accounts.group(name) else { return nil }
      self = .group(number)
    }
  }
}
