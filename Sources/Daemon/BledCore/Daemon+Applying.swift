import BledRPC
import Bluetooth

extension Daemon {
  /// Applies another policy, other limits, another identity and another retention of sessions, while sessions continue.
  ///
  /// A session that loses permissions is closed: no program keeps a resource it could no longer request. Resources
  /// beyond a new limit stay until they are released.
  /// - Parameter retention: maximum time for preserving a session after its program has disconnected; zero: none.
  public func apply(identity: Identity, policy: Policy, limits: Limits, retention: Duration) {
    sessionRegistry.restorations.limit = retention
    deviceName.configured = identity.name
    server.identify(name: deviceName.current, appearance: identity.appearance)
    nameChanged()
    directory.limits.peripherals = limits.total[.peripherals] ?? .max
    sessionRegistry.apply(policy, limits)
  }
}
