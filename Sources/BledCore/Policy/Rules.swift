import BledRPC
import Bluetooth

/// The policy and the limits in force, shared by all sessions, and what is counted for each user.
final class Rules {
  var policy: Policy
  var limits: Limits {
    didSet { derive() }
  }
  /// The bounds of what waits for one session.
  private(set) var outboxLimits = Outbox.Limits()
  /// The bound of what waits for all sessions of a user, in octets.
  private(set) var maximumUserQueue = Int.max
  private var queues: [UInt32?: UserQueue] = [:]

  /// What waits for the sessions of one user, in octets.
  final class UserQueue {
    var octets = 0
  }

  init(policy: Policy, limits: Limits) {
    self.policy = policy
    self.limits = limits
    derive()
  }

  /// What the program of a session may do, in the order of their list.
  func permissions(of session: Session) -> [Permission] {
    let permitted = policy.permissions(of: session.credentials)
    return Permission.allCases.filter(permitted.contains)
  }

  /// The account of a user's waiting octets.
  func queue(of user: UInt32?) -> UserQueue {
    if let queue = queues[user] { return queue }
    let queue = UserQueue()
    queues[user] = queue
    return queue
  }

  /// The last session of a user has ended.
  func forget(_ user: UInt32?) { queues[user] = nil }

  private func derive() {
    outboxLimits = limits.perSession[.queueOctets].map(Outbox.Limits.init(everything:)) ?? Outbox.Limits()
    maximumUserQueue = limits.perUser[.queueOctets] ?? .max
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

  /// Checks whether there may be one more at all.
  /// - Throws: `BledError.limitReached`.
  func admit(_ resource: Limits.Resource, total: Int) throws(BluetoothError) {
    guard let most = limits.total[resource], total >= most else { return }
    throw Self.reached("bled has \(total)", resource, nil, 1, most)
  }

  private static func reached(
    _ who: String, _ resource: Limits.Resource, _ part: String?, _ more: Int, _ most: Int
  ) -> BluetoothError {
    let key = ["limits", part, resource.rawValue].compactMap { $0 }.joined(separator: ".")
    let what = more == 1 ? "which is the most" : "and \(more) more would be above the \(most) that are the most"
    return BledError.limitReached.error(
      "\(who) \(resource.plural), \(what): \(resource.remedy), or have \(key) raised in bled's configuration")
  }
}

extension Daemon {
  /// Puts another policy, other limits, another identity and another time to keep sessions into force, while sessions go on.
  ///
  /// A session that may less than before is closed: nobody keeps what they could not ask for any more. What a session holds
  /// beyond a new limit stays until it is given back.
  /// - Parameter keep: for how long the sessions of programs that are gone are kept at the most, from when they went; zero: not at all.
  public func apply(identity: Identity, policy: Policy, limits: Limits, keep: Duration) {
    restorations.limit = keep
    server.identify(name: identity.name, appearance: identity.appearance)
    rules.limits = limits
    directory.limits.peripherals = limits.total[.peripherals] ?? .max
    let before = sessions.map { ($0, rules.policy.permissions(of: $0.credentials)) }
    rules.policy = policy
    for (session, old) in before {
      session.limitsChanged()
      let new = policy.permissions(of: session.credentials)
      session.connection?.permissions = new
      let lost = Permission.allCases.filter { old.contains($0) && !new.contains($0) }.map(\.rawValue)
      guard !lost.isEmpty else { continue }
      close(
        session,
        BledError.notPermitted.error("bled's policy changed and no longer permits: \(lost.joined(separator: ", "))"))
    }
  }
}
