import Adapter
import Bluetooth
import HCI
import Radio

/// The user of `RadioActivities`: the way to one controller.
protocol RadioActivitiesOwner: AnyObject {
  /// Sends a command to the controller.
  func send(_ packet: CommandPacket)
  /// The controller does not work.
  func radioFailed(_ reason: String)
  /// A radio machine requests or reports this; neither a command nor an answer.
  func perform(_ action: RadioAction)
  /// The controller is to be closed and opened again.
  /// - Parameter words: the reason, behind the adapter's name.
  func fail(_ words: String, remedy: String)
  /// The controller is to be closed and opened again, though nothing has failed.
  /// - Parameter words: the reason, behind the adapter's name.
  func reopen(_ words: String)
}

/// The wanted activities of a controller, and the radio machines that run them by the clock while it is in use.
///
/// | State   | Input                | Then                                                  |
/// |---------|----------------------|-------------------------------------------------------|
/// | unused  | `want…`, `connect`   | kept for the machines that `begin` makes              |
/// | unused  | `begin`              | in use                                                |
/// | in use  | anything             | given to the machines; their actions are executed     |
/// | in use  | `end`                | unused; questions that wait are answered with a failure |
///
/// `ControllerHealth` detects a controller that got stuck or restarted.
final class RadioActivities: TrainCommands {
  weak var owner: (any RadioActivitiesOwner)?
  /// The wanted activities, kept while the controller is absent.
  private(set) var targets = RadioTargets()
  /// The controller's features on links.
  private(set) var features: LEFeatures = []
  private(set) var shortestInterval: Duration?

  let context: AdapterContext
  private var radio: (any RadioMachine)?
  private var alarm: (any ScheduledWork)?
  private var questions: [Int: (CommandSlot.Answer) -> Void] = [:]
  private var lastQuestion = 0
  /// True while wanted activities are held back.
  private var isHeld = false
  private var health = ControllerHealth()
  private var healthAlarm: (any ScheduledWork)?
  /// When it rings.
  private var healthAlarmTime = Instant.zero
  private var isScanning = false
  /// True if the controller monitors devices: then it reports each once.
  private var isWatching = false

  init(in context: AdapterContext) { self.context = context }

  /// True while the radio machines run.
  var isReady: Bool { radio != nil }
  /// The command that the controller executes; nil while the machines do not run.
  var slot: CommandSlot? { radio?.slot }
  /// True if an active scan was run since `begin`.
  var scannedActively: Bool { radio?.scannedActively == true }
  /// True during an extended scan that has received nothing yet: then the kernel's findings matter.
  var isSilent: Bool { health.isSilent }
  /// True if the next set-up is to avoid extended commands, as a trial.
  var triesLegacyScan: Bool { health.isTrying }
  /// The times since the last events of the controller.
  var silence: ControllerSilence { health.silence(at: context.scheduler.now) }

  /// True if a link may arise: a connection, or a connectable advertisement, is wanted.
  var awaitsLinks: Bool {
    !targets.connects.isEmpty || targets.advertising.values.contains(where: \.isConnectable)
  }

  // MARK: - The controller

  /// Starts the machines of a controller that was set up; nothing is wanted of it before the next input.
  /// - Parameter holdsTargets: true if wanted activities wait for `startTargets`, because commands of the owner exclude
  ///   them until then.
  func begin(_ profile: ControllerProfile, holdsTargets: Bool = false) {
    (features, shortestInterval) = (profile.usableFeatures, profile.shortestInterval)
    isHeld = holdsTargets
    health.began(scansExtended: profile.scansExtended, isHeardByKernel: !profile.isExclusive)
    radio = profile.radio(holdsTargets ? RadioTargets() : targets)
  }

  /// Starts wanted activities.
  /// - Parameter first: the first input, which says whether the controller's state is known.
  func startTargets(_ first: RadioInput) {
    if isHeld {
      isHeld = false
      run(.wantScan(targets.scan))
      for (set, parameters) in targets.advertising { run(.wantAdvertising(set, parameters)) }
      for (device, parameters) in targets.connects { run(.connect(device, parameters)) }
    }
    run(first)
    guard isReady else { return }
    for (train, parameters) in targets.syncs { run(.wantSync(train, parameters)) }
  }

