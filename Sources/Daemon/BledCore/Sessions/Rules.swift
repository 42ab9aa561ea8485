import BledRPC
import Bluetooth

/// The policy and the limits in force, shared by all sessions, and the accounts of each user.
final class Rules {
  var policy: Policy
  var limits: Limits {
    didSet { derive() }
  }
  /// The bounds for one session's outbox.
  private(set) var outboxLimits = Outbox.Limits()
  /// Maximum octets queued for all sessions of a user.
  private var maximumUserQueue = Int.max
  private var maximumQueue = Int.max
  private var accounts: [UInt32?: UserAccount] = [:]
  private let totals = Totals()
  /// The sockets for values of characteristics, of all sessions.
  var acquisitions: Int { totals.acquisitions }
  /// The octets queued for all sessions.
  var queueOctets: Int { totals.queueOctets }

  /// The counts for all users together.
  private final class Totals {
    var acquisitions = 0
    var queueOctets = 0
  }

  /// The counts for all sessions of one user together.
  final class UserAccount {
    /// Maximum pending calls of a user.
    static let maximumCalls = 16 * SessionConnection.maximumOpenReplies

    /// The queued octets, both ways.
    var octets = 0 {
      didSet { totals.queueOctets += octets - oldValue }
    }
    /// The pending calls.
    var calls = 0
    /// The sockets for values of characteristics.
    var acquisitions = 0 {
      didSet { totals.acquisitions += acquisitions - oldValue }
    }
    /// The descriptors queued for sending.
    var waitingDescriptors = 0
    /// The descriptors sent and not read yet.
    var unread: [UnreadDescriptors] = []
    /// The descriptors not read yet by its sessions.
    var descriptors: Int {
      unread.removeAll { $0.count == 0 }
      return waitingDescriptors + unread.reduce(0) { $0 + $1.count }
    }
    private let totals: Totals

    init(_ rules: Rules) { totals = rules.totals }
  }

  init(policy: Policy, limits: Limits) {
    self.policy = policy
    self.limits = limits
    derive()
  }

  /// The permissions for a session's program, in their declared order.
  func permissions(of session: Session) -> [Permission] {
    let permitted = policy.permissions(of: session.credentials)
    return Permission.allCases.filter(permitted.contains)
  }

  func account(of user: UInt32?) -> UserAccount {
    if let account = accounts[user] { return account }
    let account = UserAccount(self)
    accounts[user] = account
    return account
  }

  /// A user's last session has ended.
  func forget(_ user: UInt32?) { accounts[user] = nil }

  /// Octets that may still be queued for a user's sessions.
  func room(for account: UserAccount) -> Int {
    min(maximumUserQueue - account.octets, Limits.share(own: account.octets, of: maximumQueue) - queueOctets)
  }

  private func derive() {
    outboxLimits = limits.perSession[.queueOctets].map(Outbox.Limits.init(everything:)) ?? Outbox.Limits()
    maximumUserQueue = limits.perUser[.queueOctets] ?? .max
    maximumQueue = limits.total[.queueOctets] ?? .max
  }

  /// Checks whether a session may have more.
  /// - Parameters:
  ///   - more: the number of additional ones requested.
  ///   - own: the session's present number.
  ///   - all: the present number of its user's sessions.
  /// - Throws: `BledError.limitReached`.
  func admit(
    _ resource: Limits.Resource, more: Int = 1, of session: Session, own: Int, all: @autoclosure () -> Int
  ) throws(BluetoothError) {
    if let most = limits.perSession[resource], own + more > most {
      throw Self.reached("this session has \(own)", resource, "perSession", more, most)
    }
    try admit(resource, more: more, ofUser: session.user, all: all())
  }

  /// Checks whether a user may have more.
  /// - Throws: `BledError.limitReached`.
  func admit(
    _ resource: Limits.Resource, more: Int = 1, ofUser user: UInt32?, all: Int
  ) throws(BluetoothError) {
    guard let most = limits.perUser[resource], all + more > most else { return }
    throw Self.reached("user \(user.map { "\($0)" } ?? "unknown") has \(all)", resource, "perUser", more, most)
  }

  /// Checks the limit in total, see `Limits.hasShare`.
  /// - Throws: `BledError.limitReached`.
  func admit(_ resource: Limits.Resource, total: Int, own: Int) throws(BluetoothError) {
    guard let most = limits.total[resource], !Limits.hasShare(own: own, all: total, of: most) else { return }
    throw Self.reached("bled has \(total)", resource, nil, 1, most)
  }

  private static func reached(
    _ who: String, _ resource: Limits.Resource, _ part: String?, _ more: Int, _ most: Int
  ) -> BluetoothError {
    let key = ["limits", part, resource.rawValue].compactMap { $0 }.joined(separator: ".")
    let what = more == 1 ? "which is the limit" : "and \(more) more would exceed the limit of \(most)"
    return BledError.limitReached.error(
      "\(who) \(resource.plural), \(what): \(resource.remedy), or raise \(key) in bled's configuration")
  }
}
