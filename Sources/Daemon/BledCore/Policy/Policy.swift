import BledRPC
import Bluetooth
import Glibc

/// The permissions of programs. Root and the daemon's own user may do everything: both could end or replace the daemon.
public struct Policy: Hashable, Sendable {
  /// A user or group in the configuration, by number.
  enum Subject: Hashable {
    case everyone
    case user(UInt32)
    case group(UInt32)
  }

  private let ownUser: UInt32
  private let subjects: [Permission: Set<Subject>]
  /// The configuration's words, for messages.
  private let words: [Permission: [String]]

  init(ownUser: UInt32, subjects: [Permission: Set<Subject>], words: [Permission: [String]]) {
    self.ownUser = ownUser
    self.subjects = subjects
    self.words = words
  }

  /// The permissions of a program with these credentials; none without credentials.
  public func permissions(of credentials: PeerCredentials?) -> Set<Permission> {
    guard let credentials else { return [] }
    if isPrivileged(credentials) { return Set(Permission.allCases) }
    let own = Set(
      [.everyone, .user(credentials.user), .group(credentials.group)] + credentials.groups.map(Subject.group))
    let granted = Set(Permission.allCases.filter { !own.isDisjoint(with: subjects[$0] ?? []) })
    return granted.contains(.pair) ? granted.union([.bonds]) : granted
  }

  /// True for a program of root or the daemon's own user.
  func isPrivileged(_ credentials: PeerCredentials?) -> Bool {
    credentials.map { $0.user == 0 || $0.user == ownUser } ?? false
  }

  /// The reason why a call was refused, and the remedy.
  func refusal(of permission: Permission, to credentials: PeerCredentials?) -> BluetoothError {
    let user = credentials.map { "user \($0.user)" } ?? "a program of an unknown user"
    let granted = (permission == .bonds ? words[.pair] ?? [] : []) + (words[permission] ?? [])
    let groups = granted.filter { $0.hasPrefix("group:") }.map { $0.dropFirst("group:".count) }
    let ways = [
      groups.isEmpty ? nil : "join the group \(groups.joined(separator: " or ")) and log in again",
      "have \"user:\(credentials.map { "\($0.user)" } ?? "…")\" added to policy.\(permission) in bled's configuration",
    ]
    let holders = (["root"] + granted).joined(separator: ", ")
    return BledError.notPermitted.error(
      "\(user) lacks the permission \"\(permission)\", which is granted to \(holders): \(ways.compactMap { $0 }.joined(separator: ", or "))"
    )
  }
}

/// The system's users and groups. A look-up may take as long as a directory server's answer.
public struct Accounts: Sendable {
  /// The number of the user with this name.
  let user: @Sendable (String) -> UInt32?
  /// The number of the group with this name.
  let group: @Sendable (String) -> UInt32?

  /// Made-up accounts for tests.
  init(users: [String: UInt32], groups: [String: UInt32]) {
    user = { users[$0] }
    group = { groups[$0] }
  }

  private init(user: @escaping @Sendable (String) -> UInt32?, group: @escaping @Sendable (String) -> UInt32?) {
    self.user = user
    self.group = group
  }

  /// The accounts in the system's databases, see getpwnam(3) and getgrnam(3). For one thread only.
  public static let system = Accounts(
    user: { getpwnam($0)?.pointee.pw_uid }, group: { getgrnam($0)?.pointee.gr_gid })
}
