import Adapter
import Bluetooth
import HCI
import Radio

/// Finds the controller over the kernel's management interface, brings it into use, notices its removal, and restores
/// its earlier settings.
///
/// | State       | Input                            | Actions and next state                                          |
/// |-------------|----------------------------------|-----------------------------------------------------------------|
/// | stopped     | `start`                          | `openManagement`: opening                                       |
/// | opening     | opened                           | Read Index List: searching                                      |
/// | searching   | index list, information          | the right one: `findRival`: examining; none: absent             |
/// | examining   | no rival / a rival               | settings one by one: configuring / failed                       |
/// | configuring | every setting was answered       | `openRadio`: opening the radio / failed                         |
/// | configuring | power was refused                | `findBlock`: refused                                            |
/// | refused     | blocked by rfkill, or not        | failed, for the block or the kernel's refusal                   |
/// | openingRadio| opened / not                     | on / failed                                                     |
/// | on          | New Settings without power       | `closeRadio`, `findBlock`: off                                  |
/// | on          | Controller Suspend               | `suspendRadio`: suspended                                       |
/// | suspended   | Controller Resume                | `openRadio`: opening the radio                                  |
/// | on          | Resume, or a Suspend that failed | `closeRadio`, reported suspended, `openRadio`: all ended        |
/// | openingRadio| Controller Suspend               | `closeRadio`: suspended                                         |
/// | configuring | every setting, while suspended   | suspended                                                       |
/// | suspended   | New Settings without power       | as for on                                                       |
/// | on, off, …  | `eventsLost`                     | information is read, with power and removal                     |
/// | on          | the radio failed                 | failed; the next time with a power cycle                        |
/// | openingRadio | New Settings without power       | the same; a request for power is refused                       |
/// | off         | power asked for while it goes off| off; once that was answered: searching                          |
/// | off         | blocked by rfkill                | failed                                                          |
/// | off         | rfkill changed, power is wanted  | `findBlock`                                                     |
/// | blocked     | rfkill changed, `tick`           | `findBlock`; blocked is failed because of rfkill                |
/// | blocked     | still blocked / unblocked        | failed / searching                                              |
/// | off         | New Settings with power, wanted  | searching                                                       |
/// | any         | Index Removed of ours            | `closeRadio`: absent                                            |
/// | absent      | Index Added                      | searching                                                       |
/// | absent      | unconfigured, or no longer       | reported failed, or absent: absent                              |
/// | failed      | `tick`, Index Added, New Settings| searching                                                       |
/// | opening     | not opened                       | reported failed: unmanaged                                      |
/// | unmanaged   | `tick` or power                  | `openManagement`: opening                                       |
/// | any         | `stop`                           | bondable and power as they were: `stopped`                      |
struct LifecycleMachine {
  /// A controller may load its firmware while it is powered on, and answer each of the kernel's thirty commands late.
  static let timeout = Duration.seconds(30)
  /// Timeout while stopping.
  static let stopTimeout = Duration.seconds(2)

  let selector: AdapterSelector
  /// A random static address for a controller without a public one.
  private let spareAddress: UInt64
  /// The pairing settings.
  var pairing = PairingSettings()
  /// The settings of private addresses; nil for the controller's own address.
  var privacy: PrivacySettings?
  private var state = State.stopped
  private var controller: Controller?
  /// The settings found when we first saw the controller.
  private var found: ManagementSettings?
  private var wantsPower = true
  private var script = ManagementScript()
  private(set) var deadline: Instant?
  private var backOff = BackOff(first: .seconds(2), limit: .seconds(10))
  private var isPowerAsked = false
  /// True once the kernel has prepared the controller for the system's sleep.
  private var isSuspended = false
  /// The controller did not respond: its state is unknown until a power cycle.
  private var needsCycle = false

  init(selector: AdapterSelector, spareAddress: UInt64) {
    self.selector = selector
    self.spareAddress = spareAddress
  }

