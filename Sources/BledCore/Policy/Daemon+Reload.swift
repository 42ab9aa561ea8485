import BledRPC
import Bluetooth

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
