import BledRPC
import Bluetooth

/// The policy and the limits in force, shared by all sessions, and the accounts of each user.
final class Rules {
  var policy: Policy
  var limits: Limits {
    didSet { derive() }
  }
  /// The bounds of one session's outbox.
  private(set) var outboxLimits = Outbox.Limits()
  /// The bound of the octets that wait for all sessions of a user.
  private var maximumUserQueue = Int.max
  private var maximumQueue = Int.max
  private var accounts: [UInt32?: UserAccount] = [:]
  /// The sockets for values of characteristics, of all sessions.
  private(set) var acquisitions = 0
  /// The octets that wait for all sessions.
  private(set) var queueOctets = 0

  /// The counts for the sessions of one user together.
  final class UserAccount {
    /// How many calls of a user may wait for their answers.
    static let maximumCalls = 16 * SessionConnection.maximumOpenReplies

    /// The octets that wait, both ways.
    var octets = 0 {
      didSet { rules?.queueOctets += octets - oldValue }
    }
    /// The calls that wait for their answers.
    var calls = 0
    /// The sockets for values of characteristics.
    var acquisitions = 0 {
      didSet { rules?.acquisitions += acquisitions - oldValue }
    }
    /// The descriptors that wait until they can be sent.
    var waitingDescriptors = 0
    /// The descriptors that were sent and not read yet.
    var unread: [UnreadDescriptors] = []
    /// The descriptors that wait until its sessions read them.
    var descriptors: Int {
      unread.removeAll { $0.count == 0 }
      return waitingDescriptors + unread.reduce(0) { $0 + $1.count }
    }
    private weak var rules: Rules?

    init(_ rules: Rules) { self.rules = rules }
  }

  init(policy: Policy, limits: Limits) {
    self.policy = policy
    self.limits = limits
    derive()
  }

  /// The permissions of a session's program, in the order of their list.
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

  /// The last session of a user has ended.
  func forget(_ user: UInt32?) { accounts[user] = nil }

  /// How many octets more may wait for a user's sessions.
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
  ///   - more: how many more it asks for.
  ///   - own: how many the session has.
  ///   - all: how many the sessions of its user have.
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
