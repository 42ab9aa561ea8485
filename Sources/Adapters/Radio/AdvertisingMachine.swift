import Adapter
import Bluetooth
import HCI
import OrderedCollections

/// Brings the controller's advertising sets to their wanted state, one command at a time. A legacy controller has one
/// set. Which advertisement has which set, and when, is decided by `AdvertisingRotation`.
///
/// | Set is      | Input                              | Outcome                                         |
/// |-------------|------------------------------------|-------------------------------------------------|
/// | waiting     | its turn, a free handle            | parameters, data, scan response, enable; on     |
/// | waiting     | too many share, or trains have the sets | reported as `failed(advertisingSetsExhausted)`; waits on |
/// | on          | its turn is over                   | disable; waiting, and still reported as `on`    |
/// | on          | more or fewer share                | reported as `on` with the present interval      |
/// | on          | other data alone, of 251 octets at most | the data are set; still on                      |
/// | on          | other parameters, or the data were refused | disable, then as above                          |
/// | on          | not wanted                         | disable, remove; gone                           |
/// | on          | a central connected                | paused, reported as `off`; enable; on           |
/// | on          | the device it is directed to connected, its time is over, all its events were sent | reported as `ended`; remove; gone               |
/// | on          | another program's command          | lost, reported as `off`; all of it again        |
/// | on          | `doubt`                            | all sets disabled at once; paused; enable; on   |
/// | on          | its kind has no turn in the controller | as when its own turn is over                    |
/// | on          | links hold its kind back           | disable; waiting, reported as `off`             |
/// | waiting, never on | links hold its kind back           | reported as `failed(notSupported)`              |
/// | setting up  | parameters refused, not connectable and faster than 100 ms | the same with 100 ms, from now on               |
/// | setting up  | Command Disallowed, never on so far | again after a back-off; reported at the third time, beside links, which may end, at the sixth |
/// | on          | another one with its own address was enabled, and this is connectable with ours, beside the kernel | disable; set up again                           |
/// | any of these | a train of periodic advertisements is wanted | it is prepared after the set's data, begins after enable, ends after disable |
/// | any         | an error                           | reported as `failed`; again after a back-off, or when the parameters change |
struct AdvertisingMachine<Family: RadioFamily> {
  private typealias Entry = AdvertisingEntry
  private typealias Script = AdvertisingScript<Family>

  private let profile: ControllerProfile
  let capabilities: AdvertisingCapabilities
  private var handles: AdvertisingHandles
  private var turns: AdvertisingTurns
  var entries: OrderedDictionary<AdvertisingSetID, AdvertisingEntry> = [:]
  private(set) var script: AdvertisingScript<Family>?
  private var isWaiting = false
  /// True if the controller may be sending unknown sets.
  private var isDoubtful = false
  /// True if the pending command disables all sets.
  private var isDisabling = false
  private var lastDisturbance: Instant?

  init(profile: ControllerProfile, wanted: OrderedDictionary<AdvertisingSetID, AdvertisingParameters>) {
    self.profile = profile
    capabilities = profile.advertisingCapabilities
    handles = AdvertisingHandles(
      count: profile.usableAdvertisingSets,
      keepsFirst: profile.addressOnAir.kind == .random && !profile.isExclusive)
    turns = AdvertisingTurns(sets: profile.usableAdvertisingSets)
    for (set, parameters) in wanted {
      entries[set] = Entry(wanted: parameters)
      if capabilities.problem(with: parameters) == nil { _ = turns.admit(set, parameters) }
    }
  }

  /// The sets wanted or on the air.
  var sets: [AdvertisingSetID] { Array(entries.keys) }

  /// True if nothing is wanted and nothing is on the air.
  var isQuiet: Bool { entries.isEmpty && script == nil && !isDoubtful && !isDisabling }

  /// Sets or withdraws (nil) an advertisement. An impossible one is refused at once.
  mutating func want(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) -> [RadioAction] {
    guard let parameters else {
      turns.remove(set)
      if entries[set]?.handle != nil {
        entries[set]?.wanted = nil
        return settled()
      }
      let told = entries.removeValue(forKey: set)?.told
      if case .on = told { return [.advertising(set, .off)] + settled() }
      return settled()
    }
    var entry = entries[set] ?? Entry()
    if entry.wanted != parameters {
      entry.backOff.reset()
      entry.hopeless = nil
      if case .failed = entry.told { entry.told = nil }
    }
    entry.wanted = parameters
    entries[set] = entry
    return settled()
  }

