import Adapter
import Bluetooth
import HCI

/// Brings the controller's scan to its wanted state, one command at a time.
///
/// | Actual     | Wanted             | Next command        | Then                     |
/// |------------|--------------------|---------------------|--------------------------|
/// | off        | nil                | –                   |                          |
/// | off        | parameters         | set parameters      | prepared                 |
/// | prepared   | the same           | enable; `watching`  | on; `scanning(true)`     |
/// | on         | the same           | –                   |                          |
/// | on         | others or nil      | disable             | off; `scanning(false)` if nothing is wanted |
/// | off, prepared | other watched devices | a command of `WatchList` | the same            |
/// | unknown    | parameters         | disable             | off                      |
///
/// Where devices are to be watched and the controller can watch for them, it does, and filters duplicates: it reports
/// each advertiser once. `watching` says so when the scan is about to begin: reports may come before the answer. Else
/// it is as if none were to be watched.
///
/// A watching controller receives a new list of devices no earlier than a second after it began.
///
/// Only wanted PHYs supported by the controller are used; without any, it does not scan.
///
/// While scanning has no turn it is as if nothing were wanted, but `scanning` stays true, unless links hold it back.
///
/// The state is unknown after another program's scan command, our own failure, or `doubt`; a back-off keeps two owners
/// from fighting.
struct ScanMachine<Family: RadioFamily> {
  private enum Actual: Hashable {
    case off
    case prepared(ScanParameters)
    case on(ScanParameters)
    case unknown
  }

  private enum Step: Hashable {
    case disable
    case prepare(ScanParameters)
    case enable(ScanParameters)
    case list
  }

  /// The minimum time of watching for the same devices: restarting a scan interrupts reception.
  private let shortestWatch = Duration.seconds(1)

  private let own: AddressType
  private let phys: Set<PHY>
  private var list: WatchList
  private var requested: ScanParameters?
  private var actual = Actual.off
  private var step: Step?
  private var backOff = BackOff(first: .milliseconds(500), limit: .seconds(30))
  private var lastDisturbance: Instant?
  /// When the scan was enabled last.
  private var lastStart = Instant.zero
  private var reported = false
  private var isWatching = false
  private var grant = ActivityTurns.Grant.now
  /// True if an active scan ran since the controller was switched on: it confuses the kernel's own discovery.
  private(set) var wasActive = false

  /// - Parameter takesTurns: true if scanning may pause for other activities: then the controller watches for nothing,
  ///   as it would never lose a device.
  init(profile: ControllerProfile, takesTurns: Bool, wanted: ScanParameters?) {
    own = profile.ownAddressType
    phys = Family.primaryPHYs(of: profile)
    list = WatchList(size: takesTurns ? 0 : profile.monitoredListSize)
    requested = possible(wanted)
  }

  /// The wanted scan, as supported by the controller.
  private var wanted: ScanParameters? {
    var wanted = requested
    wanted?.watched = requested?.watched.flatMap { list.accepts($0) ? $0 : nil }
    return wanted
  }

  private func possible(_ parameters: ScanParameters?) -> ScanParameters? {
    guard var parameters else { return nil }
    parameters.phys.formIntersection(phys)
    return parameters.phys.isEmpty ? nil : parameters
  }

  /// The scan enabled by the last command from `nextCommand`.
  var beginning: LEStates.Activity? { if case .enable(let parameters) = step { parameters.activity } else { nil } }

  /// The obstacle behind the last refusals has ended.
  mutating func retry() { backOff.reset() }

  /// A running scan begins anew.
  mutating func renew() { if isOn, step == nil { actual = .unknown } }

  /// True if nothing is wanted and the controller does not scan for us.
  var isQuiet: Bool { requested == nil && step == nil && actual != .unknown && !isOn && list.isOff }

  /// True if the wanted scan, while it runs, receives devices on these PHYs as soon as the initiator would, which
  /// listens half of the time.
  func hears(_ needed: Set<PHY>) -> Bool {
    guard let wanted, wanted.watched == nil else { return false }
    return wanted.window * 2 >= wanted.interval && wanted.phys.isSuperset(of: needed.intersection(phys))
  }

  /// The wanted scan, as an activity for the controller.
  var activity: LEStates.Activity? { wanted?.activity }

  /// The controller's scan, as far as known.
  var running: LEStates.Activity? {
    switch actual {
    case .off, .prepared: nil
    case .on(let parameters): parameters.activity
    case .unknown: .scanningActively
    }
  }

  /// True if the controller scans.
  var isOn: Bool { if case .on = actual { true } else { false } }

  /// The activity that may keep the controller from initiating, in words.
  var conflict: String? { running.map { $0 == .scanningActively ? "scanning actively" : "scanning" } }

  mutating func want(_ parameters: ScanParameters?) {
    requested = possible(parameters)
    if step == nil, requested == nil, case .prepared = actual { actual = .off }
  }

  /// Sets the permission to scan, from now on.
  mutating func permit(_ grant: ActivityTurns.Grant) -> [RadioAction] {
    self.grant = grant
    return grant == .heldBack && step == nil && !isOn ? report(false) : []
  }

