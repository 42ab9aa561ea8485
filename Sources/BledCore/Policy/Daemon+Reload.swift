import BledRPC
import Bluetooth

extension Daemon {
  /// Puts another policy, other limits and another identity into force, while sessions go on.
  ///
  /// A session that may less than before is closed: nobody keeps what they could not ask for any more. What a session holds
  /// beyond a new limit stays until it is given back.
  public func apply(identity: Identity, policy: Policy, limits: Limits) {
    peripheral.identify(name: identity.name, appearance: identity.appearance)
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
