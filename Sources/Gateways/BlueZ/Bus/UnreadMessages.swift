import Bluetooth

/// The octets of messages that single programs were sent and may not have read yet.
///
/// The bus keeps unread messages, and accepts nothing more from their sender above a limit (dbus-daemon(1),
/// `max_incoming_bytes`: 127 MiB): programs that only call could block org.bluez for all others. So programs are pinged
/// at times (`Ping`): the answer shows that all earlier messages were read. Above a bound programs that have not
/// answered wait. The bounds apply to a user, regardless of the number of its programs on the bus.
package struct UnreadMessages {
  /// The number of octets from which on a program is pinged.
  package static let asking = 32 << 10
  /// The number of octets that make no program wait, unless its user has far too many.
  package static let free = 64 << 10
  /// The octets of a user from which on each of its programs with more than `free` waits; from twice as many on, each
  /// program.
  package static let maximumOfUser = 8 << 20
  /// The octets of all users from which on each program with more than `free` waits.
  package static let maximum = 32 << 20
  /// Maximum programs pinged at a time, of which at most half did not answer before: the bus limits pending calls.
  package static let maximumAsked = 32
  /// Maximum programs of one user pinged at a time.
  package static let maximumAskedOfUser = 8
  /// The octets forgiven to a program without an answer, one of each user in each `pause`: some libraries answer no
  /// calls.
  package static let forgiven = 512 << 10
  package static let pause = Duration.seconds(25)

  private struct Account {
    /// Nil while unknown.
    var user: UInt32?
    var octets = 0
    /// The octets at the time of the question that is not answered.
    var asked: Int?
    /// True if it did not answer the last ping.
    var isSilent = false
    /// The number of its last ping; 0 before the first.
    var question = 0

    /// True if it could be pinged.
    var isIdle: Bool { asked == nil && octets > 0 }
  }

  /// The sum of several accounts.
  private struct Sum {
    var octets = 0
    /// The pinged programs, and those of them that did not answer before.
    var (asked, askedSilent) = (0, 0)
    /// The programs that could be pinged, and those of them that did not answer the last ping.
    var (idle, idleSilent) = (0, 0)
    var accounts = 0
    var lastForgiven: Instant?

    mutating func add(_ account: Account, _ sign: Int) {
      octets += sign * account.octets
      accounts += sign
      if account.isIdle {
        idle += sign
        if account.isSilent { idleSilent += sign }
      }
      guard account.asked != nil else { return }
      asked += sign
      if account.isSilent { askedSilent += sign }
    }

    /// True if one more program may be pinged.
    func allows(_ maximum: Int, isSilent: Bool) -> Bool {
      asked < maximum && (!isSilent || askedSilent < maximum / 2)
    }
  }

  private var accounts: [String: Account] = [:]
  /// The accounts of each user; nil: of programs of unknown users.
  private var users: [UInt32?: Sum] = [:]
  private var all = Sum()
  /// The number of the last question.
  private var lastQuestion = 0

  package init() {}

  /// The octets of all programs.
  package var total: Int { all.octets }

  /// The number of users with messages, or with programs that did not answer.
  var userCount: Int { users.count }

  private func sum(of user: UInt32?) -> Sum { users[user] ?? Sum() }

  /// Changes an account, and drops an empty one.
  private mutating func update(_ program: String, _ change: (inout Account) -> Void) {
    let former = accounts.removeValue(forKey: program)
    var account = former ?? Account()
    change(&account)
    if account.octets > 0 || account.isSilent {
      accounts[program] = account
      count(account, 1)
    }
    if let former { count(former, -1) }
  }

  private mutating func count(_ account: Account, _ sign: Int) {
    all.add(account, sign)
    users[account.user, default: Sum()].add(account, sign)
    if users[account.user]?.accounts == 0 { users[account.user] = nil }
  }

  /// A message was sent to a program.
  /// - Parameter user: the program's user; nil while unknown.
  package mutating func sent(_ octets: Int, to program: String, of user: UInt32?) {
    update(program) { account in
      account.user = user ?? account.user
      account.octets += octets
    }
  }

  /// Returns true if a program has to wait until it, or others of its user, have read.
  /// - Parameter user: the program's user; nil while unknown.
  package func mustWait(_ program: String, of user: UInt32?) -> Bool {
    let octets = sum(of: user).octets
    if octets > 2 * Self.maximumOfUser { return true }
    return (octets > Self.maximumOfUser || total > Self.maximum) && (accounts[program]?.octets ?? 0) > Self.free
  }

  /// Returns true if a program is to be pinged now; `answered` or `silent` must follow, unless it leaves.
  package mutating func ask(_ program: String) -> Bool {
    guard let account = accounts[program], isToBeAsked(account) else { return false }
    lastQuestion += 1
    update(program) { [lastQuestion] in ($0.asked, $0.question) = ($0.octets, lastQuestion) }
    return true
  }

  private func isToBeAsked(_ account: Account) -> Bool {
    let user = sum(of: account.user)
    // All programs of a user may wait for one that has few.
    return account.isIdle && (account.octets > Self.asking || user.octets > Self.maximumOfUser)
      && allows(user, isSilent: account.isSilent)
  }

  /// True if one more program of a user may be pinged.
  private func allows(_ user: Sum, isSilent: Bool) -> Bool {
    all.allows(Self.maximumAsked, isSilent: isSilent) && user.allows(Self.maximumAskedOfUser, isSilent: isSilent)
  }

  /// Pings another program of a user with waiting programs, as `ask` does: one of them has to wait.
  /// - Parameter user: nil: the programs of unknown users.
  /// - Returns: the program; nil if none is to be pinged now.
  package mutating func askAnother(of user: UInt32?) -> String? {
    let sum = sum(of: user)
    // A search leads to a question: it is not repeated for each call.
    guard sum.octets > Self.maximumOfUser,
      sum.idle > sum.idleSilent && allows(sum, isSilent: false) || sum.idleSilent > 0 && allows(sum, isSilent: true)
    else { return nil }
    return askFirst(accounts.filter { $0.value.user == user })
  }

  /// Pings another program for which programs wait, as `ask` does: a ping has ended.
  /// - Returns: the program; nil if none is to be pinged now.
  package mutating func askAnother() -> String? {
    guard total > Self.maximum || users.values.contains(where: { $0.octets > Self.maximumOfUser }) else { return nil }
    return askFirst(
      accounts.filter { total > Self.maximum || sum(of: $0.value.user).octets > Self.maximumOfUser })
  }

  /// Pings a program that answered the last ping before one that did not, and the one pinged the longest ago first.
  private mutating func askFirst(_ accounts: [String: Account]) -> String? {
    let first = accounts.filter { isToBeAsked($0.value) }.min { left, right in
      (left.value.isSilent ? 1 : 0, left.value.question) < (right.value.isSilent ? 1 : 0, right.value.question)
    }
    guard let program = first?.key, ask(program) else { return nil }
    return program
  }

  /// A program has answered: it has read all messages up to the question.
  package mutating func answered(_ program: String) {
    guard let read = accounts[program]?.asked else { return }
    update(program) { $0 = Account(user: $0.user, octets: $0.octets - read, question: $0.question) }
  }

  /// A program has not answered in time.
  package mutating func silent(_ program: String, at now: Instant) {
    guard let account = accounts[program], account.asked != nil else { return }
    var octets = account.octets
    if sum(of: account.user).lastForgiven.map({ $0.advanced(by: Self.pause) <= now }) ?? true {
      users[account.user, default: Sum()].lastForgiven = now
      octets -= min(octets, Self.forgiven)
    }
    update(program) { $0 = Account(user: $0.user, octets: octets, isSilent: true, question: $0.question) }
  }

  /// A program has left the bus, which drops its unread messages.
  package mutating func left(_ program: String) {
    guard let account = accounts.removeValue(forKey: program) else { return }
    count(account, -1)
  }
}
