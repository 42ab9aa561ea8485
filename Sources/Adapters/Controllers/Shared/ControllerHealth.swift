import Adapter
import Bluetooth

/// Detects scans that receive no reports from the start or stop receiving them, and controllers that restarted.
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
/// Where devices are rare, silence is normal: it is a symptom only after a quarter of an hour of reports without a gap
/// of a minute. Links are a sign of health; they and trains would end if the adapter was opened again, so that waits
/// for their end.
///
/// Some controllers accept extended scans and report nothing. The kernel, where there is one, knows better:
///
/// | Extended scan | Input                                          | Outcome                             |
/// |---------------|------------------------------------------------|-------------------------------------|
/// | unknown       | `scanning(true)`                               | silent                              |
/// | silent        | `scanning(false)`                              | unknown                             |
/// | any           | `heard`, an extended report                    | works; earlier trials do not count  |
/// | silent        | a minute, in which the kernel found a device   | `giveUpExtendedScan` → works        |
/// | silent        | a minute, where there is no kernel, once in an hour | `tryLegacyScan` → tried        |
/// | tried         | `heard`                                        | legacy commands are kept → works    |
/// | tried         | the third such trial                           | the quirk is learned, too           |
/// | tried         | `scanning(false)`, `began`                     | tried; its minute begins with the next scan |
/// | tried         | a minute                                       | `endTrial` → works                  |
/// | tried         | a minute after `ended`, or `ended` without a scan | works: extended commands at the next opening |
///
/// Links may leave a scan no time: beside them the minute restarts. Trains do not count for the kernel's findings: a
/// wanted train may never be found. A trial ends trains, advertisements and pending connections: beside them none
/// begins, and beside the first two none ends.
///
/// A report in one trial shows little, since a device may merely have arrived late. Legacy commands are then used until
/// the adapter is opened the next time, when extended scans have another minute. The quirk, which is stored, is learned
/// only if three trials agree without an extended report between them.
struct ControllerHealth {
  enum Action: Hashable {
    /// The scan is to restart.
    case renew
    /// The adapter is to be opened again.
    case reopen
    /// The adapter was opened anew not long ago.
    case tell
    /// Extended scans do not work.
    case giveUpExtendedScan
    /// The adapter is to be opened again, without extended commands for a while.
    case tryLegacyScan
    /// The adapter is to be opened again, with extended commands.
    case endTrial
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
    /// Without a time until it scans.
    case tried(until: Instant?)
  }

  private static let silence = Duration.seconds(60)
  private static let rest = Duration.seconds(600)
  private static let reopening = Duration.seconds(3600)
  /// After this time without a gap in the reports, silence is unusual.
  private static let busy = Duration.seconds(900)
  /// The number of trials that have to agree.
  private static let sufficientTrials = 3

  private var state = State.idle
  /// The time of its next change.
  private var stateDeadline: Instant?
  private var extendedScan = ExtendedScan.works
  /// The first and last report of a series without a gap of a minute.
  private var reports: (first: Instant, last: Instant)?
  private var lastReopening: Instant?
  private var lastTrial: Instant?
  /// The trials that received a report, since the last extended report.
  private var successes = 0
  private var isHeardByKernel = true
  private var isOpen = true
  /// The times of the last report and the last event since the controller is in use.
  private var lastReport: Instant?
  private var lastEvent: Instant?

  /// When `tick` is due.
  var deadline: Instant? { [stateDeadline, extendedDeadline].compactMap { $0 }.min() }

  private var extendedDeadline: Instant? {
    switch extendedScan {
    case .silent(let since, let hasFound) where hasFound || !isHeardByKernel: since.advanced(by: Self.silence)
    case .tried(let end): end
    case .unknown, .silent, .works: nil
    }
  }

  /// True during an extended scan that has received nothing yet: then the kernel's findings matter.
  var isSilent: Bool { if case .silent = extendedScan { true } else { false } }

  /// True if extended scans are suspect: legacy commands are tried.
  var isTrying: Bool { if case .tried = extendedScan { true } else { false } }

  /// The controller is opened: it does nothing.
  /// - Parameters:
  ///   - scansExtended: true if its scans use extended commands, and could use others.
  ///   - isHeardByKernel: true if there is a kernel with findings that count.
  mutating func began(scansExtended: Bool = false, isHeardByKernel: Bool = true) {
    (state, stateDeadline, reports) = (.idle, nil, nil)
    (lastReport, lastEvent) = (nil, nil)
    isOpen = true
    self.isHeardByKernel = isHeardByKernel
    if scansExtended || !isTrying {
      extendedScan = scansExtended ? .unknown : .works
    } else {
      extendedScan = .tried(until: nil)
    }
  }

