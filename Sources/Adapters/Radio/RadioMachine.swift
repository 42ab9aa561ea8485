import Adapter
import Bluetooth
import DequeModule
import HCI

/// A controller's scan, advertising and initiator behind one command slot.
///
/// Each input goes to the machine concerned; then, while the slot is free, the machines supply their next command:
/// questions first, then initiator, advertising, scan. Responses to foreign commands reveal another program's
/// interference with a machine, unless we are alone. A command without a response is an error, and a harmless query
/// follows at once; if that has no response either, the controller is broken. It is also broken if 512 commands are
/// queued; half as many questions are accepted.
///
/// If the controller cannot do everything at once, `ActivityTurns` chooses the active machines, and a running scan
/// listens for `AbsentDevices`.
///
/// After `doubt` each machine brings the controller into a known state, and the previous links are compared with the
/// next `links`. Settings changed by another program's command are restored after a while: a system going to sleep
/// begins with such commands, and announces it only afterwards.
struct FamilyRadioMachine<Scanning: RadioFamily, Advertising: RadioFamily, Initiating: RadioFamily>: RadioMachine {
  enum Sender: Hashable {
    /// If they share a command, also one for each of them alone.
    case questions([Int], apart: [CommandPacket] = [])
    case nobody, scan, advertising, initiator, sync
    /// The query if this link exists.
    case presence(ConnectionHandle)
  }

  /// As many commands as wait for a controller that works, and more.
  static var maximumCommands: Int { 512 }

  private(set) var slot = CommandSlot()
  private var sender = Sender.nobody
  var commands: Deque<(sender: Sender, packet: CommandPacket)> = []
  var scan: ScanMachine<Scanning>
  var advertising: AdvertisingMachine<Advertising>
  var initiator: InitiatorMachine<Initiating>
  var sync: SyncMachine
  private var subevents = SubeventMachine()
  private var assembler = ReportAssembler()
  private var absent = AbsentDevices()
  /// True if the scan listens for all devices to be connected.
  private var isListening = false
  var turns: ActivityTurns
  private var toldSharing: Set<LEStates.Activity> = []
  private var toldHeldBack: Set<LEStates.Activity> = []
  private var toldQuirks: Set<Quirk>
  var links = ControllerLinks()
  /// When the controller seemed to have begun anew, without a link, and was set up again.
  var lastRenewal: Instant?
  /// When a link was checked since the controller seemed to have begun anew.
  var lastCheck: Instant?
  /// When the last advertising report was received.
  var lastReport: Instant?
  /// When it is taken to have begun anew, unless it reports anything until then.
  var suspicion: Instant?
  /// The link that the command being executed disconnects.
  var disconnecting: UInt16?
  /// Until then nothing is set up: another program changes something.
  private var heldUntil: Instant?
  private var isQuieting = false
  /// True after `quiet` or `pause`: nothing is wanted from then on.
  private var isEnding = false
  /// True if an activity that continues after a pause has not begun again.
  private var isResuming = false
  /// The reports before the pause; nil if there is none.
  private var beforePause: (scan: ScanMachine<Scanning>, advertising: AdvertisingMachine<Advertising>)?

  var profile: ControllerProfile
  /// True if there was an active scan before it began anew.
  private var hasScannedActively = false

  init(profile: ControllerProfile, targets: RadioTargets) {
    self.profile = profile
    turns = ActivityTurns(states: profile.states, quirks: profile.quirks)
    toldQuirks = turns.quirks
    scan = ScanMachine(profile: profile, takesTurns: turns.isLimited, wanted: targets.scan)
    advertising = AdvertisingMachine(profile: profile, wanted: targets.advertising)
    initiator = InitiatorMachine(profile: profile, wanted: targets.connects)
    sync = SyncMachine(profile: profile)
  }

  var hasLinks: Bool { !links.isEmpty }

  var scannedActively: Bool { hasScannedActively || scan.wasActive }

  func deadline(after now: Instant) -> Instant? {
    [
      slot.deadline, heldUntil, links.deadline, scan.deadline(after: now), advertising.deadline(after: now),
      initiator.deadline(after: now), sync.deadline(after: now), turns.deadline(after: now), suspicion,
      isListening ? absent.deadline : nil,
    ].compactMap { $0 }.min()
  }

  mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioAction] {
    if let end = heldUntil, end <= now { heldUntil = nil }
    var actions: [RadioAction] = []
    for action in receive(input, at: now) {
      if case .send(let packet) = action { commands.append((.nobody, packet)) } else { actions.append(action) }
    }
    guard commands.count <= Self.maximumCommands else { return actions + [.broken(.noExecution)] }
    if !subevents.isIdle, beforePause == nil {
      actions += subevents.settle { [advertising] in advertising.respondsTo($0) }
    }
    sync.scanning(scan.isOn, at: now)
    initiator.expire(at: now)
    return actions + quirkNews() + share(at: now) + pump(at: now)
  }

  /// The conclusions of `turns` that are new, or are void.
  private mutating func quirkNews() -> [RadioAction] {
    let quirks = turns.quirks
    guard quirks != toldQuirks else { return [] }
    defer { toldQuirks = quirks }
    return quirks.subtracting(toldQuirks).map { .quirk($0, true) }
      + toldQuirks.subtracting(quirks).map { .quirk($0, false) }
  }

  mutating func received(_ reports: AdvertisingReports, at now: Instant) -> [AdvertisingReport] {
    (suspicion, lastReport) = (nil, now)
    let whole = assembler.reports(reports, at: now)
    if turns.isLimited { absent.received(whole, at: now) }
    return whole
  }

  var hasHeardAbsentDevice: Bool { absent.hasHeard }

  private mutating func receive(_ input: RadioInput, at now: Instant) -> [RadioAction] {
    switch input {
    case .wantScan where isEnding, .wantAdvertising where isEnding, .connect where isEnding,
      .wantSync where isEnding && beforePause == nil:
      break
    case .wantScan(let parameters): scan.want(parameters)
    case .wantAdvertising(let set, let parameters): return advertising.want(set, parameters)
    case .wantSync(let train, let parameters): return sync.want(train, parameters)
    case .connect(let address, let parameters): initiator.want(address, parameters)
    case .cancelConnect(let address): return initiator.unwant(address).map { [.send($0)] } ?? []
    case .attached(let address): initiator.attached(address)
    case .attachFailed(let address, let error): return initiator.attachFailed(address, error, at: now)
    case .ask(let number, let packet):
      guard commands.count < Self.maximumCommands / 2 else {
        let refusal = CommandSlot.Answer(
          opcode: packet.opcode, status: HCIStatus(.memoryCapacityExceeded), complete: nil, wasSent: false)
        return [.answered(question: number, refusal)]
      }
      commands.append((.questions([number]), packet))
    case .train(let number, let command):
      let packet = advertising.packet(for: command) ?? sync.packet(for: command)
      return packet.map { receive(.ask(number, $0), at: now) } ?? [.unknownTrain(question: number)]
    case .setSubevent(let number, let data, let set): return subevents.want(data, of: set, question: number)
    case .command(let packet): return [.send(packet)]
    case .event(let event): return receive(event, at: now)
    case .doubt:
      slot.doubt(at: now)
      scan.doubt()
      advertising.doubt()
      initiator.doubt()
      links.doubt()
      return sync.doubt()
    case .links(let links): return compare(links, at: now)
    case .renewScan:
      // Silence may be all that a controller shows that forgot its settings, too.
      // Settings of a pause, or of the end, are not to be disturbed.
      if links.isEmpty, !isEnding, beforePause == nil { restoreSettings() }
      scan.renew()
    case .tick:
      guard let answer = slot.expire(at: now) else {
        return suspected(at: now) + links.overdue(at: now).flatMap { linkLost($0) }
      }
      if slot.timeouts > 1 { return [.broken(.noAnswer)] }
      commands.prepend((.nobody, CommandPacket(LEReadFilterAcceptListSize())))
      let code = String(answer.opcode.rawValue, radix: 16)
      return [.log("the controller has not answered command 0x\(code) within \(CommandSlot.timeout)")]
        + receive(answer, at: now)
    case .quiet:
      beforePause = nil
      return quiet()
    case .pause:
      advertising.interrupt(at: now)
      beforePause = (scan, advertising)
      return quiet()
    case .resume(let address, let targets): resume(address, targets)
    }
    return []
  }

  /// Informs the machines about the controller's permissions, and the owner about the consequences.
  private mutating func share(at now: Instant) -> [RadioAction] {
    guard turns.isLimited else { return initiator.overdue(at: now) }
    var wanted = advertising.activities
    if let activity = scan.activity { wanted.insert(activity) }
    absent.keep(initiator.devices)
    isListening =
      turns.excludes(.initiating, beside: scan.activity) && hearsAsInitiator(among: wanted)
      && absent.include(initiator.devices, at: now)
    if initiator.isWanted, !isListening { wanted.insert(.initiating) }
    turns.update(wanted: wanted, links: links.sides, at: now)
    let running = running
    let grant = isListening ? .later : turns.allowance(for: .initiating, beside: running).grant
    // Its turn is over.
    if grant == .later { absent.searched(initiator.tried, at: now) }
    initiator.permit(grant, isListening: isListening)
    var actions = advertising.permit(turns.advertisingAllowances(beside: running))
    if let activity = scan.activity { actions += scan.permit(turns.allowance(for: activity, beside: running).grant) }
    // The listening scan yields as soon as it discovers a device: that is no change.
    let sharing = isListening ? wanted.union([.initiating]).subtracting(turns.heldBack) : turns.sharing
    if sharing != toldSharing || turns.heldBack != toldHeldBack {
      (toldSharing, toldHeldBack) = (sharing, turns.heldBack)
      actions.append(.sharing(toldSharing, heldBack: toldHeldBack))
    }
    return actions + initiator.overdue(at: now)
  }

  /// True if the scan receives devices as soon as the initiator would, which has half of the time: a scan with turns of
  /// its own has less.
  private func hearsAsInitiator(among wanted: Set<LEStates.Activity>) -> Bool {
    guard let activity = scan.activity, scan.hears(initiator.phys) else { return false }
    return turns.isLasting(activity, among: wanted, links: links.sides)
  }

  /// The controller's activities, as far as known.
  var running: Set<LEStates.Activity> {
    var running = advertising.running
    if let activity = scan.running { running.insert(activity) }
    if initiator.isRunning { running.insert(.initiating) }
    return running
  }

  private mutating func pump(at now: Instant) -> [RadioAction] {
    while slot.isFree {
      if let (sender, packet) = commands.popFirst() { return send(packet, from: sender, at: now) }
      guard heldUntil == nil else { return [] }
      if let command = initiator.nextCommand(at: now) { return send(command.packet, from: .initiator, at: now) }
      if let command = advertising.nextCommand(at: now) { return send(command.packet, from: .advertising, at: now) }
      if let command = scan.nextCommand(at: now) { return scan.begins() + send(command.packet, from: .scan, at: now) }
      if let command = sync.nextCommand(at: now) { return send(command, from: .sync, at: now) }
      if isResuming {
        isResuming = false
        return [.resumed]
      }
      guard isQuieting, scan.isQuiet, advertising.isQuiet, initiator.isQuiet, beforePause != nil || sync.isQuiet
      else { return [] }
      isQuieting = false
      return [.quiet]
    }
    return []
  }

  private mutating func send(_ packet: CommandPacket, from sender: Sender, at now: Instant) -> [RadioAction] {
    slot.send(packet, at: now)
    disconnecting = packet.opcode == Disconnect.opcode ? (try? Disconnect(decoding: packet))?.handle : nil
    self.sender = sender
    return [.send(packet)]
  }

  private mutating func quiet() -> [RadioAction] {
    isQuieting = true
    isEnding = true
    isResuming = false
    heldUntil = nil
    scan.want(nil)
    var actions: [RadioAction] = []
    for set in advertising.sets { actions += advertising.want(set, nil) }
    if beforePause != nil {
      initiator.pause()
      return actions
    }
    for train in sync.trains { actions += sync.want(train, nil) }
    for address in initiator.addresses { actions += initiator.unwant(address).map { [.send($0)] } ?? [] }
    return actions
  }

  /// Restarts everything but links; the previous activities may not have ended.
  private mutating func resume(_ address: DeviceAddress, _ targets: RadioTargets) {
    var renewed = Self(profile: profile.seen(under: address), targets: targets)
    renewed.scan.watches(as: scan)
    renewed.initiator.goOn(from: initiator)
    hasScannedActively = scannedActively
    (profile, scan, advertising, initiator) = (renewed.profile, renewed.scan, renewed.advertising, renewed.initiator)
    for peer in links.peers { initiator.linkUp(peer) }
    if let beforePause {
      scan.goOn(from: beforePause.scan)
      advertising.goOn(from: beforePause.advertising)
    }
    beforePause = nil
    scan.doubt()
    advertising.doubt()
    initiator.doubt()
    (isEnding, isQuieting, isResuming) = (false, false, true)
    heldUntil = nil
  }

  // MARK: - Events

  private mutating func receive(_ answer: CommandSlot.Answer, at now: Instant) -> [RadioAction] {
    if let handle = disconnecting { return disconnected(handle, answer.status, at: now) }
    // The time for one subevent had passed: the others are not refused with it.
    if case .questions(let numbers, let apart) = sender, !apart.isEmpty, answer.status.code == .packetTooLate {
      for (number, packet) in zip(numbers, apart).reversed() { commands.prepend((.questions([number]), packet)) }
      return []
    }
    return switch sender {
    case .questions(let numbers, _): numbers.map { .answered(question: $0, answer) }
    case .nobody: []
    case .presence(let handle): verified(handle, answer.status)
    case .scan: scanAnswered(answer.status, at: now)
    case .advertising: advertisingAnswered(answer, at: now)
    case .sync: sync.answered(answer.status, at: now)
    case .initiator where Initiating.isReplaceable && answer.status.code == .unknownHCICommand:
      [.faulty(.extendedConnecting)]
    case .initiator: initiatorAnswered(answer, at: now)
    }
  }

  private mutating func brokenScan() -> [RadioAction] {
    scan.want(nil)
    return [.faulty(.extendedScanning)]
  }

  private mutating func scanAnswered(_ status: HCIStatus, at now: Instant) -> [RadioAction] {
    if Scanning.isReplaceable, !scan.isListing, status.code == .unknownHCICommand { return brokenScan() }
    let beginning = scan.beginning
    let actions = scan.answered(status, at: now)
    learn(beginning, status)
    return actions
  }

  private mutating func receive(_ event: HCIEvent, at now: Instant) -> [RadioAction] {
    if slot.isUnasked(event) { return mayHaveBegunAnew(at: now) }
    switch slot.receive(event, at: now) {
    case .ours(let answer): return receive(answer, at: now)
    case .foreign(let answer): return disturbed(answer, at: now)
    case nil: break
    }
    switch event {
    case .leConnectionComplete(let event): return connected(NewLink(event), at: now)
    case .leEnhancedConnectionComplete(let event): return connected(NewLink(event), at: now)
    case .leMonitoredAdvertisersReport(let event): return scan.received(event)
    case .leAdvertisingSetTerminated(let event):
      return advertising.ended(handle: event.advertisingHandle, event.status, events: event.completedEvents)
    case .lePeriodicAdvertisingSubeventDataRequest(let event):
      let next = subevents.requested(event, by: advertising.responder(event.advertisingHandle))
      commands += next.map { (.questions($0.numbers, apart: $0.apart), $0.packet) }
      return []
    case .lePeriodicAdvertisingResponseReport(let event):
      return subevents.received(event, by: advertising.responder(event.advertisingHandle))
    case .encryptionChange(let event):
      let isMissing = event.status.code == .pinOrKeyMissing
      return (isMissing ? [.keysMissing(handle: event.handle, theirs: true)] : [])
        + [.encryptionChanged(handle: event.handle, event.status)]
    case .encryptionKeyRefreshComplete(let event): return [.encryptionChanged(handle: event.handle, event.status)]
    case .disconnectionComplete(let event):
      guard event.status.isSuccess else { return [] }
      links.endWasTold(at: now)
      slot.linkEnded(event.handle, at: now)
      giveUp(event.handle)
      return [.linkDown(handle: event.handle, event.reason)]
    default:
      guard let (handle, news) = LinkNews.reported(by: event) else {
        return sync.handle(event, takesTrains: !isEnding || beforePause != nil, at: now)
      }
      if let timeout = news.supervisionTimeout { links.updated(handle, supervisionTimeout: timeout) }
      return [.link(handle: handle, news)]
    }
  }

  private mutating func disturbed(_ answer: CommandSlot.Answer, at now: Instant) -> [RadioAction] {
    guard answer.status.isSuccess else { return [] }
    let command = ForeignCommand(answer)
    // Without other programs the answer is late or comes twice, unless a reset has ended all, unheard.
    guard !profile.isExclusive else { return command == .reset ? [.broken(.unexpectedReset)] : [] }
    // Whenever a link is established the kernel stops foreign scans: that is no sign of sleep.
    let isUsual = links.haveJustChanged(at: now)
    if !isUsual, ForeignCommand.preludes.contains(answer.opcode) {
      heldUntil = heldUntil ?? now.advanced(by: .milliseconds(250))
    }
    switch command {
    case .missingKey(let handle): return [.keysMissing(handle: handle, theirs: false)]
    case .scan: return scan.disturbed(at: now, isUsual: isUsual)
    case .advertising: return advertising.disturbed(at: now)
    case .initiating:
      initiator.disturbed()
      return []
    case .reset:
      initiator.wasReset()
      links.reset()
      return scan.wasReset() + advertising.wasReset() + sync.wasReset()
    case .other: return []
    }
  }
}
