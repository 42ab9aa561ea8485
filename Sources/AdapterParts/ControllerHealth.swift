import Bluetooth

/// Notices a scan that receives nothing any more, as controllers get stuck, and ones that began anew.
///
/// | State     | Input                             | Outcome                                                        |
/// |-----------|-----------------------------------|----------------------------------------------------------------|
/// | idle      | `scanning(true)`                  | listening                                                      |
/// | any       | `scanning(false)`                 | idle                                                           |
/// | any but idle | `heard`                        | listening                                                      |
/// | listening | a minute                          | `renew` the scan → renewed                                     |
/// | renewed   | a minute, and there were reports  | `reopen` the adapter, once in an hour; else `tell` → told      |
/// | renewed   | a minute, and there were none     | told                                                           |
/// | told      | ten minutes                       | `renew` → renewed                                              |
/// | any       | `mayReopen`                       | whether the last time is an hour ago                           |
///
/// Links are a sign of health, and end if an adapter is opened anew: beside them that waits.
package struct ControllerHealth {
  package enum Action: Hashable {
    /// The scan is to begin anew.
    case renew
    /// The adapter is to be opened anew.
    case reopen
    /// The adapter was opened anew not long ago.
    case tell
  }

  private enum State: Hashable {
    case idle
    case listening
    case renewed
    case told
  }

  private static let silence = Duration.seconds(60)
  private static let rest = Duration.seconds(600)
  private static let reopening = Duration.seconds(3600)

  private var state = State.idle
  /// When `tick` is due.
  package private(set) var deadline: Instant?
  /// Whether reports came since the adapter was opened.
  private var hasHeard = false
  private var lastReopening: Instant?

  package init() {}

  /// The controller is opened, or closed: it does nothing.
  package mutating func began() {
    (state, deadline, hasHeard) = (.idle, nil, false)
  }

  /// The scan started or stopped, or its reports are not to be expected any more.
  package mutating func scanning(_ isOn: Bool, at now: Instant) {
    guard isOn else { return (state, deadline) = (.idle, nil) }
    if state == .idle { enter(.listening, Self.silence, now) }
  }

  /// A report came.
  package mutating func heard(at now: Instant) {
    hasHeard = true
    if state != .idle { enter(.listening, Self.silence, now) }
  }

  package mutating func tick(hasLinks: Bool, at now: Instant) -> Action? {
    guard let deadline, deadline <= now else { return nil }
    switch state {
    case .idle: return nil
    case .listening, .told:
      enter(.renewed, Self.silence, now)
      return .renew
    case .renewed:
      enter(.told, Self.rest, now)
      guard hasHeard, !hasLinks else { return nil }
      return mayReopen(at: now) ? .reopen : .tell
    }
  }

  /// Whether the adapter may be opened anew, for a reason that may be wrong.
  package mutating func mayReopen(at now: Instant) -> Bool {
    if let lastReopening, lastReopening.duration(to: now) < Self.reopening { return false }
    lastReopening = now
    return true
  }

  private mutating func enter(_ new: State, _ duration: Duration, _ now: Instant) {
    state = new
    deadline = now.advanced(by: duration)
  }
}
