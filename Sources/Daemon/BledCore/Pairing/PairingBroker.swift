import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import Logging

/// Decides which devices pair, and so which bonds are stored: asks the agents of the users concerned
/// (`PairingConcern`), else the configuration.
///
/// | Question of a pairing | Answered by                                                                |
/// |-----------------------|----------------------------------------------------------------------------|
/// | any                   | an agent of the users concerned, or one trusted with all pairings          |
/// | … without any         | consent: yes if a session pairs, or the policy or a window lets the device |
/// |                       | passkey: the one of the policy; anything else: no                          |
final class PairingBroker: LinkProtection {
  let bonds: BondDirectory
  /// The bonds for sessions and adapters.
  let bondBroker: BondBroker
  var clients: BondedClients { bonds.clients }
  let consent: PairingConsent
  unowned let directory: PeripheralDirectory
  unowned let links: LinkRegistry
  private let scheduler: any Scheduler
  let logger: Logger
  let questions: PairingQuestions
  private unowned let publishers: any PublishingUsers
  /// The address settings for new adapters; nil for unchanged addresses.
  var privacy: PrivacySettings?
  /// The pairings of links.
  private var pairings: [LinkID: LinkPairingMachine] = [:]
  /// The order of the requests for protection of links.
  private var turns = LinkTurns()
  private var lastNumber = 0

  init(
    adapters: AdapterRegistry, directory: PeripheralDirectory, links: LinkRegistry, publishers: any PublishingUsers,
    bonds: BondDirectory, scheduler: any Scheduler, logger: Logger
  ) {
    self.directory = directory
    self.links = links
    self.publishers = publishers
    self.bonds = bonds
    bondBroker = BondBroker(bonds, adapters: adapters, directory: directory, links: links)
    self.scheduler = scheduler
    self.logger = logger
    consent = PairingConsent(
      adapters: adapters, publishers: publishers, scheduler: scheduler, logger: logger)
    questions = PairingQuestions(scheduler: scheduler)
  }

  /// An adapter is about to be started.
  func adding(_ slot: AdapterSlot) {
    slot.adapter.setBonds(bonds)
    consent.adding(slot)
    slot.adapter.setPrivacy(privacy)
  }

  /// A session has ended.
  func ended(_ session: Session) {
    consent.ended(session)
    questions.ended(session)
    for link in pairings.keys { pairings[link]?.ended(session) }
  }

  /// The session's program has disconnected, or has returned: meanwhile the session is not an agent.
  func programChanged(_ session: Session) {
    if !session.isPresent { questions.ended(session) }
    consent.settingsChanged()
  }

  // MARK: Links

  /// A link's protection, as far as it can be trusted: the kernel may have paired without asking. A level above that of
  /// the bond's keys did not come from them.
  func security(of hub: LinkHub) -> SecurityState {
    var state = SecurityState(hub.link.security)
    let bond = bond(of: hub)
    state.isBonded = bond != nil
    let isOfBond = !pairing(hub).hasOtherKeys && bond?.security.map { $0.level >= Int(state.level) } ?? false
    return isOfBond || mayPair(hub)
      ? state : SecurityState(level: 1, keySize: 0, isBonded: bond != nil)
  }

  /// The bond whose keys encrypt the link, which proves that the device has them.
  func provenBond(of hub: LinkHub) -> Bond? {
    guard pairing(hub).usesBond, let bond = bond(of: hub), let level = bond.security?.level,
      (2...max(2, level)).contains(hub.link.security.level)
    else { return nil }
    return bond
  }

  func pairing(_ hub: LinkHub) -> LinkPairingMachine { pairings[hub.link.id] ?? LinkPairingMachine() }

  func change(_ hub: LinkHub?, _ input: (inout LinkPairingMachine) -> Void) {
    if let hub { input(&pairings[hub.link.id, default: LinkPairingMachine()]) }
  }

  /// True if the link's device may pair.
  func mayPair(_ hub: LinkHub) -> Bool {
    pairing(hub).approval != nil
      || consent.allowsAnyone(as: hub.peripheral.identity, on: hub.slot.adapter.information, concern(hub, hub.slot))
  }