  /// The controller's allowances, from now on.
  mutating func permit(_ new: [LEStates.Activity: ActivityTurns.Allowance]) -> [RadioAction] {
    let isChanged = turns.permit(new)
    var actions: [RadioAction] = []
    for (set, entry) in entries where script?.set != set && turns.allowance(of: entry.wanted).grant == .heldBack {
      if case .on = entry.phase { continue }
      switch entry.told {
      case nil: actions += report(set, .failed(AdvertisingTurns.heldBack))
      case .on: actions += report(set, .off)
      case .off, .ended, .failed: break
      }
    }
    return actions + (isChanged ? settled() : [])
  }

  func deadline(after now: Instant) -> Instant? {
    (entries.values.map { $0.backOff.deadline(after: now) } + [turns.deadline(after: now)]).compactMap { $0 }.min()
  }

  mutating func nextCommand(at now: Instant) -> FamilyCommand<Family>? {
    guard !isWaiting else { return nil }
    if isDoubtful, script == nil {
      (isDoubtful, isDisabling, isWaiting) = (false, true, true)
      return Family.advertisingDisable
    }
    if script == nil { script = nextScript(at: now) }
    guard script != nil else { return nil }
    isWaiting = true
    return script?.commands.removeFirst()
  }

  /// Takes the answer to the last command of `nextCommand`.
  /// - Parameter hasLinks: true if there are links, beside which the controller may disallow it.
  mutating func answered(_ answer: CommandSlot.Answer, hasLinks: Bool, at now: Instant) -> [RadioAction] {
    let status = answer.status
    if isDisabling {
      isDisabling = false
      isWaiting = false
      // A set refusing to be disabled is not on.
      for (set, entry) in entries {
        entries[set]?.interrupted(at: now)
        if case .on(let current) = entry.phase { entries[set]?.phase = .paused(current) }
        if let handle = entry.handle, !handles.isPrepared(handle) { entries[set]?.phase = .waiting }
      }
      return []
    }
    guard isWaiting, let script else { return [] }
    isWaiting = false
    guard status.isSuccess else { return failed(script, status, hasLinks: hasLinks, at: now) }
    if let power = try? answer.complete?.decoded(as: LESetExtendedAdvertisingParameters.self) {
      entries[script.set]?.txPower = Int(power.value)
    }
    guard script.commands.isEmpty else { return [] }
    self.script = nil
    if script.outcome == .rested || script.outcome == .phase(.waiting), let handle = entries[script.set]?.handle {
      handles.endedPeriodic(handle)
    }
    switch script.outcome {
    case .removed: return removed(script.set)
    case .rested:
      entries[script.set]?.interrupted(at: now)
      return rested(script.set)
    case .phase(.on(let new)) where script.former != nil:
      entries[script.set]?.updated(to: new)
      return settled()
    case .phase(let phase):
      entries[script.set]?.phase = phase
      guard case .on(let parameters) = phase, entries[script.set]?.wanted != nil else { return [] }
      entries[script.set]?.backOff.reset()
      entries[script.set]?.began(at: now)
      if parameters.ownAddress != nil, !profile.isExclusive { restoreOwnAddress(after: script.set) }
      return report(script.set, onAir(script.set, parameters)) + settled()
    }
  }

  /// A set ceased: a central connected, or its duration or count is over.
  /// - Parameters:
  ///   - handle: the set's handle; nil for the only connectable one.
  ///   - events: the number of advertising events, if counted.
  mutating func ended(handle: UInt8?, _ status: HCIStatus, events: UInt8 = 0) -> [RadioAction] {
    var actions: [RadioAction] = []
    for (set, entry) in entries {
      guard case .on(let parameters) = entry.phase, handle == nil ? parameters.isConnectable : entry.handle == handle
      else { continue }
      if let end = entries[set]?.ceased(parameters, status, events: events) {
        actions += finish(set, end)
      } else {
        entries[set]?.phase = .paused(parameters)
        actions += report(set, .off)
      }
    }
    return actions
  }

  /// The set has done its task: it is no longer wanted.
  private mutating func finish(_ set: AdvertisingSetID, _ end: AdvertisingEnd) -> [RadioAction] {
    turns.remove(set)
    entries[set]?.wanted = nil
    entries[set]?.phase = .waiting
    return report(set, .ended(end)) + settled()
  }

