import Adapter
import Bluetooth
import Glibc
import HCI
import Logging
import Radio

extension KernelAdapter {
  /// Gives the radio's machines an input and executes their actions.
  func run(radio input: RadioInput) {
    guard let actions = radio?.handle(input, at: scheduler.now) else { return }
    for action in actions { perform(action) }
    armRadio()
  }

  private func run(setUp step: (inout SetUpMachine) -> [SetUpMachine.Action]) {
    guard var machine = setUp else { return }
    let actions = step(&machine)
    setUp = machine
    for action in actions {
      switch action {
      case .send(let packet): send(packet)
      case .done(let profile):
        self.setUp = nil
        awaitAddress(profile)
      case .failed(let reason): radioBroken(reason)
      }
    }
    armRadio()
  }

  private func armRadio() {
    radioAlarm?.cancel()
    let now = scheduler.now
    radioAlarm = (setUp?.deadline ?? radio?.deadline(after: now)).map { deadline in
      scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        if setUp != nil { run(setUp: { $0.tick(at: self.scheduler.now) }) } else { run(radio: .tick) }
      }
    }
  }

  // MARK: - Opening and closing

  func openRadio(_ index: ControllerIndex, _ address: DeviceAddress) {
    // The system went to sleep before what was open was closed.
    if hci != nil { closeRadio(LifecycleMachine.suspended) }
    let name = index.name
    keys.local = address
    do { try listen() } catch {
      closeRadio(GAPError.adapterFailed.error("The adapter cannot be used."))
      return run(lifecycle: .radioFailed(Self.problem(error, "ATT on \(name)")))
    }
    do {
      let sockets = try ControllerSockets(index, of: kernel, on: loop, hearsCommands: lifecycle.privacy != nil)
      sockets.control.onEvent = { [weak self] event in self?.handleHCI(event) }
      sockets.reports.onEvent = { [weak self] event in self?.handleReports(event) }
      sockets.completions.onCompleted = { [weak self] handle, packets in self?.links[handle]?.completed(packets) }
      try sockets.start()
      hci = sockets
    } catch {
      closeRadio(GAPError.adapterFailed.error("The adapter cannot be used."))
      return run(lifecycle: .radioFailed(Self.problem(error, "the raw HCI socket of \(name)")))
    }
    setUp = SetUpMachine(address: address, faults: faults.union(ControllerFaults(of: name)))
    run(setUp: { $0.start(at: self.scheduler.now) })
  }

  /// Ends all that lives on the controller. The error is what links end with.
  func closeRadio(_ error: BluetoothError) {
    if radio?.scannedActively == true { scannedActively = true }
    radio = nil
    hearsReports = false
    setUp = nil
    closeAddresses()
    information.takingTurns = []
    information.heldBack = []
    radioAlarm?.cancel()
    radioAlarm = nil
    hci?.close()
    hci = nil
    doubtAlarm?.cancel()
    doubtAlarm = nil
    suspendAlarm?.cancel()
    suspendAlarm = nil
    acceptAlarm?.cancel()
    acceptAlarm = nil
    heldPairing = []
    listener?.close()
    listener = nil
    endLinks(error)
    endOutOfBandReads(.failure(error))
    let failed = CommandSlot.Answer(opcode: .none, status: HCIStatus(.unknownConnectionIdentifier), complete: nil)
    let unanswered = questions
    questions = [:]
    for (_, done) in unanswered { done(failed) }
  }

  private func endLinks(_ error: BluetoothError) {
    for address in Array(attaching.keys) { abandonAttachment(to: address) }
    for handle in links.keys.sorted() { endLink(handle, error) }
    expect { $0.clear() }
    for handle in records.keys.sorted() { linkForgotten(handle) }
    roles = [:]
  }

  /// The system goes to sleep: ends the links, and all that goes on without them. What is wanted stays wanted.
  func suspendRadio() {
    guard radio != nil else { return closeRadio(LifecycleMachine.suspended) }
    closeAddresses()
    listener?.close()
    listener = nil
    suspendAlarm = scheduler.schedule(after: .seconds(1)) { [weak self] in
      self?.closeRadio(LifecycleMachine.suspended)
    }
    run(radio: .quiet)
    endLinks(LifecycleMachine.suspended)
  }

  private func becameQuiet() {
    guard !addresses.isPausing else { return run(addresses: { $0.quiet(at: self.scheduler.now) }) }
    if !stopping.isEmpty {
      if links.isEmpty { finishStop() }
    } else if suspendAlarm != nil {
      closeRadio(LifecycleMachine.suspended)
    }
  }

  func radioReady(_ profile: ControllerProfile) {
    features = profile.usableFeatures
    information.address = profile.address
    information.phys = profile.phys
    information.longestPacket = profile.longestPacket
    information.hasExtendedAdvertising = profile.advertisesExtended
    information.hasPeriodicAdvertising = profile.hasPeriodicAdvertising
    information.canSynchronise = profile.canSynchronise
    information.maximumAdvertisingSets = profile.usableAdvertisingSets
    information.maximumAdvertisingDataLength = profile.advertisingDataLength
    logger.debug("the controller is set up", metadata: ["profile": "\(profile)"])
    radio = profile.radio(targets)
    run(lifecycle: .radioOpened)
    // Starts what is wanted, after the state was told. What an earlier owner left on, or a sleep, is not known.
    run(radio: .doubt)
    guard radio != nil else { return }
    for (train, parameters) in targets.syncs { run(radio: .wantSync(train, parameters)) }
    learnFragmentLength()
    applyPairing()
    applyOutOfBand()
    channelListeners.open(at: address)
    linksOffered()
  }

  /// A controller whose LE buffers are those of BR/EDR answers 0 (Core 5.4, Vol 4, Part E, 7.8.2).
  private func learnFragmentLength() {
    fragmentLength = nil
    ask(LEReadBufferSize()) { [weak self] answer in
      guard let self, let own = try? answer.complete?.decoded(as: LEReadBufferSize.self) else { return }
      if own.aclDataPacketLength > 0 { return fragmentLength = Int(own.aclDataPacketLength) }
      ask(ReadBufferSize()) { [weak self] answer in
        guard let shared = try? answer.complete?.decoded(as: ReadBufferSize.self) else { return }
        self?.fragmentLength = Int(shared.aclDataPacketLength)
      }
    }
  }

  private func radioBroken(_ reason: String) {
    let problem = AdapterProblem(
      kind: .hardware, message: "\(information.id) does not work: \(reason).",
      remedy: "Unplug it and plug it back in, or check the kernel log with `dmesg`.")
    closeRadio(GAPError.adapterFailed.error(problem.message))
    run(lifecycle: .radioFailed(problem))
  }

  // MARK: - Packets

  func send(_ packet: CommandPacket) {
    if hci?.control.send(HCIPacket.command(packet).octets) == false {
      logger.error("the controller accepts no commands")
    }
  }

  private func handleHCI(_ event: PacketSocket.Event) {
    switch event {
    case .received(let octets):
      do {
        let packet: EventPacket
        switch try HCIPacket(decoding: octets) {
        case .event(let event): packet = event
        case .command(let command): return addresses.heard(command)
        default: return
        }
        let event = try HCIEvent(decoding: packet)
        if setUp != nil {
          run(setUp: { $0.handle(event, at: self.scheduler.now) })
        } else {
          run(radio: .event(event))
        }
      } catch {
        logger.debug("an HCI packet could not be decoded: \(error)")
      }
    case .lost(let count):
      logger.warning("events of the controller were lost; its state is checked", metadata: ["count": "\(count)"])
      eventsLost()
    case .writable: break
    case .ended(let error):
      // The controller is gone or lost its power; the management interface reports which, just after or before.
      logger.debug("the HCI socket ended", metadata: ["errno": "\(error?.code ?? 0)"])
      hci?.close()
      scheduler.schedule(after: .seconds(1)) { [weak self, weak hci] in
        guard let self, let hci, hci === self.hci else { return }
        radioBroken("its socket was closed")
      }
    }
  }

  private func handleReports(_ event: PacketSocket.Event) {
    switch event {
    case .received(let octets):
      do {
        guard setUp == nil, let reports = try AdvertisingReports(decoding: octets) else { return }
        hearsReports = true
        for report in radio?.heard(reports, at: scheduler.now) ?? [] { emitAtOnce(.report(report)) }
      } catch {
        logger.debug("an advertising report could not be decoded: \(error)")
      }
    case .lost(let count): logger.debug("advertising reports were lost", metadata: ["count": "\(count)"])
    // The other socket ends as well.
    case .writable, .ended: break
    }
  }

  // MARK: - Actions

  private func perform(_ action: RadioAction) {
    guard !addresses.withholds(action) else { return }
    switch action {
    case .send(let packet): send(packet)
    case .scanning(let isOn): emit(.scanning(isOn))
    case .advertising(let set, let status):
      if case .ended = status { targets.advertising[set] = nil }
      emit(.advertising(set, status))
    case .periodic(let train, let event):
      if case .failed = event { targets.syncs[train] = nil }
      emit(.periodic(train, event))
    case .attemptFailed(let device, let error): emit(.connectAttemptFailed(device, error))
    case .connectWaiting(let device, let reason): emit(.connectWaiting(device, reason))
    case .sharing(let activities, let heldBack): sharing(activities, heldBack)
    case .faulty(let fault): usesLegacy(insteadOf: fault)
    case .attach(let handle, let device, let attempts):
      prepareAttachment(to: device, handle: handle, attempts: attempts)
    case .linkUp(let handle, let role, let parameters):
      roles[handle] = role
      linkBegan(handle, parameters)
      guard role == .peripheral else { return }
      let asks = features.contains(.peripheralInitiatedFeaturesExchange)
      expect { $0.began(handle, asks: asks, at: scheduler.now) }
    case .link(let handle, let news): take(news, handle)
    case .linkDown(let handle, let reason): linkDown(handle, reason)
    case .encryptionChanged(let handle): updateSecurity(handle)
    case .keysMissing(let handle, let theirs): keysAreMissing(handle, theirs: theirs)
    case .answered(let question, let answer): questions.removeValue(forKey: question)?(answer)
    case .broken(let reason): radioBroken(reason)
    case .quiet: becameQuiet()
    case .log(let text): logger.debug("\(text)")
    }
  }

  /// Sends a command and passes its answer on.
  func ask(_ command: some HCICommand, _ done: @escaping (CommandSlot.Answer) -> Void) {
    ask(CommandPacket(command), done)
  }

  /// The same with a command that was made before.
  func ask(_ packet: CommandPacket, _ done: @escaping (CommandSlot.Answer) -> Void) {
    lastQuestion &+= 1
    questions[lastQuestion] = done
    run(radio: .ask(lastQuestion, packet))
  }
}
