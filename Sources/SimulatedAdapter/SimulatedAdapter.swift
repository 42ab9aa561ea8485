import Adapter
import Bluetooth
import Logging

// State      Leaves it
// absent     `start` with the controller there → starting, or off, or failed
// off        power is wanted → starting
// starting   `startDelay` has passed → on
// on         power is switched off → off, the controller vanishes → absent or fails → failed
// failed     `comeBack`
//
// Calls only record the wanted state; `settle`, which the scheduler calls, executes and reports it.

/// An adapter that exists in memory, on an `Air` with the devices and phones of a scenario.
///
/// The adapter keeps the rules of `Adapter`: in virtual time a test sees the same as a daemon in real time.
public final class SimulatedAdapter: Adapter {
  /// The identity and the features of this adapter.
  public internal(set) var information: AdapterInformation
  /// Whether it works.
  public internal(set) var state = AdapterState.absent
  /// Called with each event.
  public var onEvent: ((AdapterEvent) -> Void)?

  let scheduler: any Scheduler
  let air: Air
  let logger: Logger
  let description: AdapterDescription
  private let scenario: Scenario

  // The requests of the owner, and the state of the outside.
  private var isStarted = false
  private var isPowered = true
  private var isPresent = true
  private var problem: AdapterProblem?
  private var powerWaiters: [(isOn: Bool, done: (BluetoothError?) -> Void)] = []
  private var stopWaiters: [() -> Void] = []
  private var hasPopulated = false

  // The actual state.
  private var startAlarm: (any ScheduledWork)?
  private var settling: (any ScheduledWork)?
  var end: SimulatedLink.End
  var links: [SimulatedLink] = []
  var scan = SimulatedScan()
  /// Whether it listens, as last reported to the air.
  var wasListening = false
  var advertisements: [AdvertisingSetID: SimulatedAdvertisement] = [:]
  var rotation = AdvertisingRotation(sets: 0)
  /// Rings when a turn on a shared set is over.
  var turnAlarm: (any ScheduledWork)?
  /// The trains that are wanted.
  var syncs: [PeriodicTrain: SimulatedSync] = [:]
  var pendingConnections: [DeviceAddress: PendingConnection] = [:]
  let pairing: AdapterPairing
  /// The taps that are told of packets.
  var taps = SimulatedTaps()
  /// The listeners for channels.
  var publishedChannels: [UInt16: ChannelParameters] = [:]

  /// Makes an adapter; it does nothing before `start`.
  /// - Parameters:
  ///   - id: the name by which users choose it.
  ///   - scenario: the devices on its air; see `docs/simulator.md`.
  ///   - scheduler: the source of all time.
  ///   - seed: the source of all random numbers: the same seed and the same calls give the same events.
  ///   - air: where it is, if several adapters are to hear each other; nil for an air of its own. The scenario's
  ///     devices are added to the present ones.
  public init(
    id: String, scenario: Scenario, scheduler: any Scheduler, seed: UInt64,
    logger: Logger = Logger(label: "bled.simulated"), air: Air? = nil
  ) {
    self.scheduler = scheduler
    self.scenario = scenario
    self.logger = logger
    self.air = air ?? Air(scheduler: scheduler, seed: seed)
    description = scenario.adapter
    information = AdapterInformation(id: id, kind: "simulated")
    let address = scenario.adapter.address ?? Self.address(for: id)
    pairing = AdapterPairing(identity: address, generator: self.air.generator(Stream.pairing.of(address)))
    end = SimulatedLink.End(
      address: address, maximumMTU: scenario.adapter.mtu,
      signal: Signal(SignalDescription(), generator: self.air.generator(Stream.signal.of(address))), party: pairing,
      radio: scenario.adapter.radio)
    pairing.onEvent = { [weak self] address, event in self?.onEvent?(.pairing(address, event)) }
  }

  /// The company identifier of the Linux Foundation, as there is no maker.
  private static let company: UInt16 = 0x05F1
  /// Core 5.4, the version that the simulated controller follows.
  private static let version: UInt8 = 13

  /// An address derived from the name: public and locally administered.
  private static func address(for id: String) -> DeviceAddress {
    let hash = id.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return DeviceAddress(value: 0x0200_0000_0000 | hash & 0xFF_FFFF_FFFF, kind: .public)
  }

  // MARK: - Life

  /// Brings the adapter into use.
  public func start() {
    isStarted = true
    settleSoon()
  }

  /// Ends everything and calls back once.
  public func stop(_ done: @escaping () -> Void) {
    isStarted = false
    stopWaiters.append(done)
    settleSoon()
  }

