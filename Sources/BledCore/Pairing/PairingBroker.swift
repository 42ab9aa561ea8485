import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import Logging

/// Decides who pairs: asks the sessions that registered for it, else the configuration; and keeps what comes of it.
///
/// | Question of a pairing | Who answers                                                          |
/// |-----------------------|----------------------------------------------------------------------|
/// | any                   | an agent: the session that pairs, then the others as they registered |
/// | … none is there       | consent: yes if a session pairs, or devices may; anything else: no   |
/// | … it cannot answer    | the next one; after `patience`, or when its session ends: no         |
final class PairingBroker {
  /// How long the questions of one pairing may take: SMP gives up after 30 s (Core 5.4, Vol 3, Part H, 3.4).
  static let patience = Duration.seconds(25)
  /// The longest time for which devices may pair.
  private static let longestWindow = 3600.0

  let bonds: BondDirectory
  unowned let adapters: AdapterRegistry
  unowned let directory: PeripheralDirectory
  private unowned let links: LinkRegistry
  private let scheduler: any Scheduler
  private let logger: Logger
  private var agents = PairingAgents()
  private var acceptsAll = false
  private var window: (any ScheduledWork)?
  /// The sessions that wait for a link to become more secure, each under a number of its own.
  private var raising: [LinkID: [Int: Session]] = [:]
  /// Links whose pairing was allowed by somebody.
  private var allowed: Set<LinkID> = []
  /// The questions that sessions are asked.
  private var questions: [Peripheral: OpenQuestion] = [:]
  private var lastNumber = 0
  /// The sessions that were asked or shown something for the pairing that goes on.
  private var involved: [Peripheral: Set<Session>] = [:]

  /// A question that waits for the answer of a session.
  private struct OpenQuestion {
    /// An answer to an earlier one comes too late.
    let number: Int
    /// Rings when nobody has answered in time.
    let alarm: any ScheduledWork
    /// The session that is asked, and by which call.
    var asked: (session: Session, call: OutgoingCalls.Number)?
  }

  init(
    adapters: AdapterRegistry, directory: PeripheralDirectory, links: LinkRegistry, bonds: BondDirectory,
    scheduler: any Scheduler, logger: Logger
  ) {
    self.adapters = adapters
    self.directory = directory
    self.links = links
    self.bonds = bonds
    self.scheduler = scheduler
    self.logger = logger
    directory.setBonds(bonds.all)
  }

  // MARK: Who may pair

  /// An adapter is about to be started.
  func adding(_ adapter: any Adapter) {
    adapter.setBonds(bonds.all)
    adapter.setPairing(settings)
  }

  /// Whether every device may pair without a check.
  func accept(all: Bool) {
    acceptsAll = all
    settingsChanged()
  }

  /// Devices may pair without a check for a while.
  func open(_ params: PairingOpen.Params) throws {
    guard params.seconds >= 0, params.seconds <= Self.longestWindow else {
      throw BledError.invalidParameter.error("\"seconds\" must be 0 to \(Int(Self.longestWindow))")
    }
    window?.cancel()
    window = nil
    if params.seconds > 0 {
      logger.notice("devices may pair for \(params.seconds) s")
      window = scheduler.schedule(after: .seconds(params.seconds)) { [weak self] in
        self?.window = nil
        self?.settingsChanged()
      }
    }
    settingsChanged()
  }

  func register(_ params: PairingRegister.Params, _ session: Session) throws {
    let named = PairingCapability.allCases.first { $0.rawValue.hasSameOctets(as: params.capability) }
    guard let capability = named else {
      let words = PairingCapability.allCases.map(\.rawValue).joined(separator: ", ")
      throw BledError.invalidParameter.error("\"capability\" must be one of \(words)")
    }
    agents.register(session, capability)
    settingsChanged()
  }

  func unregister(_ session: Session) {
    if agents.remove(session) { settingsChanged() }
  }

