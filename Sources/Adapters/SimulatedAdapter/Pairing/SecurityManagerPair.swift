import Adapter
import Bluetooth

// State        Leaves it
// idle         a side wants more protection: it is central, or its Security Request arrives → encrypting if the central
//              has a key, else, or to replace a weaker key, pairing
// encrypting   a round trip later: both have the key → idle; the peripheral has another one or none → the link ends
// pairing      `PairingMachine` → idle; after a time-out the link ends
//
// The link's end ends everything.

/// The Security Managers at both ends of a simulated link (Core 5.4, Vol 3, Part H): the protection of the link, and
/// the procedures that raise it. Packets of the pairing are not simulated, only their duration.
final class SecurityManagerPair {
  /// The protection of the link.
  private(set) var security = LinkSecurity.none

  private struct Raise {
    let role: LinkRole
    let level: Int
    /// The input and output capability if it pairs.
    let capability: PairingCapability?
    /// True if new keys replace weaker ones.
    let replacesBond: Bool
    let done: (BluetoothError?) -> Void
  }

  private enum State {
    case idle
    case encrypting
    case pairing(PairingMachine)
  }

  private unowned let pair: LinkPair
  private var state = State.idle
  private var raises: [Raise] = []
  private var alarm: (any ScheduledWork)?
  /// The number of the present pairing: answers of an earlier one are too late.
  private var number = 0
  private var shown: UInt32?

  init(_ pair: LinkPair) { self.pair = pair }

  private var scheduler: any Scheduler { pair.scheduler }
  /// The time of a packet and its answer.
  private var roundTrip: Duration { pair.parameters.interval * 2 }
  private func side(_ role: LinkRole) -> SimulatedLink { role == .central ? pair.central : pair.peripheral }
  private func party(_ role: LinkRole) -> (any PairingParty)? { side(role).party }

  // MARK: - Keys

  /// A side's key for this link: its stored key, or the other side's if it would have made the same one: a restarted
  /// simulated device has not lost its keys.
  func longTermKey(of role: LinkRole) -> LongTermKey? {
    guard let own = party(role) else { return nil }
    if let key = own.longTermKey(with: side(role).peer, as: role) { return key }
    guard let key = party(role.other)?.longTermKey(with: side(role.other).peer, as: role.other),
      own.recognises(key, of: side(role).peer, as: role)
    else { return nil }
    return key
  }

  // MARK: - Raising the protection

  /// One side requests this level for the link, 2 to 4.
  /// - Parameter done: called once, not from inside this call.
  func raise(
    by role: LinkRole, to level: Int, as capability: PairingCapability?, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    guard security.level < level else { return later { done(nil) } }
    let keyLevel = longTermKey(of: role)?.level
    let way = SecurityRaise(to: level, keyLevel: keyLevel, replacesBond: replacesBond, peer: side(role).peer)
    if case .refuse(let error) = way { return later { done(error) } }
    raises.append(
      Raise(
        role: role, level: level, capability: capability, replacesBond: way == .pair && keyLevel != nil, done: done))
    guard case .idle = state, alarm == nil else { return }
    if role == .central { start() } else { requestSecurity() }
  }

  private func later(_ body: @escaping () -> Void) { scheduler.schedule(after: .zero, body) }

  /// The peripheral sends a Security Request (2.4.6).
  func requestSecurity() {
    guard case .idle = state, alarm == nil else { return }
    setAlarm(after: roundTrip) { [unowned self] in
      let isFollowed = party(.central)?.followsSecurityRequests == true || longTermKey(of: .central) != nil
      if isFollowed || wantedLevel(of: .central) != nil { return start() }
      let error = PairingMachine.Failure.notSupported(.central).error(with: pair.peripheral.peer, seenBy: .peripheral)
      endRaises(of: .peripheral, error)
    }
  }

  /// The central encrypts the link, or pairs.
  private func start() {
    guard let key = longTermKey(of: .central), !replacesBond else { return startPairing() }
    state = .encrypting
    setAlarm(after: roundTrip) { [unowned self] in
      guard let other = party(.peripheral),
        other.recognises(key, of: pair.peripheral.peer, as: .peripheral)
      else { return keyIsMissing() }
      state = .idle
      protect(key.security)
      if replacesBond { startPairing() } else { endRaises(nil) }
    }
  }

  private func keyIsMissing() {
    state = .idle
    for role in LinkRole.both {
      party(role)?.keysLost(with: side(role).peer, theirs: role == .central)
      endRaises(
        of: role,
        GAPError.pairingFailed.error(
          "\(side(role).peer) and this machine do not share keys any more: remove the pairing on both sides, then pair again"
        ))
    }
    pair.terminate(central: HCIReason.pinOrKeyMissing.error, peripheral: HCIReason.authenticationFailure.error)
  }

  private func protect(_ new: LinkSecurity) {
    guard security != new else { return }
    security = new
    for role in LinkRole.both { side(role).tell(.security) }
  }

  // MARK: - Pairing

  private func startPairing() {
    guard let central = party(.central), let peripheral = party(.peripheral) else {
      return fail(.notSupported(.central))
    }
    number += 1
    shown = nil
    let numbers = PairingMachine.Numbers(
      compared: central.drawNumber(), shownByCentral: central.drawPasskey(),
      shownByPeripheral: peripheral.drawPasskey())
    state = .pairing(
      PairingMachine(
        central: central.features(wanted: wantedLevel(of: .central), as: capability(of: .central)),
        peripheral: peripheral.features(wanted: wantedLevel(of: .peripheral), as: capability(of: .peripheral)),
        numbers: numbers, roundTrip: roundTrip, now: scheduler.now))
    setMachineAlarm()
  }

