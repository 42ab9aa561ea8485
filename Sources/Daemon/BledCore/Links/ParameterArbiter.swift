import Adapter

/// Keeps a link's parameters at the sessions' merged requests.
///
/// | Wanted  | In force             | Input                  | Outcome                                              |
/// |---------|----------------------|------------------------|------------------------------------------------------|
/// | others  | any                  | `want`                 | ask for them                                         |
/// | others  | the same             | `want`                 | nothing                                              |
/// | nothing | any, on our link     | `want`                 | ask for the usual ones, unless they are in force     |
/// | nothing | any                  | `changed`              | nothing: the device's requests are granted           |
/// | nothing | short intervals of a new link | `relax`         | ask for the usual ones                             |
/// | any     | others, by ourselves | `changed`              | nothing: more was asked for, or is settled           |
/// | any     | others               | `changed`              | ask for them again, three times at most              |
///
/// Our own host answers a device's request by the merged requests (`Link.setWish`). The kernel grants every request
/// allowed by the specification; so one against the sessions' requests is in force for a moment, and is then corrected.
/// A device that insists gets its way, until the sessions request something else.
struct ParameterArbiter {
  private static let maximumRepetitions = 3

  /// The merged requests.
  private(set) var wanted: ConnectionParameters?
  /// Unsettled requests.
  private var pending = 0
  private var repetitions = 0

  /// Sets the parameters requested by sessions.
  /// - Parameters:
  ///   - new: nil if no session requests any.
  ///   - usual: the parameters for a link without requests; nil if left to the device.
  ///   - current: the parameters in force; nil if they are not known.
  /// - Returns: the parameters to request; nil: none. `settled` must follow.
  mutating func want(
    _ new: ConnectionParameters?, else usual: ConnectionParameters?, current: LinkParameters?
  ) -> ConnectionParameters? {
    let isChanged = new != wanted
    wanted = new
    if isChanged { repetitions = 0 }
    guard let target = new ?? usual else { return nil }
    // Unknown parameters are left alone without a request, until the controller reports them.
    if current == nil, new == nil, !isChanged { return nil }
    if pending == 0, let current, current.satisfy(target) { return nil }
    pending += 1
    return target
  }

  /// A new link has been quick for long enough, and nothing else is wanted.
  /// - Returns: as `want`.
  mutating func relax() -> ConnectionParameters? {
    guard wanted == nil else { return nil }
    pending += 1
    return ConnectionParameters()
  }

  /// The parameters changed.
  /// - Returns: as `want`.
  mutating func changed(to current: LinkParameters) -> ConnectionParameters? {
    guard let wanted, pending == 0, !current.satisfy(wanted), repetitions < Self.maximumRepetitions else { return nil }
    repetitions += 1
    pending += 1
    return wanted
  }

  /// A request was settled, or refused.
  mutating func settled() { pending -= 1 }
}