  /// Switches the power.
  public func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    isPowered = on
    powerWaiters.append((on, done))
    settleSoon()
  }

  /// Pulls the adapter out, as if it were unplugged.
  public func vanish() {
    isPresent = false
    settleSoon()
  }

  /// Plugs the adapter in again, or repairs it.
  public func comeBack() {
    isPresent = true
    problem = nil
    settleSoon()
  }

  /// Makes the adapter unusable until `comeBack`.
  public func fail(_ problem: AdapterProblem) {
    self.problem = problem
    settleSoon()
  }

  // MARK: - Wanted becomes actual

  /// Schedules a call of `settle`, not from inside this call.
  func settleSoon() {
    guard settling == nil else { return }
    settling = scheduler.schedule(after: .zero) { [weak self] in
      self?.settling = nil
      self?.settle()
    }
  }

  /// With a clock that stands still it would never be on before a test moves it.
  private var usualStartDelay: Duration { scenario.clock == .manual ? .zero : .milliseconds(20) }

  private var wantedState: AdapterState {
    guard isStarted, isPresent else { return .absent }
    if let problem { return .failed(problem) }
    return isPowered ? .on : .off
  }

  private func settle() {
    if isStarted { populate() }
    let wanted = wantedState
    if wanted != .on, state != wanted {
      startAlarm?.cancel()
      startAlarm = nil
      if state == .on { endEverything() }
      change(to: wanted)
    } else if wanted == .on, state != .on, state != .starting {
      change(to: .starting)
      startAlarm = scheduler.schedule(after: description.startDelay ?? usualStartDelay) { [weak self] in
        self?.startAlarm = nil
        self?.comeOn()
      }
    }
    settleActivities()
    answerWaiters()
  }

  private func comeOn() {
    information.address = end.address
    information.name = "simulated"
    information.company = Self.company
    information.version = Self.version
    information.phys = description.radio.phys
    information.longestPacket = description.radio.longestPacket
    information.maximumAdvertisingSets = description.advertisingSets
    information.maximumAdvertisingDataLength = description.advertisingDataLength
    information.hasExtendedAdvertising = description.advertisingDataLength > 31
    information.hasPeriodicAdvertising = information.hasExtendedAdvertising
    information.canSynchronise = information.hasExtendedAdvertising
    change(to: .on)
    settleActivities()
    answerWaiters()
  }

  private func change(to state: AdapterState) {
    let wasOn = self.state == .on
    self.state = state
    if wasOn || state == .on { tappedState() }
    logger.debug("state", metadata: ["adapter": "\(information.id)", "state": "\(state.condition)"])
    onEvent?(.stateChanged)
  }

  private func settleActivities() {
    settleScan()
    settleAdvertising()
    settleConnecting()
  }

  /// Links, scan and advertising end before the state is reported.
  private func endEverything() {
    let isSwitchedOff = isPresent && problem == nil
    for link in links {
      if isSwitchedOff {
        link.switchOff(HCIReason.connectionTerminatedByLocalHost.error)
      } else {
        link.vanish(HCIReason.hardwareFailure.error)
      }
    }
    endScan()
    endAdvertising()
    endSyncs()
    endConnecting()
  }

  private func answerWaiters() {
    let waiters = powerWaiters
    powerWaiters = []
    for waiter in waiters {
      switch state {
      case .on where waiter.isOn, .off where !waiter.isOn: waiter.done(nil)
      case .starting where waiter.isOn: powerWaiters.append(waiter)
      case .absent: waiter.done(GAPError.adapterAbsent.error("the adapter is not present: plug it in"))
      case .failed(let problem): waiter.done(GAPError.adapterFailed.error("\(problem.message) \(problem.remedy)"))
      case .on, .off, .starting, .suspended:
        waiter.done(GAPError.cancelled.error("the adapter's power was switched the other way in the meantime"))
      }
    }
    guard !isStarted else { return }
    air.remove(self)
    let stopped = stopWaiters
    stopWaiters = []
    for done in stopped { done() }
  }

  // MARK: - The scenario

  /// Joins the air with everything the scenario puts on it, once.
  private func populate() {
    air.add(self)
    guard !hasPopulated else { return }
    hasPopulated = true
    air.populate(scenario)
    for event in scenario.events {
      scheduler.schedule(after: event.time) { [weak self] in self?.happen(event) }
    }
  }

  private func happen(_ event: ScenarioEvent) {
    switch (event.action, event.device) {
    case (.vanish, nil): vanish()
    case (.comeBack, nil): comeBack()
    case (.vanish, let device?): air.setPresent(false, device: device)
    case (.comeBack, let device?): air.setPresent(true, device: device)
    case (.loseKeys, let device?): air.loseKeys(device: device)
    case (.loseKeys, nil): break
    case (.powerOff, _): setPower(false) { _ in }
    case (.powerOn, _): setPower(true) { _ in }
    }
  }
}
