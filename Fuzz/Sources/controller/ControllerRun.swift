import Adapter
import Bluetooth
import Fuzzing
import HCI
import Radio

/// A controller behind H4 and what the own host makes of its octets, as `ControllerHost` does: the framer, the set-up,
/// then the machines of the radio with everything that can be wanted. The controller gets one command at a time, each
/// of which can be decoded; links begin and end once, and nothing grows without a bound. The target `acl` has their
/// data.
struct ControllerRun {
  private enum Phase {
    case settingUp(HostSetUp)
    case inUse(any RadioMachine)
    case over
  }

  private static let local = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
  /// The commands without a type.
  private static let plain: Set<Opcode> = [0x0C03, 0x0C6D, 0xFC09]
  /// So long a command waits for its answer at least.
  private static let patience = Duration.seconds(1)
  /// As many events of one input; more only take time.
  private static let mostEvents = 128
  /// One input in so many, the first among them, may have more, and its machines are measured: reflection takes
  /// milliseconds.
  private static let measured = (every: 256, mostEvents: 8192)
  private nonisolated(unsafe) static var inputs = 0

  private let isMeasured: Bool
  private var input: FuzzInput
  private var now = Instant.zero
  private var phase: Phase
  private var framer = H4Framer()
  /// How many packets the framer has given.
  private var packets = 0
  private var targets = RadioTargets()
  private var isPausing = false
  private var isEnding = false
  private var events = 0
  /// The command that has no answer yet.
  private var command: (opcode: Opcode, since: Instant)?
  private var links: Set<ConnectionHandle> = []
  private var questions: Set<Int> = []
  private var lastQuestion = 0

  init(_ input: FuzzInput) {
    self.input = input
    phase = .over
    isMeasured = Self.inputs % Self.measured.every == 0
    Self.inputs += 1
  }

  mutating func run() {
    let kind = input.octet()
    let faults = ControllerFaults(rawValue: kind & 8 == 0 ? 0 : 7)
    if kind & 1 == 0 {
      var setUp = HostSetUp(spare: Self.local, avoidsExtended: !faults.isEmpty)
      framer = H4Framer(isSearching: true)
      let actions = setUp.start(at: now)
      phase = .settingUp(setUp)
      perform(actions)
    } else {
      var profile = ControllerProfile(address: Self.local)
      profile.faults = faults
      profile.features = LEFeatures(rawValue: kind & 2 == 0 ? 0 : .max)
      profile.commands = [UInt8](repeating: kind & 2 == 0 ? 0 : 0xFF, count: 64)
      profile.advertisingSets = kind & 4 == 0 ? 2 : 240
      profile.acceptListSize = kind & 4 == 0 ? 1 : 8
      profile.isExclusive = true
      phase = .inUse(profile.radio(targets))
    }
    let most = isMeasured ? Self.measured.mostEvents : Self.mostEvents
    while !input.isEmpty, events < most, isOpen { step() }
    measure()
  }

  private func measure() {
    guard isMeasured else { return }
    checkBounds(of: framer, "the framer")
    switch phase {
    case .settingUp(let setUp): checkBounds(of: setUp, "the set-up")
    case .inUse(let radio): checkBounds(of: radio, "the radio")
    case .over: break
    }
  }

  private var isOpen: Bool { if case .over = phase { false } else { true } }

  private mutating func step() {
    switch input.octet() & 15 {
    case 1, 2, 3: tell()
    case 4, 5, 6, 7: answer()
    case 8: pass(.milliseconds(Int64(input.word())))
    case 9: if let deadline, deadline > now { pass(now.duration(to: deadline)) }
    case 10: want()
    case 11: connect()
    case 12: follow()
    case 13: ask()
    case 14: turn()
    default: receive(input.packet())
    }
  }

  // MARK: - The controller

  /// The same event some times, with a number in it that counts.
  private mutating func tell() {
    let kind = input.octet()
    let subevent = input.octet()
    let times = kind & 0x40 == 0 ? 1 : 1 << Int(kind >> 3 & 7)
    var parameters = input.packet()
    if kind & 0x80 == 0 { parameters = [subevent] + parameters }
    let place = Int(input.octet())
    for _ in 0..<times {
      guard isOpen, parameters.count < 256 else { return }
      let code = kind & 0x80 == 0 ? HCIEvent.leMeta : subevent
      receive(HCIPacket.event(EventPacket(code: code, parameters: parameters)).octets)
      guard parameters.indices.contains(place) else { continue }
      parameters[place] &+= 1
      if parameters[place] == 0, parameters.indices.contains(place + 1) { parameters[place + 1] &+= 1 }
    }
  }