  /// Another program's advertising command was executed.
  mutating func disturbed(at now: Instant) -> [RadioAction] {
    var actions: [RadioAction] = []
    let isRepeated = lastDisturbance.map { $0.duration(to: now) < .seconds(5) } ?? false
    lastDisturbance = now
    for (set, entry) in entries where entry.handle != nil && entry.phase != .waiting {
      entries[set]?.phase = .lost
      entries[set]?.interrupted(at: now)
      if isRepeated { entries[set]?.backOff.fail(at: now) }
      actions += report(set, .off)
    }
    return actions
  }

  /// The controller's advertisements are not known.
  /// - Parameter isForgotten: true if it may have forgotten its sets: they are set up again then.
  mutating func doubt(isForgotten: Bool = false) {
    isDoubtful = true
    if isForgotten { handles.doubtAll() }
  }

  /// The controller was reset: all its activities have ended.
  mutating func wasReset() -> [RadioAction] {
    var actions: [RadioAction] = []
    (script, isWaiting, isDoubtful, isDisabling) = (nil, false, false, false)
    handles.forgetAll()
    for (set, entry) in entries {
      entries[set]?.phase = .waiting
      entries[set]?.handle = nil
      if entry.wanted == nil { entries[set] = nil } else if entry.handle != nil { actions += report(set, .off) }
    }
    return actions
  }

  /// A link ended; an advertisement may be waiting for that.
  mutating func retry() {
    for set in entries.keys where entries[set]?.hopeless == nil { entries[set]?.backOff.reset() }
  }

  private mutating func nextScript(at now: Instant) -> Script? {
    let due = turns.due(at: now) { [entries, turns] set in
      guard let entry = entries[set], entry.hopeless == nil, entry.backOff.allows(at: now) else { return false }
      return turns.allowance(of: entry.wanted).grant == .now
    }
    let used = Set(entries.values.compactMap(\.handle))
    for (set, entry) in entries {
      let wanted = turns.adapted(entry.wanted, of: set)
      guard let handle = entry.handle else {
        guard due.contains(set), let wanted, let handle = handles.free(besides: used, for: wanted) else { continue }
        entries[set]?.handle = handle
        return start(set, wanted, handle, at: now)
      }
      let endsPeriodic = handles.hasPeriodic(handle)
      switch entry.step(to: wanted, mustRest: mustRest(set, due), isDue: due.contains(set), at: now) {
      case .keep: continue
      case .rest: return .off(set, handle, .rested, endsPeriodic: endsPeriodic)
      case .release:
        release(set)
        return nextScript(at: now)
      case .forget: return .forget(set, handle, endsPeriodic: endsPeriodic)
      case .end: return .off(set, handle, .removed, endsPeriodic: endsPeriodic, removes: true)
      case .update(let former, let wanted): return .update(set, handle, from: former, to: wanted)
      case .disable: return .off(set, handle, .phase(.waiting), endsPeriodic: endsPeriodic)
      case .enable(let wanted):
        return .enable(set, handle, wanted, events: entries[set]?.eventsLeft(of: wanted, at: now) ?? 0)
      case .start(let wanted): return start(set, wanted, handle, at: now)
      }
    }
    return nil
  }

  private mutating func start(
    _ set: AdvertisingSetID, _ wanted: AdvertisingParameters, _ handle: UInt8, at now: Instant
  ) -> Script {
    let former = handles.prepare(handle, for: AdvertisingFormat(wanted))
    let events = entries[set]?.eventsLeft(of: wanted, at: now) ?? 0
    return .start(set, handle, wanted, own: profile.addressOnAir, events: events, after: former)
  }

  /// Kernels before September 2025 assume the kind of the last set address for every incoming link, and pairing fails
  /// if it was another: connectable sets with our own address are set up again.
  private mutating func restoreOwnAddress(after set: AdvertisingSetID) {
    for (other, entry) in entries where other != set {
      guard case .on(let parameters) = entry.phase, parameters.isConnectable, parameters.ownAddress == nil
      else { continue }
      entries[other]?.phase = .lost
    }
  }