  /// A session has ended.
  func ended(_ session: Session) {
    unregister(session)
    // Nobody else may be asked the same: what was shown to one person must not be answered by another.
    for (peripheral, question) in questions where question.asked?.session === session {
      answer(.refuse, peripheral, links.links.last { $0.peripheral == peripheral }, peripheral.adapter)
    }
    for peripheral in involved.keys { involved[peripheral]?.remove(session) }
    for link in raising.keys { raising[link] = raising[link]?.filter { $0.value !== session } }
  }

  private var settings: PairingSettings {
    PairingSettings(
      capability: agents.capability ?? .none, acceptsDevices: acceptsAll || window != nil || agents.capability != nil)
  }

  private func settingsChanged() { for slot in adapters.slots { slot.adapter.setPairing(settings) } }

  // MARK: Links

  /// How a link is protected, as far as it can be trusted: the kernel may have paired without asking. What is better
  /// than the keys of the bond did not come from them.
  func security(of hub: LinkHub) -> SecurityState {
    var state = SecurityState(hub.link.security)
    let bond = bond(of: hub)
    state.isBonded = bond != nil
    let isOfBond = bond?.security.map { $0.level >= Int(state.level) } ?? false
    return isOfBond || mayPair(hub) ? state : SecurityState(level: 1, keySize: 0, isBonded: bond != nil)
  }

  /// Whether somebody allows this link to pair.
  private func mayPair(_ hub: LinkHub?) -> Bool {
    acceptsAll || window != nil || (hub.map { allowed.contains($0.link.id) } ?? false)
  }

  /// The sessions that cause a link to pair.
  private func causes(_ hub: LinkHub?) -> [Session] {
    hub.flatMap { raising[$0.link.id] }?.sorted { $0.key < $1.key }.map(\.value) ?? []
  }

  /// A session asks for a more secure link.
  func pair(
    _ params: PeripheralPair.Params, on hub: LinkHub, for session: Session, _ reply: Reply<PeripheralPair.Result>
  ) throws {
    let level = try params.level.map { try LinkSecurity.level($0) } ?? 2
    raise(hub, to: level, for: session) { [weak self, weak hub] error in
      if let error { return reply.fail(error) }
      guard let self, let hub, hub.isOpen else { return reply.fail(LinkHub.gone) }
      bonds.whenStored { isStored in
        guard hub.isOpen else { return reply.fail(LinkHub.gone) }
        guard isStored else {
          return reply.fail(
            GAPError.pairingFailed.error("paired, but the keys could not be stored: the daemon's log says why"))
        }
        let security = hub.link.security
        reply.succeed(
          .init(
            level: security.word, keySize: security.keySize, bonded: self.bond(of: hub) != nil))
      }
    }
  }

  /// The device refuses a request of a session for lack of security: raises it, if there is a bond or the session may
  /// pair.
  /// - Parameter done: called with whether to repeat the request.
  func raise(_ hub: LinkHub, after error: ATTErrorCode, for session: Session?, _ done: @escaping (Bool) -> Void) {
    let now = security(of: hub).level
    let mayPair = session.map { $0.rules.permissions(of: $0).contains(.pair) } ?? false
    guard bond(of: hub) != nil || mayPair, let level = error.level(above: Int(now)) else { return done(false) }
    raise(hub, to: level, for: session) { done($0 == nil) }
  }

  private func raise(
    _ hub: LinkHub, to level: Int, for session: Session?, _ done: @escaping (BluetoothError?) -> Void
  ) {
    let id = hub.link.id
    lastNumber += 1
    let number = lastNumber
    // Without a session it is the daemon's own request, which pairs with nobody.
    if let session {
      raising[id, default: [:]][number] = session
      allowed.insert(id)
    }
    hub.link.raiseSecurity(to: level) { [weak self, weak hub] error in
      self?.raising[id]?[number] = nil
      if self?.raising[id]?.isEmpty == true { self?.raising[id] = nil }
      if error != nil, hub?.link.security.level ?? 1 <= 1 { self?.allowed.remove(id) }
      hub?.securityChanged()
      done(error)
    }
  }

