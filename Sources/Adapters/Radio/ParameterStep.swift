import Adapter

/// The next command on a link's way to the wanted parameters.
///
/// | In force                                     | First    | After LE Connection Update |
/// |----------------------------------------------|----------|----------------------------|
/// | the subrate, or not the interval; or unknown | `update` | nothing                    |
/// | the interval, not the subrate                | `subrate`| `subrate`                  |
/// | neither                                      | `update` | `subrate`                  |
///
/// LE Subrate Request sets the latency and the timeout, too. Another interval ends the subrating, so it comes first.
/// Where both controllers have shorter connection intervals, LE Connection Rate Request sets all at once.
package enum ParameterStep: Hashable {
  /// LE Connection Update (Core 5.4, Vol 4, Part E, 7.8.18).
  case update
  /// LE Subrate Request (7.8.124).
  case subrate

  /// The first step.
  /// - Parameter current: nil if it is not known.
  package static func first(from current: LinkParameters?, to wanted: ConnectionParameters) -> ParameterStep {
    guard let current else { return .update }
    return current.hasInterval(of: wanted) && !current.hasSubrate(of: wanted) ? .subrate : .update
  }

  /// The step after an executed update; nil: there is none.
  package static func next(after current: LinkParameters?, to wanted: ConnectionParameters) -> ParameterStep? {
    let hasSubrate = current?.hasSubrate(of: wanted) ?? wanted.subrate.contains(1)
    return hasSubrate ? nil : .subrate
  }
}