  private mutating func failed(
    _ script: Script, _ status: HCIStatus, hasLinks: Bool, at now: Instant
  ) -> [RadioAction] {
    self.script = nil
    let set = script.set
    if script.former != nil {
      entries[set]?.isRigid = true
      return []
    }
    // Another program may have removed it.
    if let handle = entries[set]?.handle { handles.forget(handle) }
    // A set refusing to be disabled no longer exists: the controller was reset, or another program removed it.
    switch script.outcome {
    case .removed: return removed(set)
    case .rested: return rested(set)
    case .phase: break
    }
    guard script.outcome != .phase(.waiting), let wanted = entries[set]?.wanted else {
      entries[set]?.phase = .waiting
      return []
    }
    entries[set]?.phase = .lost
    entries[set]?.backOff.fail(at: now)
    switch status.code {
    case .invalidHCICommandParameters where turns.isTooFast(wanted),
      .unsupportedFeatureOrParameterValue where turns.isTooFast(wanted):
      turns.slowDown()
      release(set)
      entries[set]?.backOff.reset()
      return settled()
    case .invalidHCICommandParameters, .unsupportedFeatureOrParameterValue:
      entries[set]?.hopeless = wanted
      turns.remove(set)
    case .memoryCapacityExceeded:
      release(set)
      // The controller sends fewer at once than it said: from now on they share its sets.
      let sets = entries.values.count { $0.handle != nil }
      guard sets > 0 else { return report(set, .failed(AdvertisingTurns.noRoom)) }
      turns.limit(to: sets)
      entries[set]?.backOff.reset()
      return settled()
    default: break
    }
    guard let outcome = entries[set]?.outcome(of: status, hasLinks: hasLinks) else { return [] }
    return report(set, outcome) + settled()
  }

  /// A set has left the controller. It may be wanted again by now.
  private mutating func removed(_ set: AdvertisingSetID) -> [RadioAction] {
    var actions: [RadioAction] = []
    if let handle = entries[set]?.handle { handles.forget(handle) }
    if case .on = entries[set]?.told { actions.append(.advertising(set, .off)) }
    if entries[set]?.wanted == nil {
      entries[set] = nil
    } else {
      release(set)
      entries[set]?.told = .off
    }
    return actions + settled()
  }

  /// A set is off the air until its next turn.
  private mutating func rested(_ set: AdvertisingSetID) -> [RadioAction] {
    release(set)
    let isHeldBack = turns.allowance(of: entries[set]?.wanted).grant == .heldBack
    if isHeldBack, case .on? = entries[set]?.told { return report(set, .off) }
    return []
  }

  private mutating func release(_ set: AdvertisingSetID) {
    entries[set]?.handle = nil
    entries[set]?.phase = .waiting
  }

  /// After a change of the wanted sets: reports the reason for each advertisement that cannot be sent, and the present
  /// intervals.
  private mutating func settled() -> [RadioAction] {
    var actions: [RadioAction] = []
    for (set, entry) in entries {
      guard let wanted = entry.wanted, entry.hopeless == nil else { continue }
      if let problem = capabilities.problem(with: wanted) {
        turns.remove(set)
        actions += report(set, .failed(problem))
      } else if !turns.admit(set, wanted) {
        actions += report(set, .failed(turns.exhausted(wanted)))
      }
    }
    for (set, entry) in entries {
      guard case .on? = entry.told, let wanted = turns.adapted(entry.wanted, of: set) else { continue }
      // Sets that need a new set-up are reported after it.
      if case .on(let current) = entry.phase, current != wanted { continue }
      actions += report(set, onAir(set, wanted))
    }
    return actions
  }

  /// - Parameter parameters: as they are on the air.
  private func onAir(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters) -> AdvertisingStatus {
    .on(
      interval: turns.realInterval(of: set, parameters),
      txPower: parameters.txPower == nil ? nil : entries[set]?.txPower)
  }

  /// True if it shares a set or the controller, and the turn is another's. A set with an end of its own is not
  /// interrupted for others like it.
  private func mustRest(_ set: AdvertisingSetID, _ due: [AdvertisingSetID]) -> Bool {
    guard !due.contains(set), let entry = entries[set] else { return false }
    if turns.allowance(of: entry.wanted).grant != .now { return true }
    if case .on(let parameters) = entry.phase, parameters.endsByItself { return false }
    return turns.isShared(set)
  }

  private mutating func report(_ set: AdvertisingSetID, _ status: AdvertisingStatus) -> [RadioAction] {
    guard entries[set]?.told != status else { return [] }
    entries[set]?.told = status
    return [.advertising(set, status)]
  }
}
