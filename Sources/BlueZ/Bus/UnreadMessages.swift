import Bluetooth

/// The octets of messages that were sent to single programs and that these may not have read yet.
///
/// The bus keeps the messages that a program does not read, and takes nothing more from their sender above a limit
/// (dbus-daemon(1), `max_incoming_bytes`: 127 MiB): some programs that only call would take org.bluez from all others.
/// So programs are asked now and then (`Ping`): the answer says that all earlier messages were read. Above a bound
/// programs that have not answered wait.
package struct UnreadMessages {
  /// A program is asked from so many octets on.
  package static let asking = 32 << 10
  /// So many octets make no program wait.
  package static let free = 64 << 10
  /// From so many octets of all programs on, each with more than `free` waits.
  package static let maximum = 32 << 20
  /// The number of programs that are asked at a time, of which at most half did not answer before: the bus limits the
  /// calls that may be pending.
  package static let maximumAsked = 32
  /// The octets that one program without an answer is forgiven in each `pause`: some libraries answer no calls.
  package static let forgiven = 512 << 10
  package static let pause = Duration.seconds(25)

  private struct Account {
    var octets = 0
    /// The octets at the time of the question that is not answered.
    var asked: Int?
    /// Whether it did not answer the last question.
    var isSilent = false
  }

  private var accounts: [String: Account] = [:]
  /// The octets of all programs.
  package private(set) var total = 0
  /// The programs that are asked, and those of them that did not answer before.
  private var (asked, askedSilent) = (0, 0)
  private var lastForgiven: Instant?

  package init() {}

  /// A message goes to a program.
  package mutating func sent(_ octets: Int, to program: String) {
    accounts[program, default: Account()].octets += octets
    total += octets
  }

  /// Whether a program has to wait until it has read.
  package func mustWait(_ program: String) -> Bool {
    total > Self.maximum && (accounts[program]?.octets ?? 0) > Self.free
  }

  /// Whether a program is to be asked now; then `answered` or `silent` is to follow, unless it leaves.
  package mutating func ask(_ program: String) -> Bool {
    guard let account = accounts[program], account.octets > Self.asking, account.asked == nil,
      asked < Self.maximumAsked,
      !account.isSilent || askedSilent < Self.maximumAsked / 2
    else { return false }
    accounts[program]?.asked = account.octets
    count(account, 1)
    return true
  }

  private mutating func count(_ account: Account, _ change: Int) {
    asked += change
    if account.isSilent { askedSilent += change }
  }

  /// A program has answered: it has read all messages up to the question.
  package mutating func answered(_ program: String) {
    guard let account = accounts[program], let read = account.asked else { return }
    count(account, -1)
    total -= read
    accounts[program] = account.octets > read ? Account(octets: account.octets - read) : nil
  }

  /// A program has not answered in time.
  package mutating func silent(_ program: String, at now: Instant) {
    guard let account = accounts[program], account.asked != nil else { return }
    count(account, -1)
    var octets = account.octets
    if lastForgiven.map({ $0.advanced(by: Self.pause) <= now }) ?? true {
      lastForgiven = now
      octets -= min(octets, Self.forgiven)
      total -= account.octets - octets
    }
    accounts[program] = Account(octets: octets, isSilent: true)
  }

  /// A program has left the bus, which drops its unread messages.
  package mutating func left(_ program: String) {
    guard let account = accounts.removeValue(forKey: program) else { return }
    total -= account.octets
    if account.asked != nil { count(account, -1) }
  }
}