  /// A link has ended.
  func linkEnded(_ hub: LinkHub) {
    raising[hub.link.id] = nil
    allowed.remove(hub.link.id)
    involved[hub.peripheral] = nil
    endQuestion(of: hub.peripheral)
  }

  private func bond(of hub: LinkHub) -> Bond? {
    bonds.find(hub.slot.adapter.information.address, hub.peripheral.identity)
  }

  // MARK: What adapters tell

  func handle(_ event: PairingEvent, with address: DeviceAddress, on slot: AdapterSlot) {
    let peripheral = directory.peripheral(at: address, on: slot)
    let hub = links.links.last { $0.peripheral == peripheral }
    switch event {
    case .question(let question): ask(question, peripheral, hub, slot)
    case .showPasskey(let passkey, let entered):
      show(passkey, entered, peripheral, hub, slot)
    case .bonded(let bond):
      guard mayPair(hub) else {
        logger.warning("\(peripheral.address) has paired though nobody allowed it; its keys are removed")
        return forget(bond)
      }
      guard mayClaim(peripheral, bond) else { return refuse(bond, claimedBy: peripheral, hub, slot) }
      directory.paired(peripheral, as: bond.peer)
      if let old = bonds.keep(bond) { forget(old) }
      shareBonds()
      hub?.securityChanged()
      if bond.security != nil { tellEnd(peripheral, hub, nil) }
    case .failed(let error):
      logger.notice("pairing with \(peripheral.address) failed: \(error)")
      tellEnd(peripheral, hub, error)
    case .unbonded:
      bonds.remove(slot.adapter.information.address, peripheral.identity)
      shareBonds()
      hub?.securityChanged()
    }
  }

  /// Whether a device may be the one of a bond. Any device can tell the identity of another when it has paired, and
  /// would take its place: if that one is bonded already somebody must have been asked.
  private func mayClaim(_ peripheral: Peripheral, _ bond: Bond) -> Bool {
    peripheral.identity == bond.peer || bonds.find(bond.local, bond.peer) == nil
      || involved[peripheral]?.isEmpty == false
  }

  /// A device claims to be another one. Its keys are removed, and the kernel gets those back that they replaced.
  private func refuse(_ bond: Bond, claimedBy peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    logger.warning(
      """
      \(peripheral.address) has paired as \(bond.peer), which is paired already: its keys are removed. If it is that \
      device, forget it and pair again
      """)
    slot.adapter.unpair(bond.peer)
    shareBonds()
    tellEnd(
      peripheral, hub,
      GAPError.pairingFailed.error("\(bond.peer) is paired already: forget it on both sides, and pair again"))
  }

  private func ask(_ question: PairingQuestion, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    endQuestion(of: peripheral)
    let causes = causes(hub)
    let candidates = agents.answering(question, causedBy: causes)
    guard !candidates.isEmpty else {
      // Who is known and pairs again may be somebody else: it is forgotten first, or somebody is there to ask.
      let isKnown = hub.map { bond(of: $0) != nil } ?? false
      let accepts = question == .consent && !isKnown && (!causes.isEmpty || acceptsAll || window != nil)
      if !accepts {
        logger.notice(
          "\(peripheral.address) may not pair: no program answers for it, and the configuration does not allow it")
      }
      return answer(accepts ? .accept : .refuse, peripheral, hub, slot)
    }
    lastNumber += 1
    let alarm = scheduler.schedule(after: Self.patience) { [weak self] in
      self?.logger.notice("nobody has answered the question whether \(peripheral.address) may pair")
      self?.answer(.refuse, peripheral, hub, slot)
    }
    questions[peripheral] = OpenQuestion(number: lastNumber, alarm: alarm)
    ask(candidates[...], question, peripheral, hub, slot, number: lastNumber)
  }

