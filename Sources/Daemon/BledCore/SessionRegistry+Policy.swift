import BledRPC
import Bluetooth

extension SessionRegistry {
  /// Applies a new policy and limits: sessions that lose permissions are closed.
  func apply(_ policy: Policy, _ limits: Limits) {
    rules.limits = limits
    let before = all.map { ($0, rules.policy.permissions(of: $0.credentials)) }
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