  /// The users concerned by a pairing. Without a link, which may be announced after the first question, the publishing
  /// users.
  func concern(_ hub: LinkHub?, _ slot: AdapterSlot) -> PairingConcern {
    guard let hub else { return PairingConcern(causes: [], others: publishers.users(on: slot)) }
    let causes = pairing(hub).causes
    var others: [UInt32?] = []
    if hub.link.role == .peripheral {
      others = hub.server.refused.map { [$0.user] } ?? hub.server.servedUsers
      if others.isEmpty, causes.isEmpty { others = publishers.users(on: slot) }
    }
    return PairingConcern(causes: causes, others: others + hub.central.users.map(\.user))
  }

  /// A session requests a more secure link.
  func pair(
    _ params: PeripheralPair.Params, on hub: LinkHub, for session: Session, _ reply: Reply<PeripheralPair.Result>
  ) throws {
    let level = params.level?.level ?? 2
    let keySize = params.minimumKeySize ?? 7
    guard (7...16).contains(keySize) else {
      throw BledError.invalidParameter.error("\"minimumKeySize\" must be 7 to 16 octets")
    }
    raise(hub, to: level, for: session, replacesBond: true) { [weak self, weak hub] error in
      if let error {
        reply.fail(error)
        self?.forgetUnwanted(hub)
        return
      }
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

  /// True if other users rely on a link's bond: it cannot be used for a while if a pairing to replace it fails.
  private func isReliedOnByOthers(bondOf hub: LinkHub, beside session: Session) -> Bool {
    guard !session.answersForOthers, let bond = bond(of: hub) else { return false }
    return bondBroker.users(of: bond).contains { $0 != session.user }
  }

  /// A pairing did not reach the level that its session requested: without this, the weak bond would be in the way of
  /// the next pairing. It ends the link. A bond that a session wants stays, also one from before the request.
  private func forgetUnwanted(_ hub: LinkHub?) {
    guard let hub, pairing(hub).hasUnwantedBond, let bond = bond(of: hub) else { return }
    logger.notice("new keys are removed: their level is too low", metadata: .about(hub.peripheral, adapter: hub.slot))
    change(hub) { $0.pairedWithoutBond() }
    bondBroker.forget(bond)
    hub.bondChanged()
  }

  /// The link of a device that has connected to us; such a device may be paired as well.
  func incoming(_ id: String) throws -> LinkHub? { links.incoming(from: try directory.find(id)) }

  /// The device refuses a session's request for lack of security: raises it, if there is a bond or the session may
  /// pair.
  /// - Parameter done: called with whether to repeat the request.
  func raise(_ hub: LinkHub, after error: ATTErrorCode, for session: Session?, _ done: @escaping (Bool) -> Void) {
    let now = security(of: hub).level
    let mayPair = session.map { $0.rules.permissions(of: $0).contains(.pair) } ?? false
    guard bond(of: hub) != nil || mayPair, let level = error.level(above: Int(now)) else { return done(false) }
    raise(hub, to: level, for: session) { done($0 == nil) }
  }

  /// Gives a link at least this level, 1 to 4: encrypts it with a bond's keys, or pairs if the session may.
  /// - Parameter done: called once, possibly from inside the call, with why it is not.
  func require(_ level: Int, on hub: LinkHub, for session: Session, _ done: @escaping (BluetoothError?) -> Void) {
    guard security(of: hub).level < level else { return done(nil) }
    guard bond(of: hub) != nil || session.rules.permissions(of: session).contains(.pair) else {
      return done(session.rules.policy.refusal(of: .pair, to: session.credentials))
    }
    raise(hub, to: level, for: session, done)
  }

  func encrypt(_ hub: LinkHub, to level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    raise(hub, to: level, for: nil, pairs: false) { [weak hub] error in
      guard let hub, hub.isOpen else { return done(error) }
      // A device that has paired anew may have keys with another level.
      if hub.isProven { return done(nil) }
      done(
        error
          ?? GAPError.connectionFailed.error(
            "\(hub.peripheral.address) encrypted the link with other keys than its bond's"))
    }
  }

  /// Raises the protection of a link, when it is this request's turn.
  /// - Parameters:
  ///   - pairs: true if the adapter may pair without a bond; otherwise it uses the bond's keys.
  ///   - replacesBond: true if it may also pair to replace a weaker bond on which no other user relies.
  private func raise(
    _ hub: LinkHub, to level: Int, for session: Session?, pairs: Bool = true, replacesBond: Bool = false,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    let id = hub.link.id
    lastNumber += 1
    let number = lastNumber
    let ended: (BluetoothError?) -> Void = { [weak self] error in
      done(error)
      self?.turns.ended(number, on: id).forEach { $0() }
    }
    let body = { [weak self, weak hub] in
      guard let self, let hub, hub.isOpen, session?.isOpen ?? true else { return ended(LinkHub.gone) }
      begin(number, hub, to: level, for: session, pairs: pairs, replacesBond: replacesBond, ended)
    }
    let replaces = replacesBond && replaces(bondOf: hub, level)
    // A device that has connected may never encrypt the link: a pairing does not wait for that.
    if !pairs, hub.link.role == .peripheral {
      return begin(number, hub, to: level, for: nil, pairs: false, replacesBond: false, done)
    }
    turns.requested(number, on: id, replaces: replaces, body)?()
  }

  /// True if keys of this level would replace those of a link's bond.
  private func replaces(bondOf hub: LinkHub, _ level: Int) -> Bool {
    bond(of: hub).map { !$0.reaches(level, as: hub.link.role) } ?? false
  }

  private func begin(
    _ number: Int, _ hub: LinkHub, to level: Int, for session: Session?, pairs: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    let id = hub.link.id
    if replacesBond, let session, replaces(bondOf: hub, level) {
      guard !isReliedOnByOthers(bondOf: hub, beside: session) else {
        return done(
          GAPError.pairingFailed.error(
            "the keys shared with \(hub.peripheral.address) do not reach this level, and another user relies on them: "
              + "that user or root must pair again, or forget them first"))
      }
    }
    // Without a session it is the daemon's own request, which never pairs.
    if let session {
      let replaced = replacesBond && bond(of: hub) != nil ? level : nil
      change(hub) { $0.requested(by: session, number: number, replacingBondFor: replaced) }
      for address in [hub.link.peer, hub.peripheral.identity] {
        consent.outOfBand.withdraw(address, on: hub.slot, unlessOf: session)
      }
    }
    let ended: (BluetoothError?) -> Void = { [weak self, weak hub] error in
      let isProtected = error == nil || hub?.link.security.level ?? 1 > 1
      self?.pairings[id]?.requestEnded(number, isProtected: isProtected, isReached: error == nil)
      hub?.securityChanged()
      done(error)
    }
    guard pairs else { return hub.link.encrypt(to: level, ended) }
    let capability = consent.capability(
      for: session, hub.peripheral.identity, on: hub.slot.adapter.information, concern(hub, hub.slot))
    let usesOwnData = consent.outOfBand.countsOwnData(of: hub.slot, for: session)
    hub.link.raiseSecurity(
      to: level, as: capability, usesOwnData: usesOwnData, replacesBond: replacesBond, ended)
  }

  /// A link has ended, and a pairing on it.
  func linkEnded(_ hub: LinkHub) {
    turns.linkEnded(hub.link.id).forEach { $0() }
    passkeyFailed(hub)
    if pairing(hub).isAgreeing {
      reportEnd(hub.peripheral, hub, hub.slot, GAPError.disconnected.error("the connection ended"))
    }
    pairings[hub.link.id] = nil
    questions.forget(PairingKey(slot: hub.slot, peripheral: hub.peripheral))
  }

  /// The bond with a link's device.
  func bond(of hub: LinkHub) -> Bond? {
    bonds.find(hub.slot.adapter.information.address, hub.peripheral.identity)
  }

  // MARK: Events of adapters

  func handle(_ event: PairingEvent, with address: DeviceAddress, on slot: AdapterSlot) {
    let peripheral = directory.peripheral(at: address, on: slot)
    let hub = links.link(with: peripheral, on: slot)
    switch event {
    case .question(let id, let question):
      change(hub) { $0.begins() }
      ask(question, id, peripheral, hub, slot)
    case .showPasskey(let passkey, let entered):
      change(hub) { $0.begins() }
      show(passkey, entered, peripheral, hub, slot)
    case .bonded(let bond): PairedKeys(broker: self).store(bond, peripheral, hub, slot)
    case .pairedWithoutBond:
      guard let hub else { return }
      passkeySucceeded(hub)
      change(hub) { $0.pairedWithoutBond() }
      hub.securityChanged()
      reportEnd(peripheral, hub, slot, nil)
    case .encryptedOtherwise:
      change(hub) { $0.encryptedOtherwise() }
      hub?.securityChanged()
    case .failed(let error):
      logger.notice(
        "pairing with \(peripheral.address) failed: \(error)", metadata: .about(peripheral, adapter: slot))
      if let hub {
        passkeyFailed(hub)
        change(hub) { $0.failed() }
      }
      reportEnd(peripheral, hub, slot, error)
    case .keysRefused(let earlier):
      if let earlier {
        bondBroker.store(earlier, for: nil)
        bondBroker.isAdded(earlier)
      } else {
        bonds.remove(Bond.ID(local: slot.adapter.information.address, peer: peripheral.identity))
      }
      hub?.bondChanged()
    case .unbonded:
      bonds.remove(Bond.ID(local: slot.adapter.information.address, peer: peripheral.identity))
      hub?.bondChanged()
    case .keysLost(let theirs): keysLost(theirs: theirs, peripheral, hub, slot)
    }
  }

  /// A pairing has failed, or not ended: if the policy's passkey was given, the device knows a part of it.
  private func passkeyFailed(_ hub: LinkHub) {
    if let passkey = pairing(hub).passkey { consent.failed(passkey) }
  }

  func passkeySucceeded(_ hub: LinkHub) {
    if let passkey = pairing(hub).passkey { consent.succeeded(passkey) }
  }

  /// Reports a pairing's end to the agents with a question; without any, to the sessions concerned.
  func reportEnd(_ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot, _ error: BluetoothError?) {
    let others = hub.map { consent.agents.concerned(concern($0, slot)) } ?? []
    questions.end(
      PairingKey(slot: slot, peripheral: peripheral), device(peripheral, hub, slot), error, orTell: others)
  }

  func keysLost(_ hub: LinkHub) { keysLost(theirs: true, hub.peripheral, hub, hub.slot) }

  /// Notifies the agents concerned, the link's users, and the programs waiting for it, once per link.
  private func keysLost(theirs: Bool, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    guard let hub else { return }
    var isFirst = false
    change(hub) { isFirst = $0.keysLost() }
    guard isFirst else { return }
    let remedy = "remove the pairing on both sides, then pair again"
    logger.warning(
      "\(peripheral.address) \(theirs ? "no longer has this machine's keys" : "has keys this machine lacks"): \(remedy)",
      metadata: .about(peripheral, adapter: slot))
    let sessions = Set(consent.agents.concerned(concern(hub, slot)))
      .union(hub.central.users + hub.central.waiters).union(hub.server.served)
    let params = PairingKeysLost.Params(
      device: device(peripheral, hub, slot), side: Word(theirs ? .device : .machine), remedy: remedy)
    for session in sessions.sorted(by: { $0.id < $1.id }) { session.send(PairingKeysLost.self, params) }
  }

  func device(_ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) -> PairingDevice {
    let bond = bonds.find(slot.adapter.information.address, peripheral.identity)
    return PairingDevice(
      peripheral: peripheral.id, address: "\(peripheral.address)", name: peripheral.name,
      isOurs: !(hub.map { pairing($0).causes.isEmpty } ?? true),
      bondLevel: bond?.security?.protection.map { Word($0) })
  }
}

extension PairingBroker: PublishersObserver {
  func publishersChanged() { consent.settingsChanged() }
}