  private var replacesBond: Bool { raises.contains(where: \.replacesBond) }

  private func wantedLevel(of role: LinkRole) -> Int? { raises.filter { $0.role == role }.map(\.level).max() }

  private func capability(of role: LinkRole) -> PairingCapability? {
    raises.lazy.filter { $0.role == role }.compactMap(\.capability).first
  }

  private func withMachine(_ body: (inout PairingMachine, inout [PairingMachine.Action]) -> Void) {
    guard case .pairing(var machine) = state else { return }
    var actions: [PairingMachine.Action] = []
    body(&machine, &actions)
    state = .pairing(machine)
    setMachineAlarm()
    for action in actions { execute(action) }
  }

  private func setMachineAlarm() {
    guard case .pairing(let machine) = state, let deadline = machine.deadline else { return }
    setAlarm(after: scheduler.now.duration(to: deadline)) { [unowned self] in
      withMachine { $0.timePassed(now: scheduler.now, actions: &$1) }
    }
  }

  private func execute(_ action: PairingMachine.Action) {
    switch action {
    case .ask(let role, let question):
      let number = self.number
      party(role)?.ask(
        PairingPrompt(
          question: question, peer: side(role).peer, isOwnPairing: role == .central && wantedLevel(of: role) != nil,
          shown: shown
        ) { [weak self] answer in
          self?.later { self?.answered(role, answer, number) }
        })
    case .show(let role, let passkey):
      shown = passkey
      party(role)?.show(passkey, to: side(role).peer)
    case .succeeded(let outcome): succeed(outcome)
    case .failed(let failure): fail(failure)
    }
  }

  private func answered(_ role: LinkRole, _ answer: PairingAnswer, _ number: Int) {
    guard number == self.number else { return }
    withMachine { $0.answered(role, answer, now: scheduler.now, actions: &$1) }
  }

  private func succeed(_ outcome: PairingMachine.Outcome) {
    state = .idle
    guard let central = party(.central), let peripheral = party(.peripheral) else { return }
    let keys = peripheral.keys ?? central.keys ?? SimulatedKeys(seed: 0)
    protect(outcome.security)
    for (role, own, other) in [(LinkRole.central, central, peripheral), (.peripheral, peripheral, central)] {
      var bond = Bond(local: own.identity, peer: other.identity)
      bond.identityResolvingKey = other.identityResolvingKey?.littleEndian
      bond.longTermKeys = keys.longTermKeys(
        central: central.identity, peripheral: peripheral.identity, outcome, for: role)
      own.paired(with: side(role).peer, outcome.bonds ? bond : nil)
    }
    endRaises(nil)
  }

  private func fail(_ failure: PairingMachine.Failure) {
    // A pairing fails before its time is over.
    alarm?.cancel()
    alarm = nil
    state = .idle
    for role in LinkRole.both {
      let error = failure.error(with: side(role).peer, seenBy: role)
      party(role)?.pairingFailed(with: side(role).peer, error)
      endRaises(of: role, error)
    }
    // The Security Manager must not continue on this link (3.4).
    guard failure == .timeout else { return }
    let error = HCIReason.authenticationFailure.error
    pair.terminate(central: error, peripheral: error)
  }

  // MARK: - Ends

  private func endRaises(_ error: BluetoothError?) { for role in LinkRole.both { endRaises(of: role, error) } }

  private func endRaises(of role: LinkRole, _ error: BluetoothError?) {
    let ended = raises.filter { $0.role == role }
    raises.removeAll { $0.role == role }
    let missed = GAPError.pairingFailed.error(
      "the device and this machine cannot reach this security level together; the link has level \(security.level)")
    for raise in ended { raise.done(security.level >= raise.level ? nil : error ?? missed) }
  }

  /// A side's link has ended.
  func linkEnded(_ role: LinkRole, _ reason: BluetoothError) {
    alarm?.cancel()
    alarm = nil
    number += 1
    if case .pairing = state {
      state = .idle
      for role in LinkRole.both {
        let peer = side(role).peer
        party(role)?.pairingFailed(
          with: peer, GAPError.pairingFailed.error("\(peer) and this machine did not pair: the link ended"))
      }
    }
    state = .idle
    endRaises(of: role, GAPError.disconnected.error("the link has ended: \(reason)"))
  }

  private func setAlarm(after delay: Duration, _ body: @escaping () -> Void) {
    alarm?.cancel()
    alarm = scheduler.schedule(after: max(delay, .zero)) { [weak self] in
      guard let self, pair.isCarrying else { return }
      alarm = nil
      body()
    }
  }
}

extension LinkRole {
  fileprivate static let both = [LinkRole.central, .peripheral]
  fileprivate var other: LinkRole { self == .central ? .peripheral : .central }
}

extension PairingMachine.Failure {
  /// The error for a side.
  fileprivate func error(with peer: DeviceAddress, seenBy role: LinkRole) -> BluetoothError {
    let reason =
      switch self {
      case .notSupported(let other): other == role ? "this machine does not pair" : "the other side does not pair"
      case .refused(let other): other == role ? "it was refused here" : "the other side refused"
      case .wrongPasskey: "the passkey was wrong"
      case .keyTooShort: "they cannot agree on a key of 7 octets or more"
      case .timeout: "it took too long"
      }
    return GAPError.pairingFailed.error("\(peer) and this machine did not pair: \(reason)")
  }
}
