import Adapter
import Bluetooth
import HCI

/// Brings the controller's scan to its wanted state, one command at a time.
///
/// | Actual     | Wanted             | Next command        | Then                     |
/// |------------|--------------------|---------------------|--------------------------|
/// | off        | nil                | –                   |                          |
/// | off        | parameters         | set parameters      | prepared                 |
/// | prepared   | the same           | enable              | on; `scanning(true)`     |
/// | on         | the same           | –                   |                          |
/// | on         | others or nil      | disable             | off; `scanning(false)` if nothing is wanted |
/// | unknown    | parameters         | disable             | off                      |
///
/// The wanted PHYs that the controller has are used; if it has none of them, nothing is wanted of it.
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
  }

  private let own: AddressType
  private let phys: Set<PHY>
  private var wanted: ScanParameters?
  private var actual = Actual.off
  private var step: Step?
  private var backOff = BackOff(first: .milliseconds(500), limit: .seconds(30))
  private var lastDisturbance: Instant?
  private var reported = false
  private var grant = ActivityTurns.Grant.now
  /// Whether an active scan ran since the controller came on: it confuses the kernel's own discovery.
  private(set) var wasActive = false

  /// - Parameter phys: the PHYs that the controller can scan on.
  init(own: AddressType, phys: Set<PHY>, wanted: ScanParameters?) {
    self.own = own
    self.phys = phys
    self.wanted = possible(wanted)
  }

  private func possible(_ parameters: ScanParameters?) -> ScanParameters? {
    guard var parameters else { return nil }
    parameters.phys.formIntersection(phys)
    return parameters.phys.isEmpty ? nil : parameters
  }

  /// Whether nothing is wanted and the controller does not scan for us.
  var isQuiet: Bool { wanted == nil && step == nil && actual != .unknown && !isOn }

  /// The wanted scan, as an activity of the controller.
  var activity: LEStates.Activity? { wanted?.activity }

  /// The scan of the controller, as far as known.
  var running: LEStates.Activity? {
    switch actual {
    case .off, .prepared: nil
    case .on(let parameters): parameters.activity
    case .unknown: .scanningActively
    }
  }

  /// Whether the controller scans.
  var isOn: Bool { if case .on = actual { true } else { false } }

  /// The activity that may keep the controller from initiating, in words.
  var conflict: String? { running.map { $0 == .scanningActively ? "scanning actively" : "scanning" } }

  mutating func want(_ parameters: ScanParameters?) {
    wanted = possible(parameters)
    if step == nil, wanted == nil, case .prepared = actual { actual = .off }
  }

  /// Whether the controller can scan as wanted, from now on.
  mutating func permit(_ grant: ActivityTurns.Grant) -> [RadioAction] {
    self.grant = grant
    return grant == .heldBack && step == nil && !isOn ? report(false) : []
  }

  func deadline(after now: Instant) -> Instant? {
    wanted == nil && !isOn && actual != .unknown ? nil : backOff.deadline(after: now)
  }

  mutating func nextCommand(at now: Instant) -> FamilyCommand<Family>? {
    // Switching off does not compete with another program.
    let target = grant == .now ? wanted : nil
    guard step == nil, target == nil || backOff.allows(at: now) else { return nil }
    switch (actual, target) {
    case (.off, nil), (.prepared, nil): return nil
    case (.on(let current), let parameters) where current == parameters: return nil
    case (.on, _), (.unknown, _):
      step = .disable
      return Family.scanEnable(false)
    case (.prepared(let current), let parameters?) where current == parameters:
      step = .enable(parameters)
      if parameters.isActive { wasActive = true }
      return Family.scanEnable(true)
    case (_, let parameters?):
      step = .prepare(parameters)
      return Family.scanParameters(parameters, own: own)
    }
  }

  /// Takes the answer to the last command of `nextCommand`.
  mutating func answered(_ status: HCIStatus, at now: Instant) -> [RadioAction] {
    guard let step else { return [] }
    self.step = nil
    guard status.isSuccess else {
      // A scan that cannot be disabled is off already; after any other failure, begin again from a known state.
      guard step != .disable else {
        actual = .off
        return isAwaited ? [] : report(false)
      }
      actual = .unknown
      backOff.fail(at: now)
      return [.log("the controller refused to \(Self.words(step)): \(status)")] + report(false)
    }
    switch step {
    case .disable:
      actual = .off
      return isAwaited ? [] : report(false)
    case .prepare(let parameters):
      actual = wanted == nil ? .off : .prepared(parameters)
      return []
    case .enable(let parameters):
      actual = .on(parameters)
      backOff.reset()
      return report(true)
    }
  }

  /// Another program's scan command was executed.
  /// - Parameter isUsual: whether it is one of the kernel's own, which come whenever a link does.
  mutating func disturbed(at now: Instant, isUsual: Bool) -> [RadioAction] {
    guard wanted != nil || isOn else { return [] }
    actual = .unknown
    // The first time at once; if it happens repeatedly, ever more slowly.
    if !isUsual {
      if let last = lastDisturbance, last.duration(to: now) < .seconds(5) { backOff.fail(at: now) }
      lastDisturbance = now
    }
    return [.log("another program changed the scan; it is set up again")] + report(false)
  }

  /// Whether the controller scans is not known. If it is to, nothing is told until it turns out that it cannot.
  mutating func doubt() { actual = .unknown }

  /// The controller was reset: all its activities have stopped.
  mutating func wasReset() -> [RadioAction] {
    actual = .off
    step = nil
    return report(false)
  }

  /// Whether it is on, or will be on when its turn comes.
  private var isAwaited: Bool { wanted != nil && grant != .heldBack }

  /// The reports before a pause hold on.
  mutating func goOn(from former: Self) { reported = former.reported }

  private mutating func report(_ scanning: Bool) -> [RadioAction] {
    guard scanning != reported else { return [] }
    reported = scanning
    return [.scanning(scanning)]
  }

  private static func words(_ step: Step) -> String {
    switch step {
    case .prepare: "accept the scan parameters"
    case .enable, .disable: "start or stop the scan"
    }
  }
}