  func end() {
    radio = nil
    alarm?.cancel()
    alarm = nil
    (isScanning, isWatching) = (false, false)
    health.ended()
    awaitSilence()
    let unanswered = questions
    questions = [:]
    guard !unanswered.isEmpty else { return }
    let failed = CommandSlot.Answer(opcode: .none, status: HCIStatus(.unknownConnectionIdentifier), complete: nil)
    context.scheduler.execute { for done in unanswered.values { done(failed) } }
  }

  // MARK: - Wanted activities

  /// Sets the wanted scan; nil for none.
  func want(scan parameters: ScanParameters?) {
    targets.scan = parameters
    if !isHeld { run(.wantScan(parameters)) }
  }

  /// Sets a wanted advertisement; nil for none.
  func want(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    targets.advertising[set] = parameters
    if !isHeld { run(.wantAdvertising(set, parameters)) }
  }

  /// Changes the wanted advertisements, which the machines receive next.
  func adapt(_ change: (AdvertisingParameters) -> AdvertisingParameters) {
    targets.advertising = targets.advertising.mapValues(change)
  }

  /// Sets a train to follow; nil to stop.
  func want(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    targets.syncs[train] = parameters
    if !isHeld { run(.wantSync(train, parameters)) }
  }

  /// Adds a wanted connection. The device is in the filter accept list of the one initiator until it is established.
  func connect(to device: DeviceAddress, _ parameters: ConnectionParameters) {
    targets.connects[device] = parameters
    if !isHeld { run(.connect(device, parameters)) }
  }

  /// A connection is no longer wanted.
  func cancelConnect(to device: DeviceAddress) {
    targets.connects[device] = nil
    run(.cancelConnect(device))
  }

  /// The link to a wanted device can be used.
  func attached(to device: DeviceAddress) {
    targets.connects[device] = nil
    run(.attached(device))
  }

  /// Makes the controller end a link.
  func disconnect(_ handle: ConnectionHandle, _ reason: HCIErrorCode = .remoteUserTerminatedConnection) {
    run(.command(CommandPacket(Disconnect(handle: handle, reason: HCIStatus(reason)))))
  }

  /// Cancels all wanted activities.
  func wantNothing() {
    targets = RadioTargets()
    run(.quiet)
  }

  // MARK: - The machines

  /// Gives the radio machines an input and executes their actions; nothing while they do not run.
  func run(_ input: RadioInput) {
    let now = context.scheduler.now
    if case .event = input { health.received(at: now) }
    guard let actions = radio?.handle(input, at: now) else { return }
    for action in actions { perform(action) }
    arm()
  }

  /// Passes the scan's reports to them.
  /// - Returns: the reports of other devices.
  func heard(_ reports: AdvertisingReports) -> [AdvertisingReport] {
    var isExtended = false
    if case .extended = reports { isExtended = true }
    let wasTrying = health.isTrying
    if health.heard(isExtended: isExtended, at: context.scheduler.now) {
      owner?.perform(.quirk(.extendedScanning, true))
    } else if wasTrying {
      context.logger.info("legacy commands receive reports: they are used until the adapter is opened the next time")
    }
    awaitSilence()
    guard let heard = radio?.received(reports, at: context.scheduler.now) else { return [] }
    if radio?.hasHeardAbsentDevice == true { run(.tick) }
    return heard
  }

  /// An event that no machine receives has arrived.
  func received() { health.received(at: context.scheduler.now) }

  /// The controller is switched off.
  func abandonTrial() { health.abandonTrial() }

  /// Another controller may come in place of this one.
  func forgetTrial() { health.forgetTrial() }

  /// The kernel reported a device that it received.
  func kernelFound() {
    health.kernelFound()
    awaitSilence()
  }

  /// Sends a command and passes its answer on.
  func ask(_ packet: CommandPacket, _ done: @escaping (CommandSlot.Answer) -> Void) {
    lastQuestion &+= 1
    questions[lastQuestion] = done
    run(.ask(lastQuestion, packet))
  }

  /// Makes the machines send a command about a train, and passes the answer on.
  func send(_ command: TrainCommand, _ done: @escaping (CommandSlot.Answer) -> Void) {
    lastQuestion &+= 1
    questions[lastQuestion] = done
    run(.train(lastQuestion, command))
  }