  private func ask(
    _ candidates: ArraySlice<Session>, _ question: PairingQuestion, _ peripheral: Peripheral, _ hub: LinkHub?,
    _ slot: AdapterSlot, number: Int
  ) {
    guard let session = candidates.first(where: \.isPresent) else { return answer(.refuse, peripheral, hub, slot) }
    involved[peripheral, default: []].insert(session)
    let device = device(peripheral, hub)
    let seconds = Int(Self.patience.components.seconds)
    let finish = { [weak self] (given: PairingAnswer?) in
      guard let self, questions[peripheral]?.number == number else { return }
      guard let given else {
        return ask(candidates.drop { $0 !== session }.dropFirst(), question, peripheral, hub, slot, number: number)
      }
      answer(given, peripheral, hub, slot)
    }
    let call: OutgoingCalls.Number
    if question == .passkey {
      call = session.call(PairingEnterPasskey.self, .init(device: device, seconds: seconds)) { result in
        finish(result.map { Passkey.number($0.passkey).map { .passkey($0) } ?? .refuse }.success)
      }
    } else {
      var digits: String?
      if case .comparison(let value) = question { digits = Passkey.digits(value) }
      let params = PairingConfirm.Params(device: device, number: digits, seconds: seconds)
      call = session.call(PairingConfirm.self, params) { result in
        finish(result.map { $0.accept ? .accept : .refuse }.success)
      }
    }
    questions[peripheral]?.asked = (session, call)
  }

  /// The kernel asks nobody before it has a passkey typed at the device. Whoever is shown it consents by telling it.
  private func show(
    _ passkey: UInt32, _ entered: Int, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot
  ) {
    let causes = causes(hub)
    guard let hub, let session = agents.showing(causedBy: causes),
      !causes.isEmpty || hub.link.role == .peripheral
    else {
      logger.notice("\(peripheral.address) may not pair: no program shows its passkey")
      return slot.adapter.unpair(hub?.link.peer ?? peripheral.address)
    }
    allowed.insert(hub.link.id)
    involved[peripheral, default: []].insert(session)
    session.send(
      PairingShowPasskey.self,
      .init(device: device(peripheral, hub), passkey: Passkey.digits(passkey), entered: entered))
  }

  private func answer(_ answer: PairingAnswer, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    endQuestion(of: peripheral)
    if answer != .refuse, let hub { allowed.insert(hub.link.id) }
    slot.adapter.answer(hub?.link.peer ?? peripheral.address, answer)
  }

  private func endQuestion(of peripheral: Peripheral) {
    guard let question = questions.removeValue(forKey: peripheral) else { return }
    question.alarm.cancel()
    if let asked = question.asked { asked.session.calls.forget(asked.call) }
  }

  private func tellEnd(_ peripheral: Peripheral, _ hub: LinkHub?, _ error: BluetoothError?) {
    endQuestion(of: peripheral)
    let sessions = involved.removeValue(forKey: peripheral) ?? []
    let params = PairingEnded.Params(device: device(peripheral, hub), reason: error.map { RPCError($0) })
    for session in sessions.sorted(by: { $0.id < $1.id }) { session.send(PairingEnded.self, params) }
  }

  private func device(_ peripheral: Peripheral, _ hub: LinkHub?) -> PairingDevice {
    PairingDevice(
      peripheral: peripheral.id, address: "\(peripheral.address)", name: peripheral.name,
      isOurs: !causes(hub).isEmpty)
  }
}

extension Result {
  fileprivate var success: Success? { try? get() }
}

extension ATTErrorCode {
  /// The level of a link on which the request may succeed; nil if there is none.
  /// - Parameter now: the level of the link, 1 to 4.
  fileprivate func level(above now: Int) -> Int? {
    switch self {
    case .insufficientAuthentication: now < 4 ? now + 1 : nil
    // A longer key is not made of the same bond.
    case .insufficientEncryption, .encryptionKeySizeTooShort: now < 2 ? 2 : nil
    default: nil
    }
  }
}