  mutating func handle(_ input: Input, at now: Instant) -> [Action] {
    switch (input, state) {
    case (.start, .stopped):
      state = .opening
      return [.state(.starting), .openManagement]
    case (.managementOpened, .opening): return search(at: now)
    case (.managementFailed(let problem), _): return fail(problem, to: .unmanaged, at: now)
    case (.packet(let packet), _): return receive(packet, at: now)
    case (.rival(nil, let bonds), .examining): return configure(bonds, at: now)
    case (.rival(let problem?, _), .examining): return fail(problem, at: now)
    case (.radioFailed(let problem), .openingRadio), (.radioFailed(let problem), .on):
      needsCycle = problem.kind == .hardware
      return fail(problem, at: now)
    case (.blocked(let block), .refused(let problem)): return fail(block ?? problem, at: now)
    case (.blocked(let block?), .off) where wantsPower: return fail(block, at: now)
    case (.blocked(let block?), .failed(.blocked)): return fail(block, at: now)
    case (.blocked(nil), .failed(.blocked)): return search(at: now)
    case (.rfkillChanged, .failed(.blocked)): return [.findBlock]
    case (.rfkillChanged, .off) where wantsPower: return [.findBlock]
    case (.radioOpened, .openingRadio):
      state = .on
      deadline = nil
      backOff.reset()
      return wantsPower ? [.state(.on)] + powerDone(nil) : setPower(false, at: now)
    case (.setPower(let isOn), _): return setPower(isOn, at: now)
    case (.eventsLost, _): return check(at: now)
    case (.unconfigured(let problem), .absent): return [.state(problem.map { .failed($0) } ?? .absent)]
    case (.tick, _): return tick(at: now)
    case (.stop(let needsCycle), _): return stop(needsCycle: needsCycle, at: now)
    default: return []
    }
  }

  // MARK: - Finding the controller

  private mutating func search(at now: Instant) -> [Action] {
    controller = nil
    state = .searching(remaining: [])
    return [send(ManagementPacket(ReadIndexList()), at: now)]
  }

  private mutating func examineNext(_ remaining: [ControllerIndex], at now: Instant) -> [Action] {
    guard let next = remaining.first else {
      state = .absent
      deadline = nil
      return [.state(.absent)] + powerDone(GAPError.adapterAbsent.error("there is no adapter \(selector)"))
    }
    state = .searching(remaining: Array(remaining.dropFirst()))
    return [send(ManagementPacket(ReadControllerInformation(), index: next), at: now)]
  }

  private mutating func found(_ information: ControllerInformation, _ index: ControllerIndex, at now: Instant)
    -> [Action]
  {
    controller = Controller(index: index, information: information)
    if found == nil { found = information.current }
    guard information.supported.contains(.lowEnergy) else {
      let problem = AdapterProblem(
        kind: .unsupported, message: "\(index.name) has no Bluetooth LE", remedy: "choose another adapter")
      return [.identity(index, information)] + fail(problem, at: now)
    }
    state = .examining
    deadline = nil
    return [.identity(index, information), .findRival]
  }

  // MARK: - Bringing it into use

  private mutating func configure(_ bonds: [Bond], at now: Instant) -> [Action] {
    guard let controller else { return [] }
    let information = controller.information
    guard wantsPower || information.current.contains(.powered) else {
      state = .off
      return [.state(.off)] + powerDone(nil)
    }
    script.rest = ControllerSettings.script(
      for: controller.index, information, spareAddress: spareAddress, pairing: pairing, bonds: bonds,
      identityResolvingKey: privacy?.identityResolvingKey(of: information.address(orSpare: spareAddress)),
      needsCycle: needsCycle)
    needsCycle = false
    state = .configuring
    // A retry is quiet: the reported problem stands until it is solved.
    return (backOff.failures == 0 ? [.state(.starting)] : []) + nextInScript(at: now)
  }

  private mutating func nextInScript(at now: Instant) -> [Action] {
    guard script.rest.isEmpty else { return [send(script.rest.removeFirst(), at: now)] }
    deadline = nil
    if state == .stopping {
      state = .stopped
      return [.stopped]
    }
    guard state == .configuring else { return [] }
    guard !isSuspended else {
      state = .suspended
      return [.state(.suspended)] + powerDone(nil)
    }
    return openRadio()
  }

  private mutating func openRadio() -> [Action] {
    guard let controller else { return [] }
    state = .openingRadio
    return [.openRadio(controller.index, address: controller.information.address(orSpare: spareAddress))]
  }

