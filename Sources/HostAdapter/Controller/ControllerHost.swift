import Adapter
import AdapterParts
import Bluetooth
import HCI
import Host
import Radio

/// The user of a `ControllerHost`, told of all that a controller does.
protocol ControllerHostOwner: AnyObject {
  /// The controller is there: it is being set up.
  func controllerIsThere()
  /// There is no controller.
  func controllerIsMissing(_ error: SystemError)
  /// The controller is set up: `begin` may follow.
  func controllerIsSetUp(_ controller: HostController)
  /// The transport ended.
  func controllerIsGone(_ reason: String)
  /// The controller does not work.
  func controllerFailed(_ reason: String)
  /// A radio machine wants this, or reports it; neither a command nor an answer.
  func perform(_ action: RadioAction)
  func heard(_ report: AdvertisingReport)
  /// An event, before the machines receive it.
  func receive(_ event: HCIEvent)
  func receive(_ packet: ACLDataPacket)
}

/// A controller behind a transport: sets it up, runs its radio machines by the clock, and carries their commands, the
/// answers, and data.
///
/// | State      | Input               | Then                                                    |
/// |------------|---------------------|---------------------------------------------------------|
/// | shut       | `open`              | opening                                                 |
/// | opening    | the other end is there | `controllerIsThere`, setting up: `HostSetUp`         |
/// | setting up | its answers         | `controllerIsSetUp`; the owner calls `begin`: ready     |
/// | any        | a failure           | the owner is told, and calls `close`                    |
/// | any        | `close`             | shut; questions that wait are answered with a failure   |
final class ControllerHost: ControllerCommands {
  weak var owner: (any ControllerHostOwner)?
  /// The wanted activities, which survive the absence of the controller.
  private(set) var targets = RadioTargets()
  /// The controller's features on links.
  private(set) var features: LEFeatures = []

  /// The recordings of its packets.
  let taps = HostTaps()

  private let context: AdapterContext
  /// The address of a controller that has no public one, for as long as this program runs.
  private let spare: DeviceAddress
  private var stream: H4Stream?
  private var setUp: HostSetUp?
  private var radio: (any RadioMachine)?
  private var alarm: (any ScheduledWork)?
  private var questions: [Int: (CommandSlot.Answer) -> Void] = [:]
  private var lastQuestion = 0
  /// The features that turned out not to work in this controller.
  private var faults: ControllerFaults = []

  init(in context: AdapterContext) {
    self.context = context
    spare = DeviceAddress(value: UInt64.random(in: 1..<1 << 46) | 0b11 << 46, kind: .random)
  }

  /// Whether the radio machines run.
  var isReady: Bool { radio != nil }

  // MARK: - Opening and closing

  /// Opens the transport and begins to set the controller up.
  func open(_ address: TransportAddress) {
    do throws(SystemError) {
      let new = try H4Stream(to: address, on: context.loop)
      new.onEvent = { [weak self] event in self?.handle(event) }
      try new.start()
      stream = new
    } catch {
      owner?.controllerIsMissing(error)
    }
  }

  /// Starts the machines of the controller that was set up; nothing is wanted of it before `startTargets`.
  func begin(_ profile: ControllerProfile) {
    features = profile.usableFeatures
    radio = profile.radio(targets)
  }

  /// Starts wanted activities.
  func startTargets() {
    run(.tick)
    for (train, parameters) in targets.syncs { run(.wantSync(train, parameters)) }
  }

  func close() {
    radio = nil
    setUp = nil
    alarm?.cancel()
    alarm = nil
    stream?.close()
    stream = nil
    let unanswered = questions
    questions = [:]
    guard !unanswered.isEmpty else { return }
    let failed = CommandSlot.Answer(opcode: .none, status: HCIStatus(.unknownConnectionIdentifier), complete: nil)
    context.loop.execute { for done in unanswered.values { done(failed) } }
  }

  /// A feature does not work: the next `open` does without it.
  func avoid(_ fault: ControllerFaults) { faults.formUnion(fault) }

  /// Another controller may come in place of this one.
  func forgetFaults() { faults = [] }

  // MARK: - Wanted activities

  /// Wants a scan; nil for none.
  func want(scan parameters: ScanParameters?) {
    targets.scan = parameters
    run(.wantScan(parameters))
  }

  /// Wants an advertisement; nil for none.
  func want(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    targets.advertising[set] = parameters
    run(.wantAdvertising(set, parameters))
  }