  /// The controller is closed. A trial waits for the next opening, for as long as it was to last.
  mutating func ended() {
    (state, stateDeadline, reports) = (.idle, nil, nil)
    (lastReport, lastEvent) = (nil, nil)
    isOpen = false
    if isTrying, extendedDeadline != nil { return }
    extendedScan = .works
  }

  /// The controller is switched off: a trial is over.
  mutating func abandonTrial() { if isTrying { extendedScan = .works } }

  /// Another controller may follow.
  mutating func forgetTrial() {
    abandonTrial()
    (lastTrial, successes) = (nil, 0)
  }

  /// An event was received; `heard` counts as one.
  mutating func received(at now: Instant) { lastEvent = now }

  /// The times since reports and events.
  func silence(at now: Instant) -> ControllerSilence {
    ControllerSilence(report: lastReport?.duration(to: now), event: lastEvent?.duration(to: now))
  }

  /// The scan started or stopped, or its reports are no longer expected.
  mutating func scanning(_ isOn: Bool, at now: Instant) {
    guard isOn else {
      (state, stateDeadline) = (.idle, nil)
      if isSilent { extendedScan = .unknown }
      if isTrying { extendedScan = .tried(until: nil) }
      return
    }
    if state == .idle { enter(.listening, Self.silence, now) }
    if extendedScan == .unknown { extendedScan = .silent(since: now, hasFound: false) }
    if isTrying { extendedScan = .tried(until: now.advanced(by: Self.silence)) }
  }

  /// A report was received.
  /// - Returns: true if enough trials have shown that extended scans do not work.
  @discardableResult
  mutating func heard(isExtended: Bool, at now: Instant) -> Bool {
    (lastReport, lastEvent) = (now, now)
    let isGap = reports.map { $0.last.advanced(by: Self.silence) <= now } ?? true
    reports = (isGap ? now : reports?.first ?? now, now)
    if state != .idle { enter(.listening, Self.silence, now) }
    guard isExtended || isTrying else { return false }
    let isSuccess = isTrying && !isExtended
    extendedScan = .works
    guard isSuccess else {
      successes = 0
      return false
    }
    successes += 1
    // The next opening may try again at once.
    lastTrial = nil
    return successes >= Self.sufficientTrials
  }

  /// The kernel reported a device.
  mutating func kernelFound() {
    if case .silent(let since, _) = extendedScan { extendedScan = .silent(since: since, hasFound: true) }
  }

  /// - Parameters:
  ///   - hasLinks: true if there are links.
  ///   - hasTrains: true if trains are to be followed.
  ///   - hasAdvertisements: true if anything is to be advertised.
  ///   - allowsTrial: true if a legacy scan could receive the wanted reports, and no connection is pending.
  mutating func tick(
    hasLinks: Bool, hasTrains: Bool = false, hasAdvertisements: Bool = false, allowsTrial: Bool = true,
    at now: Instant
  ) -> Action? {
    if let extendedDeadline, extendedDeadline <= now {
      let isInUse = hasLinks || hasTrains || hasAdvertisements
      if isTrying {
        guard isOpen, isInUse else {
          extendedScan = .works
          return isOpen ? .endTrial : nil
        }
        extendedScan = .tried(until: now.advanced(by: Self.silence))
      } else if !hasLinks, isHeardByKernel {
        extendedScan = .works
        return .giveUpExtendedScan
      } else if !isInUse, allowsTrial, mayTry(at: now) {
        extendedScan = .tried(until: now.advanced(by: Self.silence))
        return .tryLegacyScan
      } else {
        extendedScan = .silent(since: now, hasFound: isHeardByKernel)
      }
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

  /// True if the adapter may be opened again, for a reason that may be wrong.
  mutating func mayReopen(at now: Instant) -> Bool {
    if let lastReopening, lastReopening.duration(to: now) < Self.reopening { return false }
    lastReopening = now
    return true
  }

  private mutating func mayTry(at now: Instant) -> Bool {
    if let lastTrial, lastTrial.duration(to: now) < Self.reopening { return false }
    lastTrial = now
    return true
  }

  private mutating func enter(_ new: State, _ duration: Duration, _ now: Instant) {
    state = new
    stateDeadline = now.advanced(by: duration)
  }
}
