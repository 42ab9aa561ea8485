import Glibc

/// The users and groups of the system. A look-up may take as long as a directory server takes to answer.
public struct Accounts: Sendable {
  /// The number of the user of this name.
  let user: @Sendable (String) -> UInt32?
  /// The number of the group of this name.
  let group: @Sendable (String) -> UInt32?

  /// The accounts that a test makes up.
  init(users: [String: UInt32], groups: [String: UInt32]) {
    user = { users[$0] }
    group = { groups[$0] }
  }

  private init(user: @escaping @Sendable (String) -> UInt32?, group: @escaping @Sendable (String) -> UInt32?) {
    self.user = user
    self.group = group
  }

  /// Those of the system's databases, see getpwnam(3) and getgrnam(3). For one thread only.
  public static let system = Accounts(
    user: { getpwnam($0)?.pointee.pw_uid }, group: { getgrnam($0)?.pointee.gr_gid })
}
