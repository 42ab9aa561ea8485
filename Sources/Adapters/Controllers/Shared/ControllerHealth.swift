import Bluetooth

/// Detects scans that receive no reports, or none any more, and controllers that restarted.
///
/// | Scan      | Input                             | Outcome                                                        |
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
/// minute. Links are a sign of health; they and trains end if an adapter is opened anew: beside them that waits.
///
/// Some controllers accept extended scans and report nothing. The kernel, where there is one, knows better:
///
/// | Extended scan | Input                                          | Outcome                             |
/// |---------------|------------------------------------------------|-------------------------------------|
/// | unknown       | `scanning(true)`                               | silent                              |
/// | silent        | `scanning(false)`                              | unknown                             |
/// | any           | `heard`, an extended report                    | works; nothing changes that         |
/// | silent        | a minute, in which the kernel found a device   | `giveUpExtendedScan` → works        |
///
/// Links may leave a scan no time: beside them the minute begins anew. Trains do not count here: one may be wanted for
/// ever that is never found.
struct ControllerHealth {
  enum Action: Hashable {
    /// The scan is to begin anew.
    case renew
    /// The adapter is to be opened anew.
    case reopen
    /// The adapter was opened anew not long ago.
    case tell
    /// Extended scans do not work.
    case giveUpExtendedScan
  }

  private enum State: Hashable {
    case idle
    case listening
    case renewed
    case told
  }

  private enum ExtendedScan: Hashable {
    case unknown
    case silent(since: Instant, hasFound: Bool)
    case works
  }

  private static let silence = Duration.seconds(60)
  private static let rest = Duration.seconds(600)
  private static let reopening = Duration.seconds(3600)
  /// After so long without a gap in the reports a silence is unusual.
  private static let busy = Duration.seconds(900)

  private var state = State.idle
  /// When it changes.
  private var stateDeadline: Instant?
  private var extendedScan = ExtendedScan.works
  /// The first and the last of the reports that came without a gap of a minute.
  private var reports: (first: Instant, last: Instant)?
  private var lastReopening: Instant?

  /// When `tick` is due.
  var deadline: Instant? { [stateDeadline, extendedDeadline].compactMap { $0 }.min() }

  private var extendedDeadline: Instant? {
    guard case .silent(let since, true) = extendedScan else { return nil }
    return since.advanced(by: Self.silence)
  }

  /// Whether an extended scan is on that has received nothing yet: then the kernel's findings matter.
  var isSilent: Bool { if case .silent = extendedScan { true } else { false } }

  /// The controller is opened, or closed: it does nothing.
  /// - Parameter scansExtended: whether its scans use extended commands, and could use others.
  mutating func began(scansExtended: Bool = false) {
    (state, stateDeadline, reports) = (.idle, nil, nil)
    extendedScan = scansExtended ? .unknown : .works
  }

  /// The scan started or stopped, or its reports are not to be expected any more.
  mutating func scanning(_ isOn: Bool, at now: Instant) {
    guard isOn else {
      (state, stateDeadline) = (.idle, nil)
      if isSilent { extendedScan = .unknown }
      return
    }
    if state == .idle { enter(.listening, Self.silence, now) }
    if extendedScan == .unknown { extendedScan = .silent(since: now, hasFound: false) }
  }

  /// A report came.
  mutating func heard(isExtended: Bool, at now: Instant) {
    let isGap = reports.map { $0.last.advanced(by: Self.silence) <= now } ?? true
    reports = (isGap ? now : reports?.first ?? now, now)
    if state != .idle { enter(.listening, Self.silence, now) }
    if isExtended { extendedScan = .works }
  }

  /// The kernel told of a device.
  mutating func kernelFound() {
    if case .silent(let since, _) = extendedScan { extendedScan = .silent(since: since, hasFound: true) }
  }

  /// - Parameters:
  ///   - hasLinks: whether there are links.
  ///   - hasTrains: whether trains are to be followed.
  mutating func tick(hasLinks: Bool, hasTrains: Bool = false, at now: Instant) -> Action? {
    if let extendedDeadline, extendedDeadline <= now {
      guard hasLinks else {
        extendedScan = .works
        return .giveUpExtendedScan
      }
      extendedScan = .silent(since: now, hasFound: true)
    }
    guard let stateDeadline, stateDeadline <= now else { return nil }
    switch state {
    case .idle: return nil
    case .listening, .told:
      enter(.renewed, Self.silence, now)
      return .renew
    case .renewed:
      enter(.told, Self.rest, now)
      guard let reports, reports.first.advanced(by: Self.busy) <= reports.last, !hasLinks, !hasTrains else {
        return nil
      }
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
    stateDeadline = now.advanced(by: duration)
  }
}
