import BledRPC
import Bluetooth

extension Daemon {
  /// Applies another policy, other limits, another identity and another retention of sessions, while sessions continue.
  ///
  /// A session that loses permissions is closed: no program keeps a resource it could no longer request. Resources of a
  /// session beyond a new limit stay until they are released.
  /// - Parameter keep: the longest time for which sessions are kept, from the disconnection of their programs; zero:
  ///   not at all.
  public func apply(identity: Identity, policy: Policy, limits: Limits, keep: Duration) {
    restorations.limit = keep
    deviceName.configured = identity.name
    server.identify(name: deviceName.current, appearance: identity.appearance)
    nameChanged()
    rules.limits = limits
    directory.limits.peripherals = limits.total[.peripherals] ?? .max
    let before = sessions.map { ($0, rules.policy.permissions(of: $0.credentials)) }
    rules.policy = policy
    for (session, old) in before {
      session.limitsChanged()
      let new = policy.permissions(of: session.credentials)
      session.connection?.permissions = new
      var lost = Permission.allCases.filter { old.contains($0) && !new.contains($0) }.map(\.rawValue)
      if let connection = session.connection, connection.isImpersonating,
        !policy.permissions(of: connection.peer).contains(.impersonate), !lost.contains(Permission.impersonate.rawValue)
      {
        lost.append(Permission.impersonate.rawValue)
      }
      guard !lost.isEmpty else { continue }
      close(
        session,
        BledError.notPermitted.error("bled's policy changed and no longer permits: \(lost.joined(separator: ", "))"))
    }
  }
}
