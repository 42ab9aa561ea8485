import Adapter
import Bluetooth
import HCI

/// Finds the controller over the kernel's management interface, brings it into use, notices when it goes, and leaves it as it was
/// found.
///
/// | State       | Input                            | Actions and next state                                          |
/// |-------------|----------------------------------|-----------------------------------------------------------------|
/// | stopped     | `start`                          | `openManagement`: opening                                       |
/// | opening     | opened / not                     | Read Index List: searching / failed                             |
/// | searching   | index list, information          | the right one: `findRival`: examining; none: absent             |
/// | examining   | no rival / a rival               | settings one by one: configuring / failed                       |
/// | configuring | every setting was answered       | `openRadio`: opening the radio / failed                         |
/// | openingRadio| opened / not                     | on / failed                                                     |
/// | on          | New Settings without power       | `closeRadio`, `findBlock`: off                                  |
/// | on          | the radio failed                 | failed; the next time with a power cycle                        |
/// | openingRadio| New Settings without power       | the same; who asked for power is refused                        |
/// | off         | power asked for while it goes off| off; once that was answered: searching                          |
/// | off         | blocked by rfkill                | failed                                                          |
/// | failed, off | rfkill changed                   | searching if that was the problem, else `findBlock`             |
/// | off         | New Settings with power, wish    | searching                                                       |
/// | any         | Index Removed of ours            | `closeRadio`: absent                                            |
/// | absent      | Index Added                      | searching                                                       |
/// | failed      | `tick`, Index Added, New Settings| searching                                                       |
/// | any         | `stop`                           | bondable and power as they were: `stopped`                      |
struct LifecycleMachine {
  enum Input: Hashable {
    case start
    case managementOpened
    case managementFailed(AdapterProblem)
    case packet(ManagementPacket)
    /// Nobody else works on the controller, or the problem that somebody does.
    case rival(AdapterProblem?)
    case radioOpened
    case radioFailed(AdapterProblem)
    case setPower(Bool)
    /// Somebody blocked or unblocked a radio of this machine.
    case rfkillChanged
    /// The controller is blocked.
    case blocked(AdapterProblem)
    case tick
    /// The radio is closed. `needsCycle`: the kernel's discovery has to be cleaned by a power cycle.
    case stop(needsCycle: Bool)
  }

  enum Action: Hashable {
    case openManagement
    case send(ManagementPacket)
    case findRival
    /// Find out whether rfkill blocks the controller.
    case findBlock
    case openRadio(ControllerIndex, address: DeviceAddress)
    /// Ends links, scan and advertising; the error is what links end with.
    case closeRadio(BluetoothError)
    case state(AdapterState)
    case identity(ControllerIndex, ControllerInformation)
    case powerDone(BluetoothError?)
    case stopped
    case log(String)
  }

  private enum State: Hashable {
    case stopped
    case opening
    case searching(remaining: [ControllerIndex])
    case examining
    case configuring
    case openingRadio
    case on
    case off
    case absent
    case failed
    case stopping
  }

  /// A controller may load its firmware while it is powered on.
  static let patience = Duration.seconds(15)
  /// While stopping nobody waits for long.
  static let stopPatience = Duration.seconds(2)

  let selector: AdapterSelector
  /// A random static address for a controller that has no public one.
  private let spareAddress: UInt64
  private var state = State.stopped
  private var index: ControllerIndex?
  private var information: ControllerInformation?
  /// The settings as they were when we first saw the controller.
  private var found: ManagementSettings?
  private var wantsPower = true
  /// The command that waits for its answer, and those behind it.
  private var outstanding: UInt16?
  private var script: [ManagementPacket] = []
  private(set) var deadline: Instant?
  private var backOff = BackOff(first: .seconds(2), limit: .seconds(10))
  private var isPowerAsked = false
  private var isManagementOpen = false
  /// The controller gave no answers: what it does is not known, until it has been without power.
  private var needsCycle = false
  /// What keeps the adapter from working.
  private var lastProblem: AdapterProblem.Kind?

  init(selector: AdapterSelector, spareAddress: UInt64) {
    self.selector = selector
    self.spareAddress = spareAddress
  }

