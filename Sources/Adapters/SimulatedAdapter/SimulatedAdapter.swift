import Adapter
import Bluetooth
import Logging
import Scenarios

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
  /// The state of the adapter.
  public internal(set) var state = AdapterState.absent
  /// Called with each event.
  public var onEvent: ((AdapterEvent) -> Void)?

  let scheduler: any Scheduler
  let air: Air
  let logger: Logger
  let description: AdapterDescription
  private let scenario: Scenario

  private var power = SimulatedPower()
  private var hasPopulated = false
  private var startAlarm: (any ScheduledWork)?
  private var settling: (any ScheduledWork)?
  let end: SimulatedLink.End
  private(set) var links: [SimulatedLink] = []
  var scan = SimulatedScan()
  /// True if it listens, as last reported to the air.
  private(set) var isListening = false
  let advertisements: SimulatedAdvertisements
  let trains: SimulatedTrains
  let initiator: SimulatedInitiator
  let pairing: AdapterPairing
  let taps = SimulatedTaps()
  /// The parameters of the channels that devices can open, by their PSM.
  var channels: [UInt16: ChannelParameters] = [:]

  /// Makes an adapter; it does nothing before `start`.
  /// - Parameters:
  ///   - id: the name by which users choose it.
  ///   - scenario: the devices on its air; see `docs/simulator.md`.
  ///   - scheduler: the source of all time.
  ///   - seed: the source of all random numbers: the same seed and the same calls give the same events.
  ///   - air: the air, if several adapters share one; nil for its own. The scenario's devices are added to the present
  ///     ones.
  public init(
    id: String, scenario: Scenario, scheduler: any Scheduler, seed: UInt64,
    logger: Logger = Logger(label: "bled.simulated"), air: Air? = nil
  ) {
    self.scheduler = scheduler
    self.scenario = scenario
    self.logger = logger
    let air = air ?? Air(scheduler: scheduler, seed: seed)
    self.air = air
    description = scenario.adapter
    advertisements = SimulatedAdvertisements(
      sets: scenario.adapter.advertisingSets, on: air, scheduler: scheduler)
    trains = SimulatedTrains(on: air, scheduler: scheduler)
    initiator = SimulatedInitiator(scheduler: scheduler)
    information = AdapterInformation(id: id, kind: "simulated")
    let address = scenario.adapter.address(ofAdapter: id)
    pairing = AdapterPairing(identity: address, generator: air.generator(Stream.pairing.of(address)))
    end = SimulatedLink.End(
      address: address, maximumMTU: scenario.adapter.mtu,
      signal: Signal(SignalDescription(), generator: air.generator(Stream.signal.of(address))), party: pairing,
      radio: scenario.adapter.radio)
    pairing.onEvent = { [weak self] address, event in self?.onEvent?(.pairing(address, event)) }
    advertisements.onEvent = { [weak self] set, status in self?.onEvent?(.advertising(set, status)) }
    advertisements.onResponses = { [weak self] set, responses in self?.onEvent?(.responses(set, responses)) }
    advertisements.onTurn = { [weak self] in self?.settleSoon() }
    trains.onEvent = { [weak self] train, event in self?.onEvent?(.periodic(train, event)) }
    initiator.host = self
  }

  // MARK: - Life

  /// Brings the adapter into use.
  public func start() {
    power.start()
    settleSoon()
  }

  /// Ends everything and calls back once.
  public func stop(_ done: @escaping () -> Void) {
    power.stop(done)
    settleSoon()
  }

  /// Switches the power.
  public func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    power.set(on, done)
    settleSoon()
  }

  /// Unplugs the adapter.
  public func vanish() {
    power.isPresent = false
    settleSoon()
  }

  /// Plugs the adapter in again, or repairs it.
  public func comeBack() {
    power.isPresent = true
    power.problem = nil
    settleSoon()
  }

  /// Makes the adapter unusable until `comeBack`.
  public func fail(_ problem: AdapterProblem) {
    power.problem = problem
    settleSoon()
  }

  // MARK: - Execution of requests

  /// Schedules a call of `settle`, not from inside this call.
  func settleSoon() {
    guard settling == nil else { return }
    settling = scheduler.schedule(after: .zero) { [weak self] in
      self?.settling = nil
      self?.settle()
    }
  }

  /// A stopped clock would keep it off until a test advances it.
  private var usualStartDelay: Duration { scenario.clock == .manual ? .zero : .milliseconds(20) }

  private func settle() {
    if power.isStarted { populate() }
    let wanted = power.wanted
    if wanted != .on, state != wanted {
      startAlarm?.cancel()
      startAlarm = nil
      if state == .on { endEverything(wanted) }
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
    description.complete(&information, address: end.address)
    change(to: .on)
    settleActivities()
    answerWaiters()
  }

  private func change(to state: AdapterState) {
    let wasOn = self.state == .on
    self.state = state
    if wasOn || state == .on { taps.tell(MonitorPacket(state == .on ? .openIndex : .closeIndex, [])) }
    logger.debug("state", metadata: ["adapter": "\(information.id)", "state": "\(state.condition)"])
    onEvent?(.stateChanged)
  }

  /// Links, scan and advertising end before the state is reported.
  private func endEverything(_ next: AdapterState) {
    for link in links {
      switch next {
      case .failed(let problem): link.vanish(GAPError.adapterFailed.error(problem.message))
      case .absent where !power.isPresent: link.vanish(GAPError.adapterAbsent.error("the adapter is gone"))
      default: link.switchOff(GAPError.adapterOff.error("the adapter was switched off"))
      }
    }
    endActivities()
  }

  private func answerWaiters() {
    for answer in power.answers(in: state) { answer() }
    guard !power.isStarted else { return }
    air.remove(self)
    for answer in power.stopAnswers() { answer() }
  }

  /// Notifies the air when it starts or stops listening. With thousands of advertisers on the air each call counts.
  func updateListening() {
    let listens = state == .on && (scan.isRunning || initiator.isListening)
    guard listens != isListening else { return }
    isListening = listens
    air.audienceChanged()
  }

  /// There is a new link, kept until it ends.
  func connected(_ link: SimulatedLink) {
    links.append(link)
    taps.began(link)
    link.onChannelRequest = { [weak self, weak link] psm in
      guard let parameters = self?.channels[psm] else { return nil }
      return ChannelListener(parameters: parameters) { channel in link?.onEvent?(.channel(channel)) }
    }
    link.trains.holder = self
    link.onEnd = { [weak self, weak link] in self?.links.removeAll { $0 === link } }
    onEvent?(.connected(link))
  }

  // MARK: - Taps

  /// Reports the packets that a controller would exchange with its host: advertising reports, the events of links, and
  /// ATT. Commands, pairing and L2CAP channels are not among them.
  public func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    let tap = SimulatedTap(of: taps, onEvent)
    scheduler.schedule(after: .zero) { [weak self, weak tap] in
      guard let self, let tap else { return }
      taps.add(tap, MonitorPacket.presence(information.id, end.address, isOn: state == .on), links)
    }
    return tap
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
