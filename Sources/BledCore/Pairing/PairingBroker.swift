import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import Logging

/// Decides who pairs: asks the sessions that registered for it, else the configuration; and keeps what comes of it.
///
/// | Question of a pairing | Who answers                                                                |
/// |-----------------------|----------------------------------------------------------------------------|
/// | any                   | an agent: the session that pairs, then the others as they registered       |
/// | … none is there       | consent: yes if a session pairs, or the policy or a window lets the device |
/// |                       | passkey: the one of the policy; anything else: no                          |
final class PairingBroker {
  let bonds: BondDirectory
  let consent: PairingConsent
  unowned let adapters: AdapterRegistry
  unowned let directory: PeripheralDirectory
  private unowned let links: LinkRegistry
  private let scheduler: any Scheduler
  private let logger: Logger
  private let questions: PairingQuestions
  /// What is known of the pairings of links.
  /// Under which addresses new adapters are seen; nil for those that they keep.
  var privacy: PrivacySettings?
  private var pairings: [LinkID: LinkPairing] = [:]
  private var lastNumber = 0

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
    consent = PairingConsent(adapters: adapters, scheduler: scheduler, logger: logger)
    questions = PairingQuestions(scheduler: scheduler)
    directory.setBonds(bonds.all)
  }

  /// An adapter is about to be started.
  func adding(_ adapter: any Adapter) {
    adapter.setBonds(bonds.all)
    adapter.setPairing(consent.settings(adapter.information))
    adapter.setPrivacy(privacy)
  }

  /// A session has ended.
  func ended(_ session: Session) {
    consent.ended(session)
    questions.ended(session)
    for (link, pairing) in pairings { pairings[link]?.causes = pairing.causes.filter { $0.value !== session } }
  }

  // MARK: Links

  /// How a link is protected, as far as it can be trusted: the kernel may have paired without asking. What is better
  /// than the keys of the bond did not come from them.
  func security(of hub: LinkHub) -> SecurityState {
    var state = SecurityState(hub.link.security)
    let bond = bond(of: hub)
    state.isBonded = bond != nil
    let hasOtherKeys = pairings[hub.link.id]?.hasOtherKeys ?? false
    let isOfBond = !hasOtherKeys && bond?.security.map { $0.level >= Int(state.level) } ?? false
    return isOfBond || mayPair(hub, hub.peripheral, hub.slot)
      ? state : SecurityState(level: 1, keySize: 0, isBonded: bond != nil)
  }

  /// The bond of a link if the link is encrypted with its keys, which the device has thereby shown to have.
  func provenBond(of hub: LinkHub) -> Bond? {
    let pairing = pairings[hub.link.id] ?? LinkPairing()
    guard !pairing.isAgreeing, !pairing.hasOtherKeys, let bond = bond(of: hub), let level = bond.security?.level,
      (2...max(2, level)).contains(hub.link.security.level)
    else { return nil }
    return bond
  }

  /// Whether somebody allows this device to pair.
  private func mayPair(_ hub: LinkHub?, _ peripheral: Peripheral, _ slot: AdapterSlot) -> Bool {
    hub.flatMap { pairings[$0.link.id] }?.isAllowed == true
      || consent.allowsAnyone(as: peripheral.identity, on: slot.adapter.information)
  }

  /// The sessions that cause a link to pair.
  private func causes(_ hub: LinkHub?) -> [Session] {
    hub.flatMap { pairings[$0.link.id] }?.causes.sorted { $0.key < $1.key }.map(\.value) ?? []
  }

  /// A session asks for a more secure link.
  func pair(
    _ params: PeripheralPair.Params, on hub: LinkHub, for session: Session, _ reply: Reply<PeripheralPair.Result>
  ) throws {
    let level = try params.level.map { try LinkSecurity.level($0) } ?? 2
    let keySize = params.minimumKeySize ?? 7
    guard (7...16).contains(keySize) else {
      throw BledError.invalidParameter.error("\"minimumKeySize\" must be 7 to 16 octets")
    }
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
        guard security.keySize >= keySize else {
          return reply.fail(
            GAPError.pairingFailed.error("the device made a key of \(security.keySize) octets, not of \(keySize)"))
        }
        reply.succeed(.init(level: security.word, keySize: security.keySize, bonded: self.bond(of: hub) != nil))
      }
    }
  }

  /// The link of a device that has connected to us, which can be asked to pair as well.
  func incoming(_ id: String) throws -> LinkHub? {
    let peripheral = try directory.find(id)
    return links.links.last { $0.peripheral == peripheral && $0.link.role == .peripheral }
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

  /// Has a link at this level or above, 1 to 4: encrypts it with the keys of a bond, or pairs if the session may.
  /// - Parameter done: called once, possibly from inside the call, with why it is not.
  func require(_ level: Int, on hub: LinkHub, for session: Session, _ done: @escaping (BluetoothError?) -> Void) {
    guard security(of: hub).level < level else { return done(nil) }
    guard bond(of: hub) != nil || session.rules.permissions(of: session).contains(.pair) else {
      return done(session.rules.policy.refusal(of: .pair, to: session.credentials))
    }
    raise(hub, to: level, for: session, done)
  }

  private func raise(
    _ hub: LinkHub, to level: Int, for session: Session?, _ done: @escaping (BluetoothError?) -> Void
  ) {
    let id = hub.link.id
    lastNumber += 1
    let number = lastNumber
    // Without a session it is the daemon's own request, which pairs with nobody.
    if let session {
      pairings[id, default: LinkPairing()].causes[number] = session
      pairings[id]?.isAllowed = true
    }
    hub.link.raiseSecurity(
      to: level, as: consent.capability(for: session, hub.peripheral.identity, on: hub.slot.adapter.information)
    ) { [weak self, weak hub] error in
      self?.pairings[id]?.causes[number] = nil
      if error != nil, hub?.link.security.level ?? 1 <= 1 { self?.pairings[id]?.isAllowed = false }
      hub?.securityChanged()
      done(error)
    }
  }

  /// A link has ended.
  func linkEnded(_ hub: LinkHub) {
    passkeyFailed(hub)
    pairings[hub.link.id] = nil
    questions.linkEnded(hub.peripheral)
  }

  /// The bond with the device of a link.
  func bond(of hub: LinkHub) -> Bond? {
    bonds.find(hub.slot.adapter.information.address, hub.peripheral.identity)
  }

  // MARK: What adapters tell

  func handle(_ event: PairingEvent, with address: DeviceAddress, on slot: AdapterSlot) {
    let peripheral = directory.peripheral(at: address, on: slot)
    let hub = hub(of: peripheral, slot)
    switch event {
    case .question(let question):
      if let hub { pairings[hub.link.id, default: LinkPairing()].isAgreeing = true }
      ask(question, peripheral, hub, slot)
    case .showPasskey(let passkey, let entered):
      if let hub { pairings[hub.link.id, default: LinkPairing()].isAgreeing = true }
      show(passkey, entered, peripheral, hub, slot)
    case .bonded(let bond): keep(bond, peripheral, hub, slot)
    case .pairedWithoutBond:
      guard let hub else { return }
      pairings[hub.link.id, default: LinkPairing()].hasOtherKeys = true
      hub.securityChanged()
      tellEnd(peripheral, hub, slot, nil)
    case .failed(let error):
      logger.notice(
        "pairing with \(peripheral.address) failed: \(error)", metadata: .about(peripheral, adapter: slot))
      if let hub {
        passkeyFailed(hub)
        let isCaused = !causes(hub).isEmpty
        pairings[hub.link.id]?.isAgreeing = false
        pairings[hub.link.id]?.consent = nil
        pairings[hub.link.id]?.isAllowed = isCaused
      }
      tellEnd(peripheral, hub, slot, error)
    case .keysRefused(let earlier):
      if let earlier {
        if let old = bonds.keep(earlier) { forget(old) }
      } else {
        bonds.remove(slot.adapter.information.address, peripheral.identity)
      }
      shareBonds()
      hub?.bondChanged()
    case .unbonded:
      bonds.remove(slot.adapter.information.address, peripheral.identity)
      shareBonds()
      hub?.bondChanged()
    case .keysLost(let theirs): keysLost(theirs: theirs, peripheral, hub, slot)
    }
  }

  private func hub(of peripheral: Peripheral, _ slot: AdapterSlot) -> LinkHub? {
    links.links.last { $0.peripheral == peripheral && $0.slot === slot }
  }

  private func ask(_ question: PairingQuestion, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    questions.forget(peripheral)
    let causes = causes(hub)
    let candidates = consent.agents.answering(question, causedBy: causes)
    guard candidates.isEmpty else {
      return questions.ask(candidates, question, peripheral, device(peripheral, hub, slot)) { [weak self] given in
        guard let self else { return }
        // The link may have been announced after the question.
        let hub = self.hub(of: peripheral, slot)
        if given != .refuse, let hub { pairings[hub.link.id, default: LinkPairing()].consent = peripheral.identity }
        answer(given, peripheral, hub, slot)
      }
    }
    let given = policyAnswer(question, peripheral, hub, slot, isOurs: !causes.isEmpty)
    if given == .refuse {
      logger.notice(
        "\(peripheral.address) may not pair: no program answers for it, and the configuration does not allow it",
        metadata: .about(peripheral, adapter: slot))
    }
    answer(given, peripheral, hub, slot)
  }

  private func policyAnswer(
    _ question: PairingQuestion, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot, isOurs: Bool
  ) -> PairingAnswer {
    // Who is known and pairs again may be somebody else: it is forgotten first, or somebody is there to ask.
    guard bonds.find(slot.adapter.information.address, peripheral.identity) == nil else { return .refuse }
    let adapter = slot.adapter.information
    switch (question, consent.policy.rule(for: peripheral.identity, on: adapter)) {
    case (.consent, _): return isOurs || consent.allowsAnyone(as: peripheral.identity, on: adapter) ? .accept : .refuse
    case (.passkey, .passkey(let passkey)):
      guard let hub, consent.gives(passkey, to: peripheral.address) else { return .refuse }
      pairings[hub.link.id, default: LinkPairing()].passkey = passkey
      return .passkey(passkey)
    default: return .refuse
    }
  }

  /// A pairing has not ended well, or not at all: if the passkey of the policy was given something of it is known now.
  private func passkeyFailed(_ hub: LinkHub) {
    guard let passkey = pairings[hub.link.id]?.passkey else { return }
    pairings[hub.link.id]?.passkey = nil
    consent.failed(passkey)
  }

  /// The kernel asks nobody before it has a passkey typed at the device. Whoever is shown it consents by telling it.
  private func show(
    _ passkey: UInt32, _ entered: Int, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot
  ) {
    guard let hub, let session = consent.agents.showing(causedBy: causes(hub)) else {
      logger.notice(
        "\(peripheral.address) may not pair: no program shows its passkey",
        metadata: .about(peripheral, adapter: slot))
      // The pairing ends with the link, and nobody loses a bond because another device uses its address.
      hub?.disconnect()
      return
    }
    pairings[hub.link.id, default: LinkPairing()].isAllowed = true
    questions.show(passkey, entered: entered, peripheral, device(peripheral, hub, slot), to: session)
  }

  private func answer(_ answer: PairingAnswer, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    if answer != .refuse, let hub { pairings[hub.link.id, default: LinkPairing()].isAllowed = true }
    slot.adapter.answer(hub?.link.peer ?? peripheral.address, answer)
  }

  /// A bond was made, or a key has come. What nobody allowed, or what would silently protect less than before, is
  /// removed again, and the kernel is told the earlier keys in its place.
  private func keep(_ bond: Bond, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    if let hub, bond.security?.level == 4, pairings[hub.link.id]?.isAgreeing != true,
      consent.outOfBand.allows([hub.link.peer, bond.peer], on: slot)
    {
      // Nobody was asked, and yet nobody can be in between.
      pairings[hub.link.id, default: LinkPairing()].isAllowed = true
    }
    guard let hub, mayPair(hub, peripheral, slot) else {
      return reject(bond, peripheral, hub, slot, "nobody allowed it")
    }
    if pairings[hub.link.id]?.consent != bond.peer {
      // Any device can tell the identity of another one when it has paired, and would take its place.
      if peripheral.identity != bond.peer, bonds.all.contains(where: { $0.peer == bond.peer }) {
        return reject(
          bond, peripheral, hub, slot, "\(bond.peer) is paired already: forget it on both sides, and pair again")
      }
      if let old = bonds.find(bond.local, bond.peer), bond.isWeaker(than: old) {
        return reject(
          bond, peripheral, hub, slot, "the new keys protect less than the earlier ones: forget those first")
      }
    }
    directory.paired(peripheral, as: bond.peer)
    let hasNewKeys = bonds.find(bond.local, bond.peer)?.longTermKeys != bond.longTermKeys
    if let old = bonds.keep(bond) { forget(old) }
    shareBonds()
    hub.bondChanged(isMadeHere: hasNewKeys)
    guard bond.security != nil else { return }
    if let passkey = pairings[hub.link.id]?.passkey {
      pairings[hub.link.id]?.passkey = nil
      consent.succeeded(passkey)
    }
    tellEnd(peripheral, hub, slot, nil)
  }

  private func reject(_ bond: Bond, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot, _ reason: String) {
    logger.warning(
      "\(peripheral.address) has paired, and its keys are removed: \(reason)",
      metadata: .about(peripheral, adapter: slot))
    slot.adapter.unpair(bond.peer)
    shareBonds()
    tellEnd(peripheral, hub, slot, GAPError.pairingFailed.error(reason))
  }

  /// Those who were asked are told how a pairing has ended, or all agents if nobody was.
  private func tellEnd(_ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot, _ error: BluetoothError?) {
    questions.end(peripheral, device(peripheral, hub, slot), error, orTell: consent.agents.sessions)
  }

  /// Told once for a link, to the agents and to whoever uses it.
  private func keysLost(theirs: Bool, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    guard let hub, pairings[hub.link.id]?.hasToldLoss != true else { return }
    pairings[hub.link.id, default: LinkPairing()].hasToldLoss = true
    let remedy = "forget each on the other, and pair again"
    logger.warning(
      "\(peripheral.address) \(theirs ? "has no keys of this machine any more" : "has keys that this machine has not"): \(remedy)",
      metadata: .about(peripheral, adapter: slot))
    let sessions = Set(consent.agents.sessions).union(hub.central.users).union(hub.server.served)
    let params = PairingKeysLost.Params(
      device: device(peripheral, hub, slot), side: theirs ? "device" : "machine", remedy: remedy)
    for session in sessions.sorted(by: { $0.id < $1.id }) { session.send(PairingKeysLost.self, params) }
  }

  private func device(_ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) -> PairingDevice {
    PairingDevice(
      peripheral: peripheral.id, address: "\(peripheral.address)", name: peripheral.name, isOurs: !causes(hub).isEmpty,
      bondLevel: bonds.find(slot.adapter.information.address, peripheral.identity)?.security?.word)
  }
}