  /// Makes a train send data in a subevent.
  func setSubevent(
    _ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void
  ) {
    let scheduler = context.scheduler
    guard isReady else { return context.fail(done, GAPError.adapterOff.error("\(context.name) is not in use")) }
    lastQuestion &+= 1
    questions[lastQuestion] = { answer in
      let error: BluetoothError? =
        switch answer.status.code {
        case .success: nil
        case .operationCancelledByHost: GAPError.cancelled.error("newer data for that subevent is sent in its place")
        case .unknownAdvertisingIdentifier: BledError.unknownHandle.error("the train is not sent any more")
        default: answer.status.error("the subevent was not sent")
        }
      scheduler.execute { done(error) }
    }
    run(.setSubevent(lastQuestion, data, set))
  }

  /// The machines follow a train that may not be wanted.
  func adopt(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    guard targets.syncs[train] == nil else { return }
    if let parameters { targets.syncs[train] = parameters } else { run(.wantSync(train, nil)) }
  }

  private func arm() {
    context.arm(&alarm, at: radio?.deadline(after: context.scheduler.now)) { [weak self] _ in self?.run(.tick) }
  }

  // MARK: - Health

  /// The alarm may ring early: each report moves its time.
  private func awaitSilence() {
    guard let deadline = health.deadline else {
      healthAlarm?.cancel()
      return healthAlarm = nil
    }
    guard healthAlarm == nil || deadline < healthAlarmTime else { return }
    healthAlarm?.cancel()
    healthAlarmTime = deadline
    healthAlarm = context.scheduler.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      healthAlarm = nil
      let action = health.tick(
        hasLinks: radio?.hasLinks == true, hasTrains: !targets.syncs.isEmpty,
        hasAdvertisements: !targets.advertising.isEmpty, allowsTrial: allowsTrial, at: context.scheduler.now)
      awaitSilence()
      switch action {
      case .renew: run(.renewScan)
      case .giveUpExtendedScan: owner?.perform(.faulty(.extendedScanning))
      case .tryLegacyScan:
        owner?.reopen("receives nothing by extended scanning: legacy commands are tried for a minute")
      case .endTrial:
        owner?.reopen("receives nothing by legacy commands either: extended commands are used again")
      case .reopen:
        owner?.perform(.quirk(.silence, true))
        owner?.radioFailed("its scan receives nothing any more")
      case .tell:
        context.logger.warning("the scan receives nothing any more; the adapter was opened anew less than an hour ago")
      case nil: break
      }
    }
  }

  /// True if the wanted scan has a counterpart by legacy commands, and no connection is pending.
  private var allowsTrial: Bool { targets.connects.isEmpty && targets.scan?.phys.contains(.le1M) == true }

  private func scanChanged(_ isScanning: Bool, _ isWatching: Bool) {
    (self.isScanning, self.isWatching) = (isScanning, isWatching)
    health.scanning(isScanning && !isWatching, at: context.scheduler.now)
    awaitSilence()
  }

  private func beganAnew() {
    owner?.perform(.quirk(.restarts, true))
    if health.mayReopen(at: context.scheduler.now) {
      owner?.radioFailed("\(ControllerFailure.beganAnew)")
    } else {
      context.logger.warning("the controller may have begun anew; the adapter was opened anew less than an hour ago")
    }
  }

  private func perform(_ action: RadioAction) {
    switch action {
    case .send(let packet): owner?.send(packet)
    case .answered(let question, let answer): questions.removeValue(forKey: question)?(answer)
    case .log(let text): context.logger.debug("\(text)")
    case .broken(.beganAnew): beganAnew()
    case .broken(let failure): owner?.radioFailed("\(failure)")
    default:
      if case .advertising(let set, .ended) = action { targets.advertising[set] = nil }
      if case .periodic(let train, .failed) = action { targets.syncs[train] = nil }
      if case .scanning(let isOn) = action { scanChanged(isOn, isWatching) }
      if case .watching(let isOn) = action { scanChanged(isScanning, isOn) }
      // The restart of the scan is not reported: it is the state from before the pause.
      if case .resumed = action { scanChanged(targets.scan != nil, isWatching) }
      owner?.perform(action)
    }
  }
}