  mutating func handle(_ input: Input, at now: Instant) -> [Action] {
    switch (input, state) {
    case (.start, .stopped):
      state = .opening
      return [.state(.starting), .openManagement]
    case (.managementOpened, .opening):
      isManagementOpen = true
      return search(at: now)
    case (.managementFailed(let problem), _):
      isManagementOpen = false
      return fail(problem, at: now)
    case (.packet(let packet), _): return take(packet, at: now)
    case (.rival(nil), .examining): return configure(at: now)
    case (.rival(let problem?), .examining): return fail(problem, at: now)
    case (.radioFailed(let problem), .openingRadio), (.radioFailed(let problem), .on):
      needsCycle = problem.kind == .hardware
      return fail(problem, at: now)
    case (.blocked(let problem), .off) where wantsPower: return fail(problem, at: now)
    case (.rfkillChanged, .failed) where lastProblem == .blocked && outstanding == nil: return search(at: now)
    case (.rfkillChanged, .off) where wantsPower: return [.findBlock]
    case (.radioOpened, .openingRadio):
      state = .on
      deadline = nil
      lastProblem = nil
      backOff.reset()
      return wantsPower ? [.state(.on)] + powerDone(nil) : setPower(false, at: now)
    case (.setPower(let isOn), _): return setPower(isOn, at: now)
    case (.tick, _): return tick(at: now)
    case (.stop(let needsCycle), _): return stop(needsCycle: needsCycle, at: now)
    default: return []
    }
  }

  // MARK: - Finding the controller

  private mutating func search(at now: Instant) -> [Action] {
    index = nil
    information = nil
    state = .searching(remaining: [])
    return [send(ManagementPacket(ReadIndexList()), at: now)]
  }

  private mutating func examineNext(_ remaining: [ControllerIndex], at now: Instant) -> [Action] {
    guard let next = remaining.first else {
      state = .absent
      deadline = nil
      return [.state(.absent)] + powerDone(GAPError.adapterAbsent.error("There is no adapter \(selector)."))
    }
    state = .searching(remaining: Array(remaining.dropFirst()))
    return [send(ManagementPacket(ReadControllerInformation(), index: next), at: now)]
  }

  private mutating func found(_ information: ControllerInformation, _ index: ControllerIndex, at now: Instant)
    -> [Action]
  {
    self.index = index
    self.information = information
    if found == nil { found = information.current }
    guard information.supported.contains(.lowEnergy) else {
      let problem = AdapterProblem(
        kind: .unsupported, message: "\(index.name) has no Bluetooth LE.", remedy: "Choose another adapter.")
      return [.identity(index, information)] + fail(problem, at: now)
    }
    state = .examining
    deadline = nil
    return [.identity(index, information), .findRival]
  }

  // MARK: - Bringing it into use

  private mutating func configure(at now: Instant) -> [Action] {
    guard let index, let information else { return [] }
    let current = information.current
    guard wantsPower || current.contains(.powered) else {
      state = .off
      return [.state(.off)] + powerDone(nil)
    }
    script = []
    func add(_ command: some ManagementCommand) { script.append(ManagementPacket(command, index: index)) }
    let isCycled = needsCycle && current.contains(.powered)
    needsCycle = false
    if isCycled, information.address != 0 { add(SetPowered(value: 0)) }
    if information.address == 0 {
      if current.contains(.powered) { add(SetPowered(value: 0)) }
      add(SetStaticAddress(address: spareAddress))
    }
    if current.contains(.advertising) { add(SetAdvertising(value: 0)) }
    if !current.contains(.lowEnergy) { add(SetLowEnergy(value: 1)) }
    if !current.contains(.secureConnections), information.supported.contains(.secureConnections) {
      add(SetSecureConnections(mode: 1))
    }
    add(SetIOCapability(capability: 3))
    if !current.contains(.bondable) { add(SetBondable(value: 1)) }
    if !current.contains(.powered) || information.address == 0 || isCycled { add(SetPowered(value: 1)) }
    state = .configuring
    // A retry is quiet: the problem stays told until it is gone.
    return (backOff.failures == 0 ? [.state(.starting)] : []) + nextInScript(at: now)
  }