  /// The command that waits is answered.
  private mutating func answer() {
    let kind = input.octet()
    let status = kind & 7 == 7 ? input.octet() : 0
    let returned = input.packet()
    guard let command else { return }
    let filler = [UInt8](repeating: kind & 16 == 0 ? 0 : 0xFF, count: 64)
    let event: HCIEvent =
      kind & 8 == 0
      ? .commandComplete(
        CommandComplete {
          $0.credits = kind & 32 == 0 ? 1 : kind >> 6
          $0.opcode = command.opcode
          $0.returnParameters = Array(([status] + returned + filler).prefix(250))
        })
      : .commandStatus(
        CommandStatus {
          $0.status = HCIStatus(rawValue: status)
          $0.credits = kind & 32 == 0 ? 1 : kind >> 6
          $0.opcode = command.opcode
        })
    receive(HCIPacket.event(event.packet).octets)
  }

  private mutating func receive(_ octets: [UInt8]) {
    events += 1
    for output in framer.receive(octets[...]) {
      switch output {
      case .packet(let packet):
        packets += 1
        if isOpen { try? take(packet) }
      case .lost: phase = .over
      case .skipped(let count): invariant(count > 0 && packets == 0, "\(count) octets behind \(packets) packets")
      }
    }
  }

  private mutating func take(_ octets: [UInt8]) throws(HCICodingError) {
    if case .inUse(var radio) = phase, let reports = try AdvertisingReports(decoding: octets) {
      let heard = radio.received(reports, at: now)
      invariant(heard.allSatisfy { $0.data.count <= 1650 }, "a report of more octets than there can be")
      phase = .inUse(radio)
      return
    }
    switch try HCIPacket(decoding: octets) {
    case .event(let packet): take(try HCIEvent(decoding: packet))
    case .acl, .command: break
    }
  }

  private mutating func take(_ event: HCIEvent) {
    switch event {
    case .commandComplete(let complete): if complete.opcode == command?.opcode { command = nil }
    case .commandStatus(let status): if status.opcode == command?.opcode { command = nil }
    default: break
    }
    if case .settingUp(var setUp) = phase {
      let actions = setUp.handle(event, at: now)
      phase = .settingUp(setUp)
      return perform(actions)
    }
    if case .numberOfCompletedPackets = event { return }
    give(.event(event))
  }

  // MARK: - The host

  private var deadline: Instant? {
    switch phase {
    case .settingUp(let setUp): setUp.deadline
    case .inUse(let radio): radio.deadline(after: now)
    case .over: nil
    }
  }

  private mutating func pass(_ time: Duration) {
    now = now.advanced(by: time)
    // A command that expires and the rest of what is due take a tick each.
    for _ in 0..<3 where deadline.map({ $0 <= now }) ?? false { tick() }
    invariant(deadline.map { $0 > now } ?? true, "a deadline that is over")
  }

  private mutating func tick() {
    if case .settingUp(var setUp) = phase {
      let actions = setUp.tick(at: now)
      phase = .settingUp(setUp)
      perform(actions)
    } else {
      give(.tick)
    }
  }

  private mutating func give(_ input: RadioInput) {
    guard case .inUse(var radio) = phase else { return }
    let actions = radio.handle(input, at: now)
    phase = .inUse(radio)
    for action in actions {
      guard isOpen else { return }
      perform(action)
    }
  }

  private mutating func perform(_ actions: [HostSetUp.Action]) {
    for action in actions {
      switch action {
      case .send(let packet): sent(packet)
      case .done(let controller):
        invariant(27...1023 ~= controller.dataLength && controller.dataPackets > 0, "data of no length")
        phase = .inUse(controller.profile.radio(targets))
      case .warned: break
      case .failed: phase = .over
      }
    }
  }

  private mutating func perform(_ action: RadioAction) {
    switch action {
    case .send(let packet): sent(packet)
    case .linkUp(let handle, _, _, _):
      invariant(links.insert(handle).inserted, "link \(handle) is up twice")
      invariant(handle <= 0x0EFF && links.count <= 256, "\(links.count) links, the last is \(handle)")
    case .attach(let handle, _, _): invariant(links.contains(handle), "link \(handle) is not up")
    case .linkDown(let handle, _): links.remove(handle)
    case .answered(let question, _):
      invariant(questions.remove(question) != nil, "question \(question) is answered twice, or was not asked")
    case .broken:
      measure()
      phase = .over
    // As `RadioActivities.adopt`.
    case .trainReceived(_, let received):
      if targets.syncs[received.train] == nil { give(.wantSync(received.train, nil)) }
    case .scanning, .watching, .presence, .advertising, .periodic, .responses, .trainNotReceived, .attemptFailed,
      .connectWaiting, .sharing,
      .faulty, .quirk, .renewed, .link, .encryptionChanged, .keysMissing, .quiet, .resumed, .log:
      break
    }
  }