  private mutating func setPower(_ isOn: Bool, at now: Instant) -> [Action] {
    wantsPower = isOn
    isPowerAsked = true
    switch state {
    case .on where !isOn, .suspended where !isOn:
      guard let index = controller?.index else { return [] }
      state = .off
      return [.closeRadio(Self.off), .state(.off), send(ManagementPacket(SetPowered(value: 0), index: index), at: now)]
    // Reports of the controller before it is off would soon be wrong.
    case .off where isOn: return !script.isBusy ? search(at: now) : []
    case .on, .off, .suspended: return powerDone(nil)
    case .absent, .stopped, .stopping, .opening:
      return powerDone(GAPError.adapterAbsent.error("there is no adapter \(selector)"))
    // No request can be sent to the kernel; its lack of Bluetooth may have ended.
    case .unmanaged:
      state = .opening
      return [.openManagement]
    case .failed: return search(at: now)
    case .searching, .examining, .configuring, .refused, .openingRadio: return []
    }
  }

  private mutating func powerDone(_ error: BluetoothError?) -> [Action] {
    guard isPowerAsked else { return [] }
    isPowerAsked = false
    return [.powerDone(error)]
  }

  // MARK: - Sleep

  /// The kernel has switched off scan, advertising and links, because the system goes to sleep.
  private mutating func suspend() -> [Action] {
    isSuspended = true
    guard state == .on || state == .openingRadio else { return [] }
    let wasOn = state == .on
    state = .suspended
    return [wasOn ? .suspendRadio : .closeRadio(Self.suspended), .state(.suspended)] + powerDone(nil)
  }

  private mutating func resume() -> [Action] {
    isSuspended = false
    guard state == .on || state == .suspended else { return [] }
    // An unnoticed sleep is reported like a noticed one: the trains and advertisements of sessions have ended.
    return (state == .on ? [.closeRadio(Self.suspended), .state(.suspended)] : []) + openRadio()
  }

  /// Recovers the contents of events that were lost.
  private mutating func check(at now: Instant) -> [Action] {
    guard !script.isBusy else { return [] }
    switch state {
    case .absent: return search(at: now)
    case .on, .off, .suspended:
      guard let index = controller?.index else { return [] }
      return [send(ManagementPacket(ReadControllerInformation(), index: index), at: now)]
    default: return []
    }
  }

  // MARK: - Events

  private mutating func receive(_ packet: ManagementPacket, at now: Instant) -> [Action] {
    let event: ManagementEvent
    do { event = try ManagementEvent(decoding: packet) } catch {
      return [.log("an mgmt event could not be decoded: \(error)")]
    }
    if let answer = script.receive(event) {
      deadline = nil
      return answered(answer, packet.index, at: now)
    }
    switch event {
    case .indexAdded:
      let told = [Action.controllers([packet.index])]
      switch state {
      case .absent: return told + search(at: now)
      case .failed where !script.isBusy: return told + search(at: now)
      default: return told
      }
    case .indexRemoved where packet.index == controller?.index: return removed()
    case .newSettings(let new) where packet.index == controller?.index: return settingsChanged(new.settings, at: now)
    // 0: the controller could not be suspended, and was resumed.
    case .controllerSuspend(let event) where packet.index == controller?.index:
      return event.state == 0 ? resume() : suspend()
    case .controllerResume where packet.index == controller?.index: return resume()
    default: return []
    }
  }

  private mutating func removed() -> [Action] {
    guard state != .stopped, state != .stopping else { return [] }
    controller = nil
    found = nil
    script.giveUp()
    deadline = nil
    isSuspended = false
    state = .absent
    let absent = GAPError.adapterAbsent.error("the adapter \(selector) is gone")
    return [.closeRadio(absent), .state(.absent)] + powerDone(absent)
  }

  private mutating func settingsChanged(_ settings: ManagementSettings, at now: Instant) -> [Action] {
    if !settings.contains(.powered) { isSuspended = false }
    switch state {
    case .on where !settings.contains(.powered), .openingRadio where !settings.contains(.powered),
      .suspended where !settings.contains(.powered):
      state = .off
      let answer = powerDone(wantsPower ? Self.off : nil)
      return [.closeRadio(Self.off), .state(.off)] + (wantsPower ? [.findBlock] : []) + answer
    case .off where settings.contains(.powered) && !script.isBusy:
      wantsPower = true
      return search(at: now)
    case .failed where !script.isBusy && settings.contains(.powered): return search(at: now)
    default: return []
    }
  }