  private mutating func nextInScript(at now: Instant) -> [Action] {
    guard script.isEmpty else { return [send(script.removeFirst(), at: now)] }
    deadline = nil
    if state == .stopping {
      state = .stopped
      return [.stopped]
    }
    guard state == .configuring, let index, let information else { return [] }
    state = .openingRadio
    let address =
      information.address == 0
      ? DeviceAddress(value: spareAddress, kind: .random) : DeviceAddress(value: information.address, kind: .public)
    return [.openRadio(index, address: address)]
  }

  private mutating func setPower(_ isOn: Bool, at now: Instant) -> [Action] {
    wantsPower = isOn
    isPowerAsked = true
    switch state {
    case .on where !isOn:
      guard let index else { return [] }
      state = .off
      return [.closeRadio(Self.off), .state(.off), send(ManagementPacket(SetPowered(value: 0), index: index), at: now)]
    // What the controller says before it is off would soon be wrong.
    case .off where isOn: return outstanding == nil ? search(at: now) : []
    case .on, .off: return powerDone(nil)
    case .absent, .stopped, .stopping, .opening:
      return powerDone(GAPError.adapterAbsent.error("There is no adapter \(selector)."))
    case .failed: return search(at: now)
    case .searching, .examining, .configuring, .openingRadio: return []
    }
  }

  private mutating func powerDone(_ error: BluetoothError?) -> [Action] {
    guard isPowerAsked else { return [] }
    isPowerAsked = false
    return [.powerDone(error)]
  }

  // MARK: - Events

  private mutating func take(_ packet: ManagementPacket, at now: Instant) -> [Action] {
    let event: ManagementEvent
    do { event = try ManagementEvent(decoding: packet) } catch {
      return [.log("an mgmt event cannot be read: \(error)")]
    }
    switch event {
    case .commandComplete(let complete) where complete.opcode == outstanding:
      outstanding = nil
      deadline = nil
      return answered(complete.opcode, complete.status, complete.returnParameters, packet.index, at: now)
    case .commandStatus(let status) where status.opcode == outstanding:
      outstanding = nil
      deadline = nil
      return answered(status.opcode, status.status, [], packet.index, at: now)
    case .indexAdded:
      switch state {
      case .absent: return search(at: now)
      case .failed where outstanding == nil: return search(at: now)
      default: return []
      }
    case .indexRemoved where packet.index == index:
      guard state != .stopped, state != .stopping else { return [] }
      index = nil
      found = nil
      outstanding = nil
      deadline = nil
      state = .absent
      let absent = GAPError.adapterAbsent.error("The adapter \(selector) is gone.")
      return [.closeRadio(absent), .state(.absent)] + powerDone(absent)
    case .newSettings(let new) where packet.index == index: return settingsChanged(new.settings, at: now)
    default: return []
    }
  }

  private mutating func settingsChanged(_ settings: ManagementSettings, at now: Instant) -> [Action] {
    switch state {
    case .on where !settings.contains(.powered), .openingRadio where !settings.contains(.powered):
      state = .off
      let answer = powerDone(wantsPower ? Self.off : nil)
      return [.closeRadio(Self.off), .state(.off)] + (wantsPower ? [.findBlock] : []) + answer
    case .off where settings.contains(.powered) && outstanding == nil:
      wantsPower = true
      return search(at: now)
    case .failed where outstanding == nil && settings.contains(.powered): return search(at: now)
    default: return []
    }
  }

