import Adapter
import Bluetooth

/// The speed of a new link initiated by us: a short interval while the device's attributes are discovered, which takes
/// many packets in sequence, and then the usual one.
///
/// | State | Input                                                          | Outcome                              |
/// |-------|----------------------------------------------------------------|--------------------------------------|
/// | usual | `began`: ours, quick, without requests of programs             | quick; relax → usual beside many others |
/// | quick | 2 s after the link was established, 1 s after the last step of a discovery; 30 s in any case | relax → usual                        |
/// | quick | a program wants parameters, or the device has asked for others | usual                                |
///
/// A link with a short interval takes more of the air and of both batteries. So only a link beside at most two others
/// begins like that, and only if its programs request nothing. Other links may have been established since it was
/// initiated.
struct LinkPace {
  /// The parameters for initiating a quick link: the shortest usual interval, as controllers mostly use the longest
  /// they may. Some devices do not accept a shorter one.
  static let quick = ConnectionParameters(interval: .milliseconds(15)...(.milliseconds(15)))
  /// Maximum other links of the adapter beside a quick one.
  static let maximumOthers = 2

  /// The time a quick link waits for the first discovery, and for its next step.
  private static let patience = Duration.seconds(2)
  private static let pause = Duration.seconds(1)
  private static let longest = Duration.seconds(30)

  private enum State: Hashable {
    case usual
    case quick(until: Instant, end: Instant)
  }

  private var state = State.usual

  /// When `timePassed` is due.
  var deadline: Instant? { if case .quick(let until, _) = state { until } else { nil } }

  /// A link was established, and encrypted if necessary.
  /// - Parameters:
  ///   - isFree: true if we initiated it, and no program requests parameters.
  ///   - others: the number of the adapter's other links.
  ///   - parameters: those in force; nil if they are not known.
  /// - Returns: true to request the usual parameters at once.
  mutating func began(isFree: Bool, others: Int, _ parameters: LinkParameters?, at now: Instant) -> Bool {
    guard isFree, let parameters, parameters.isQuick else { return false }
    guard others <= Self.maximumOthers else { return true }
    state = .quick(until: now.advanced(by: Self.patience), end: now.advanced(by: Self.longest))
    return false
  }

  /// A discovery has made a step.
  mutating func discovers(at now: Instant) {
    guard case .quick(let until, let end) = state else { return }
    state = .quick(until: min(end, max(until, now.advanced(by: Self.pause))), end: end)
  }

  /// A program wants parameters, or others are in force.
  /// - Parameter parameters: those in force.
  mutating func changed(isFree: Bool, _ parameters: LinkParameters?) {
    guard deadline != nil, !isFree || parameters?.isQuick != true else { return }
    state = .usual
  }

  /// - Returns: true to request the usual parameters from now on.
  mutating func timePassed(at now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    state = .usual
    return true
  }
}

extension LinkParameters {
  /// True for a link that began quickly.
  fileprivate var isQuick: Bool { satisfy(LinkPace.quick) }
}