  private mutating func answered(
    _ answer: ManagementScript.Answer, _ index: ControllerIndex, at now: Instant
  ) -> [Action] {
    let (status, octets) = (answer.status, answer.octets)
    switch (answer.opcode, state) {
    case (ReadIndexList.opcode, .searching):
      guard status == .success, let list = try? ControllerIndexList(decoding: octets) else {
        return fail(problem(status, "list the adapters"), at: now)
      }
      let told = [Action.controllers(list.indexes)]
      if case .index(let number) = selector {
        return told + examineNext(list.indexes.filter { $0.rawValue == number }, at: now)
      }
      return told + examineNext(list.indexes.sorted { $0.rawValue < $1.rawValue }, at: now)
    case (ReadControllerInformation.opcode, .searching(let remaining)):
      guard status == .success, let information = try? ControllerInformation(decoding: octets) else {
        return examineNext(remaining, at: now)
      }
      if case .address(let address) = selector, information.address != address.value {
        return examineNext(remaining, at: now)
      }
      return found(information, index, at: now)
    case (ReadControllerInformation.opcode, .on), (ReadControllerInformation.opcode, .suspended),
      (ReadControllerInformation.opcode, .off):
      guard status == .success, let information = try? ControllerInformation(decoding: octets) else { return removed() }
      return settingsChanged(information.current, at: now)
    case (SetPowered.opcode, .off):
      if wantsPower { return search(at: now) }
      return powerDone(status == .success ? nil : Self.failed(problem(status, "switch off")))
    case (_, .configuring):
      // Only two of the settings are indispensable.
      let isPower = answer.opcode == SetPowered.opcode
      let isNeeded = isPower || [SetStaticAddress.opcode, SetLowEnergy.opcode].contains(answer.opcode)
      guard status == .success || (!isNeeded && status != .permissionDenied) else {
        let problem = problem(status, isPower ? "be switched on" : "be set up")
        guard isPower, status != .permissionDenied else { return fail(problem, at: now) }
        // Not every kernel reports a block as the reason.
        state = .refused(problem)
        return [.findBlock]
      }
      return nextInScript(at: now)
    case (_, .stopping): return nextInScript(at: now)
    default: return []
    }
  }

  private mutating func tick(at now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    self.deadline = nil
    script.giveUp()
    switch state {
    case .unmanaged:
      state = .opening
      return [.openManagement]
    case .failed(.blocked): return [.findBlock]
    case .failed: return search(at: now)
    case .stopping: return nextInScript(at: now)
    case .on, .suspended: return []
    case .off where wantsPower: return search(at: now)
    case .off: return powerDone(Self.failed(problem(.failed, "switch off")))
    default: return fail(problem(.failed, "answer"), at: now)
    }
  }

  private mutating func send(_ packet: ManagementPacket, at now: Instant) -> Action {
    script.sent(packet)
    deadline = now.advanced(by: state == .stopping ? Self.stopTimeout : Self.timeout)
    return .send(packet)
  }

  // MARK: - Failure and end

  private mutating func fail(
    _ problem: AdapterProblem, to failed: State? = nil, at now: Instant
  ) -> [Action] {
    guard state != .stopped, state != .stopping else { return [] }
    let wasOn = state == .on
    state = failed ?? .failed(problem.kind)
    script.clear()
    backOff.fail(at: now)
    deadline = backOff.notBefore
    let error = Self.failed(problem)
    return (wasOn ? [.closeRadio(error)] : []) + [.state(.failed(problem))] + powerDone(error)
  }

  private mutating func stop(needsCycle: Bool, at now: Instant) -> [Action] {
    guard state != .stopped, state != .stopping else { return state == .stopped ? [.stopped] : [] }
    let wasInUse = [.on, .suspended, .openingRadio, .configuring].contains(state)
    state = .stopping
    script.clear()
    if wasInUse, let index = controller?.index, let found {
      script.rest = ControllerSettings.restoringScript(
        for: index, found, acceptedPairing: pairing.acceptsDevices, wasPrivate: privacy != nil, needsCycle: needsCycle)
    }
    return nextInScript(at: now)
  }

  private func problem(_ status: ManagementStatus, _ what: String) -> AdapterProblem {
    Self.problem(status, controller?.index.name ?? "\(selector)", what)
  }
}