  func deadline(after now: Instant) -> Instant? {
    guard requested != nil || isOn || actual == .unknown else { return nil }
    return [backOff.deadline(after: now), endOfWatch(after: now)].compactMap { $0 }.min()
  }

  /// The earliest time for giving the controller the other devices to watch for; nil if there are none.
  private func endOfWatch(after now: Instant) -> Instant? {
    guard case .on(let current) = actual, current.watched != nil, let wanted, wanted.watched != nil, wanted != current
    else { return nil }
    let end = lastStart.advanced(by: shortestWatch)
    return end > now ? end : nil
  }

  mutating func nextCommand(at now: Instant) -> FamilyCommand<Family>? {
    // Switching off does not compete with another program.
    let target = grant == .now ? wanted : nil
    guard step == nil, target == nil || backOff.allows(at: now) else { return nil }
    if !isOn, actual != .unknown, let command: FamilyCommand<Family> = list.nextCommand(target?.watched) {
      step = .list
      return command
    }
    switch (actual, target) {
    case (.off, nil), (.prepared, nil): return nil
    case (.on(let current), let parameters) where current == parameters: return nil
    case (.on, _?) where endOfWatch(after: now) != nil: return nil
    case (.on, _), (.unknown, _):
      step = .disable
      return Family.scanEnable(false, filtersDuplicates: false)
    case (.prepared(let current), let parameters?) where current == parameters:
      step = .enable(parameters)
      if parameters.isActive { wasActive = true }
      return Family.scanEnable(true, filtersDuplicates: parameters.watched != nil)
    case (_, let parameters?):
      step = .prepare(parameters)
      return Family.scanParameters(parameters, own: own)
    }
  }

  /// Before the last command from `nextCommand` is sent, reports if the controller watches from then on.
  mutating func begins() -> [RadioAction] {
    guard case .enable(let parameters) = step else { return [] }
    return watch(parameters.watched != nil)
  }

  /// True if the last command was from `WatchList`.
  var isListing: Bool { step == .list }

  /// Takes the answer to the last command of `nextCommand`.
  mutating func answered(_ status: HCIStatus, at now: Instant) -> [RadioAction] {
    guard let step else { return [] }
    self.step = nil
    if step == .list {
      return list.answered(status) ? [] : [.log("the controller does not watch for devices: \(status)")]
    }
    guard status.isSuccess else {
      // A scan refusing to be disabled is off already; after any other failure, begin again from a known state.
      guard step != .disable else {
        actual = .off
        return watch(false) + (isAwaited ? [] : report(false))
      }
      actual = .unknown
      backOff.fail(at: now)
      return [.log("the controller refused to \(Self.words(step)): \(status)")] + watch(false) + report(false)
    }
    switch step {
    case .disable:
      actual = .off
      return watch(false) + (isAwaited ? [] : report(false))
    case .prepare(let parameters):
      actual = requested == nil ? .off : .prepared(parameters)
      return []
    case .enable(let parameters):
      actual = .on(parameters)
      lastStart = now
      backOff.reset()
      return report(true)
    case .list: return []
    }
  }

  /// Another program's scan command was executed.
  /// - Parameter isUsual: true for one of the kernel's own commands, which follow every new link.
  mutating func disturbed(at now: Instant, isUsual: Bool) -> [RadioAction] {
    guard requested != nil || isOn else { return [] }
    actual = .unknown
    // The first time at once; if it happens repeatedly, ever more slowly.
    if !isUsual {
      if let last = lastDisturbance, last.duration(to: now) < .seconds(5) { backOff.fail(at: now) }
      lastDisturbance = now
    }
    return [.log("another program changed the scan; it is set up again")] + watch(false) + report(false)
  }

  /// The controller's scan state is unknown. If it should scan, nothing is reported until that fails.
  mutating func doubt() {
    actual = .unknown
    list.doubt()
  }

  /// The controller was reset: all its activities have ended.
  mutating func wasReset() -> [RadioAction] {
    actual = .off
    step = nil
    list.wasReset()
    return watch(false) + report(false)
  }

  /// True if it is on, or will be at its turn.
  private var isAwaited: Bool { requested != nil && grant != .heldBack }

  /// The reports before a pause hold on.
  mutating func goOn(from former: Self) { reported = former.reported }

  /// The replaced scan may not have ended.
  mutating func watches(as former: Self) { isWatching = former.isWatching }

  private mutating func report(_ scanning: Bool) -> [RadioAction] {
    guard scanning != reported else { return [] }
    reported = scanning
    return [.scanning(scanning)]
  }

  /// A report on a watched device.
  func received(_ event: LEMonitoredAdvertisersReport) -> [RadioAction] {
    guard isWatching, let device = event.peer.device else { return [] }
    return [.presence(device, event.condition == 1)]
  }

  private mutating func watch(_ watching: Bool) -> [RadioAction] {
    guard watching != isWatching else { return [] }
    isWatching = watching
    return [.watching(watching)]
  }

  private static func words(_ step: Step) -> String {
    switch step {
    case .prepare: "accept the scan parameters"
    case .enable, .disable, .list: "start or stop the scan"
    }
  }
}