  private mutating func answered(
    _ opcode: UInt16, _ status: ManagementStatus, _ octets: [UInt8], _ index: ControllerIndex, at now: Instant
  ) -> [Action] {
    switch (opcode, state) {
    case (ReadIndexList.opcode, .searching):
      guard status == .success, let list = try? ControllerIndexList(decoding: octets) else {
        return fail(problem(status, "list the adapters"), at: now)
      }
      if case .index(let number) = selector {
        return examineNext(list.indexes.filter { $0.rawValue == number }, at: now)
      }
      return examineNext(list.indexes.sorted { $0.rawValue < $1.rawValue }, at: now)
    case (ReadControllerInformation.opcode, .searching(let remaining)):
      guard status == .success, let information = try? ControllerInformation(decoding: octets) else {
        return examineNext(remaining, at: now)
      }
      if case .address(let address) = selector, information.address != address.value {
        return examineNext(remaining, at: now)
      }
      return found(information, index, at: now)
    case (SetPowered.opcode, .off):
      if wantsPower { return search(at: now) }
      return powerDone(status == .success ? nil : Self.failed(problem(status, "switch off")))
    case (_, .configuring):
      // Only two of the settings are indispensable.
      let isNeeded = opcode == SetPowered.opcode || opcode == SetStaticAddress.opcode || opcode == SetLowEnergy.opcode
      guard status == .success || (!isNeeded && status != .permissionDenied) else {
        return fail(problem(status, opcode == SetPowered.opcode ? "be switched on" : "be set up"), at: now)
      }
      return nextInScript(at: now)
    case (_, .stopping): return nextInScript(at: now)
    default: return []
    }
  }

  private mutating func tick(at now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    self.deadline = nil
    outstanding = nil
    switch state {
    case .failed:
      guard isManagementOpen else {
        state = .opening
        return [.openManagement]
      }
      return search(at: now)
    case .stopping: return nextInScript(at: now)
    case .off where wantsPower: return search(at: now)
    case .off: return powerDone(Self.failed(problem(.failed, "switch off")))
    default: return fail(problem(.failed, "answer"), at: now)
    }
  }

  private mutating func send(_ packet: ManagementPacket, at now: Instant) -> Action {
    outstanding = packet.code
    deadline = now.advanced(by: state == .stopping ? Self.stopPatience : Self.patience)
    return .send(packet)
  }

  // MARK: - Failure and end

  private mutating func fail(_ problem: AdapterProblem, at now: Instant) -> [Action] {
    guard state != .stopped, state != .stopping else { return [] }
    let wasOn = state == .on
    state = .failed
    lastProblem = problem.kind
    script = []
    outstanding = nil
    backOff.fail(at: now)
    deadline = backOff.notBefore
    let error = Self.failed(problem)
    return (wasOn ? [.closeRadio(error)] : []) + [.state(.failed(problem))] + powerDone(error)
  }

  private mutating func stop(needsCycle: Bool, at now: Instant) -> [Action] {
    guard state != .stopped, state != .stopping else { return state == .stopped ? [.stopped] : [] }
    let wasInUse = state == .on || state == .openingRadio || state == .configuring
    state = .stopping
    script = []
    outstanding = nil
    if wasInUse, let index, let found {
      func add(_ command: some ManagementCommand) { script.append(ManagementPacket(command, index: index)) }
      if !found.contains(.bondable) { add(SetBondable(value: 0)) }
      if needsCycle || !found.contains(.powered) { add(SetPowered(value: 0)) }
      if needsCycle, found.contains(.powered) { add(SetPowered(value: 1)) }
    }
    return nextInScript(at: now)
  }

  private func problem(_ status: ManagementStatus, _ what: String) -> AdapterProblem {
    let name = index?.name ?? "\(selector)"
    switch status {
    case .permissionDenied:
      return AdapterProblem(
        kind: .permission, message: "bled may not set up \(name): it lacks the capability CAP_NET_ADMIN.",
        remedy: "Start it through its systemd unit, as root, or with CAP_NET_ADMIN and CAP_NET_RAW.")
    case .rfkilled:
      return AdapterProblem(
        kind: .blocked, message: "\(name) is blocked by rfkill.",
        remedy: "Run `rfkill unblock bluetooth`; `rfkill list` tells whether a switch of the machine blocks it.")
    default:
      return AdapterProblem(
        kind: .hardware, message: "\(name) could not \(what) (mgmt status \(status.rawValue)).",
        remedy: "Plug it out and in, or look into the kernel's log with `dmesg`.")
    }
  }

  private static let off = GAPError.adapterOff.error("The adapter was switched off.")

  private static func failed(_ problem: AdapterProblem) -> BluetoothError {
    GAPError.adapterFailed.error("\(problem.message) \(problem.remedy)")
  }
}