  /// Wants a train to be followed, or with nil no longer.
  func want(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    targets.syncs[train] = parameters
    run(.wantSync(train, parameters))
  }

  /// Wants a connection.
  func connect(to device: DeviceAddress, _ parameters: ConnectionParameters) {
    targets.connects[device] = parameters
    run(.connect(device, parameters))
  }

  /// A connection is wanted no longer.
  func cancelConnect(to device: DeviceAddress) {
    targets.connects[device] = nil
    run(.cancelConnect(device))
  }

  /// The link to a device that is wanted can be used.
  func attached(to device: DeviceAddress) {
    targets.connects[device] = nil
    run(.attached(device))
  }

  /// Nothing is wanted any more.
  func wantNothing() {
    targets = RadioTargets()
    run(.quiet)
  }

  // MARK: - The machines

  /// Gives the radio machines an input and executes their actions; nothing while they do not run.
  func run(_ input: RadioInput) {
    guard let actions = radio?.handle(input, at: context.scheduler.now) else { return }
    for action in actions { perform(action) }
    arm()
  }

  /// Sends a command and passes its answer on.
  func ask(_ packet: CommandPacket, _ done: @escaping (CommandSlot.Answer) -> Void) {
    lastQuestion &+= 1
    questions[lastQuestion] = done
    run(.ask(lastQuestion, packet))
  }

  /// Sends a packet to the controller.
  func send(_ packet: HCIPacket) {
    let octets = packet.octets
    taps.tell(octets, isSent: true)
    stream?.send(octets)
  }

  private func run(setUp step: (inout HostSetUp) -> [HostSetUp.Action]) {
    guard var machine = setUp else { return }
    let actions = step(&machine)
    setUp = machine
    for action in actions {
      switch action {
      case .send(let packet): send(.command(packet))
      case .done(let controller):
        setUp = nil
        owner?.controllerIsSetUp(controller)
      case .failed(let reason): owner?.controllerFailed(reason)
      }
    }
    arm()
  }

  private func arm() {
    alarm?.cancel()
    let deadline = setUp?.deadline ?? radio?.deadline(after: context.scheduler.now)
    alarm = deadline.map { deadline in
      context.scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        if setUp != nil { run(setUp: { $0.tick(at: self.context.scheduler.now) }) } else { run(.tick) }
      }
    }
  }

  private func perform(_ action: RadioAction) {
    switch action {
    case .send(let packet): send(.command(packet))
    case .answered(let question, let answer): questions.removeValue(forKey: question)?(answer)
    case .log(let text): context.logger.debug("\(text)")
    case .broken(let reason): owner?.controllerFailed(reason)
    default:
      if case .advertising(let set, .ended) = action { targets.advertising[set] = nil }
      if case .periodic(let train, .failed) = action { targets.syncs[train] = nil }
      owner?.perform(action)
    }
  }

  // MARK: - The controller's packets

  private func handle(_ event: H4Stream.Event) {
    switch event {
    case .opened:
      owner?.controllerIsThere()
      setUp = HostSetUp(spare: spare, faults: faults)
      run(setUp: { $0.start(at: self.context.scheduler.now) })
    case .packet(let octets): receive(octets)
    case .ended(let reason): owner?.controllerIsGone(reason)
    case .refused(let error): owner?.controllerIsMissing(error)
    }
  }

  private func receive(_ octets: [UInt8]) {
    taps.tell(octets, isSent: false)
    do throws(HCICodingError) {
      if radio != nil, let reports = try AdvertisingReports(decoding: octets) {
        for report in radio?.heard(reports, at: context.scheduler.now) ?? [] { owner?.heard(report) }
        return
      }
      switch try HCIPacket(decoding: octets) {
      case .event(let packet): receive(try HCIEvent(decoding: packet))
      case .acl(let packet): owner?.receive(packet)
      // A host gets no commands.
      case .command: break
      }
    } catch {
      context.logger.debug("an HCI packet could not be decoded: \(error)")
    }
  }

  /// Hardware Error (Core 5.4, Vol 4, Part E, 7.7.16).
  private static let hardwareError: UInt8 = 0x10

  private func receive(_ event: HCIEvent) {
    if case .other(let packet) = event, packet.code == Self.hardwareError {
      owner?.controllerFailed("it reports a hardware error")
      return
    }
    if setUp != nil { return run(setUp: { $0.handle(event, at: self.context.scheduler.now) }) }
    owner?.receive(event)
    run(.event(event))
  }
}