  private mutating func sent(_ packet: CommandPacket) {
    let isBusy = command.map { $0.since.advanced(by: Self.patience) > now } ?? false
    invariant(!isBusy, "two commands at once: \(String(describing: command)), \(packet)")
    command = (packet.opcode, now)
    let octets = HCIPacket.command(packet).octets
    invariant((try? HCIPacket(decoding: octets)) == .command(packet), "no packet: \(packet)")
    guard let type = KnownCommands.type(of: packet.opcode) else {
      return invariant(Self.plain.contains(packet.opcode), "an unknown command: \(packet)")
    }
    check(packet, type)
  }

  private func check<Command: HCICommand>(_ packet: CommandPacket, _: Command.Type) {
    let decoded = try? Command(decoding: packet)
    invariant(decoded.map { CommandPacket($0) } == packet, "\(packet) is decoded as \(String(describing: decoded))")
  }

  // MARK: - The wanted activities

  private mutating func device() -> DeviceAddress {
    let octet = input.octet()
    return DeviceAddress(value: 0xF0F1_F2F3_F400 | UInt64(octet & 15), kind: octet & 16 == 0 ? .random : .public)
  }

  private mutating func want() {
    let kind = input.octet()
    if kind & 3 == 0 {
      targets.scan = kind & 4 == 0 ? ScanParameters(isActive: kind & 8 == 0, phys: Set(PHY.allCases)) : nil
      return give(.wantScan(targets.scan))
    }
    let set = AdvertisingSetID(UInt32(kind >> 2 & 3))
    var parameters: AdvertisingParameters?
    if kind & 3 != 3 {
      parameters = AdvertisingParameters(isConnectable: kind & 16 == 0, data: Array(input.filler().prefix(254)))
      if kind & 32 != 0 { parameters?.ownAddress = DeviceAddress(value: 0xC0AA_BBCC_DD00, kind: .random) }
      if kind & 64 != 0 {
        parameters?.kind = .nonconnectable
        var train = PeriodicAdvertising(interval: .milliseconds(100), data: [1, 2, 3])
        if kind & 128 != 0 {
          train.responses = ResponseSlots(
            subevents: 4, subeventInterval: .milliseconds(25), delay: .milliseconds(5), spacing: .milliseconds(1),
            count: 8)
        }
        parameters?.periodic = train
      }
    }
    targets.advertising[set] = parameters
    give(.wantAdvertising(set, parameters))
  }

  private mutating func connect() {
    let device = device()
    switch input.octet() & 7 {
    case 0, 1, 2:
      targets.connects[device] = ConnectionParameters()
      give(.connect(device, ConnectionParameters()))
    case 3, 4:
      targets.connects[device] = nil
      give(.cancelConnect(device))
    case 5: give(.attachFailed(device, GAPError.connectionFailed.error("")))
    default:
      targets.connects[device] = nil
      give(.attached(device))
    }
  }

  private mutating func follow() {
    let kind = input.octet()
    let train = PeriodicTrain(address: device(), sid: kind & 3)
    targets.syncs[train] = kind & 4 == 0 ? SyncParameters(timeout: .seconds(1)) : nil
    give(.wantSync(train, targets.syncs[train]))
  }

  private mutating func ask() {
    let kind = input.octet()
    lastQuestion += 1
    questions.insert(lastQuestion)
    switch kind & 3 {
    case 0: give(.ask(lastQuestion, CommandPacket(LEReadRemoteFeatures(handle: ConnectionHandle(input.octet())))))
    case 1:
      let train = PeriodicTrain(address: device(), sid: kind >> 3 & 3)
      give(.train(lastQuestion, about(train, kind)))
    case 2:
      let data = SubeventData(subevent: kind >> 4 & 3, data: input.packet(), firstSlot: 0, slots: 8)
      give(.setSubevent(lastQuestion, data, AdvertisingSetID(UInt32(kind >> 2 & 3))))
    default:
      give(.ask(lastQuestion, CommandPacket(Disconnect(handle: ConnectionHandle(input.octet()), reason: .success))))
    }
  }

  private mutating func about(_ train: PeriodicTrain, _ kind: UInt8) -> TrainCommand {
    switch kind >> 5 & 3 {
    case 0, 1:
      let set = AdvertisingSetID(UInt32(kind >> 3 & 3))
      let link = ConnectionHandle(input.octet())
      return .transfer(TrainTransfer(train: kind & 4 == 0 ? .own(set) : .followed(train), link: link, serviceData: 0))
    case 2: return .receive([0, 1], of: train)
    default:
      let request = SubeventPlace(event: 7, subevent: 1)
      return .respond(TrainResponse(to: request, subevent: 1, slot: 2, data: [1, 2, 3]), to: train)
    }
  }

  /// A pause, its end, or the end of everything.
  private mutating func turn() {
    let kind = input.octet()
    guard !isEnding else { return }
    if kind == 0xFF {
      isEnding = true
      targets = RadioTargets()
      give(.quiet)
    } else if isPausing {
      isPausing = false
      give(.resume(Self.local, targets))
    } else {
      isPausing = true
      give(.pause)
    }
  }
}
