import Bluetooth

/// Detects scans that no longer receive reports, and controllers that restarted.
///
/// | State     | Input                             | Outcome                                                        |
/// |-----------|-----------------------------------|----------------------------------------------------------------|
/// | idle      | `scanning(true)`                  | listening                                                      |
/// | any       | `scanning(false)`                 | idle                                                           |
/// | any but idle | `heard`                        | listening                                                      |
/// | listening | a minute                          | `renew` the scan → renewed                                     |
/// | renewed   | a minute, and it had been busy    | `reopen` the adapter, once in an hour; else `tell` → told      |
/// | renewed   | a minute, and it had not          | told                                                           |
/// | told      | ten minutes                       | `renew` → renewed                                              |
/// | any       | `mayReopen`                       | whether the last time is an hour ago                           |
///
/// Where few devices are, silence is usual: it is a sign only after a quarter of an hour of reports without a gap of a
/// minute. Links are a sign of health, and end if an adapter is opened anew: beside them that waits.
struct ControllerHealth {
  enum Action: Hashable {
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
  /// After so long without a gap in the reports a silence is unusual.
  private static let busy = Duration.seconds(900)

  private var state = State.idle
  /// When `tick` is due.
  private(set) var deadline: Instant?
  /// The first and the last of the reports that came without a gap of a minute.
  private var reports: (first: Instant, last: Instant)?
  private var lastReopening: Instant?

  init() {}

  /// The controller is opened, or closed: it does nothing.
  mutating func began() {
    (state, deadline, reports) = (.idle, nil, nil)
  }

  /// The scan started or stopped, or its reports are not to be expected any more.
  mutating func scanning(_ isOn: Bool, at now: Instant) {
    guard isOn else { return (state, deadline) = (.idle, nil) }
    if state == .idle { enter(.listening, Self.silence, now) }
  }

  /// A report came.
  mutating func heard(at now: Instant) {
    let isGap = reports.map { $0.last.advanced(by: Self.silence) <= now } ?? true
    reports = (isGap ? now : reports?.first ?? now, now)
    if state != .idle { enter(.listening, Self.silence, now) }
  }

  /// - Parameter hasLinks: whether there are links, or trains that are followed.
  mutating func tick(hasLinks: Bool, at now: Instant) -> Action? {
    guard let deadline, deadline <= now else { return nil }
    switch state {
    case .idle: return nil
    case .listening, .told:
      enter(.renewed, Self.silence, now)
      return .renew
    case .renewed:
      enter(.told, Self.rest, now)
      guard let reports, reports.first.advanced(by: Self.busy) <= reports.last, !hasLinks else { return nil }
      self.reports = nil
      return mayReopen(at: now) ? .reopen : .tell
    }
  }

  /// Whether the adapter may be opened anew, for a reason that may be wrong.
  mutating func mayReopen(at now: Instant) -> Bool {
    if let lastReopening, lastReopening.duration(to: now) < Self.reopening { return false }
    lastReopening = now
    return true
  }

  private mutating func enter(_ new: State, _ duration: Duration, _ now: Instant) {
    state = new
    deadline = now.advanced(by: duration)
  }
}
