import Adapter
import Bluetooth
import BluetoothCrypto

// State       Input                                  Next
// idle        raise, as central, a bond              encrypting
// idle        raise, as central, no bond             pairing
// idle        raise, as peripheral                   requested
// idle        Security Request, a bond               encrypting, if its level is enough or no better one can be had
// idle        Security Request, permitted            pairing; else Pairing Failed
// idle        Pairing Request, permitted             pairing; else Pairing Failed
// requested   Pairing Request                        pairing
// requested   the link is encrypted                  idle
// encrypting  the link is encrypted, or cannot be    idle
// encrypting  30 s                                   closed: the other side did not answer
// any         an encrypted link is so no longer      idle: failed, and the owner ends the link; pairing: closed
// pairing     packets, answers, encryption           idle, when it succeeded or failed
// pairing     a failure once its key is in use       closed: the link is encrypted, and there is no bond
// pairing     30 s since the last packet was sent    closed
// requested   30 s                                   idle
// closed      anything                               closed: no packet is sent or accepted
//
// Long Term Key Requests are answered in each state: with a pairing's agreed key if it waits for encryption, else with
// the bond's, and during a pairing with none.

/// A link's Security Manager (Core 5.4, Vol 3, Part H): protects the link with a bond's keys, or pairs.
package struct SecurityManager: Sendable {
  private enum State: Sendable {
    case idle
    /// A Security Request was sent.
    case requested(until: Instant)
    /// The controller encrypts with a bond's key, resulting in this protection.
    case encrypting(LinkSecurity, until: Instant)
    case pairing(Pairing, until: Instant)
    /// After this failure.
    case closed(PairingFailure)
  }

  /// The key in an answer to a Long Term Key Request, by its protection.
  private enum Reply: Sendable {
    case bond(LinkSecurity)
    case pairing(LinkSecurity)
  }

  /// The Security Manager Timer (3.4). Encryption with a bond's keys may take as long: the other controller gives up
  /// after 40 s (Vol 6, Part B, 5.2), and the link carries no data until then.
  static let timeout = Duration.seconds(30)

  private var ends: Pairing.Ends
  private var state = State.idle
  /// How the link is protected.
  package private(set) var security = LinkSecurity.none
  /// The last answer to a Long Term Key Request, until the link is encrypted with its key.
  private var replied: Reply?
  /// The identities of devices on other links: a device that claims one of them does not pair.
  package var otherIdentities: Set<DeviceAddress> = []
  /// Pairings begun so far, including immediate failures.
  package private(set) var pairings: UInt64 = 0
  /// True if a program here requested the last one.
  package private(set) var isOwnPairing = false
  /// The out-of-band temporary key that authenticated the last successful pairing.
  package private(set) var usedTemporaryKey: Key128?
  /// True if a person here could have helped the last successful pairing, but the device lacks the means for it.
  package private(set) var hasFoundNoMeans = false
  /// The number of the last question, and if it waits for an answer.
  private var question: UInt32 = 0
  private var isAsking = false

  /// - Parameters:
  ///   - role: our role on the link.
  ///   - local: our address on this link, as the peer knows it: not the identity if the link was made with another one.
  ///   - peer: the other side's address on this link.
  package init(role: LinkRole, local: DeviceAddress, peer: DeviceAddress) {
    ends = Pairing.Ends(role: role, local: local, peer: peer)
  }

  /// Our address on this link, as the peer knows it; another one counts for later pairings.
  package var local: DeviceAddress {
    get { ends.local }
    set { ends.local = newValue }
  }

  /// When `timePassed` is due.
  package var deadline: Instant? {
    switch state {
    case .requested(let until), .encrypting(_, let until), .pairing(_, let until): until
    case .idle, .closed: nil
    }
  }

  /// True while the controller is encrypting with a bond's key.
  package var isEncrypting: Bool { if case .encrypting = state { true } else { false } }

  /// True if the central's controller was given a key, and has not reported the outcome.
  package var awaitsEncryption: Bool {
    if case .pairing(let pairing, _) = state { pairing.isEncrypting } else { isEncrypting }
  }

  package var isPairing: Bool { if case .pairing = state { true } else { false } }

  // MARK: - Requests of this side

  /// Raises the link's protection: with a bond's keys, else by a pairing on these terms.
  /// - Parameters:
  ///   - bond: the bond with the device if it gives the wanted level.
  ///   - requirements: those in a request to a central.
  ///   - terms: those for a resulting pairing.
  package mutating func raise(
    bond: Bond?, _ requirements: AuthenticationRequirements, _ terms: @autoclosure () -> PairingTerms, now: Instant
  ) -> [SecurityAction] {
    switch (state, ends.role) {
    case (.idle, .central):
      if let key = bond?.key(for: .central) { return encrypt(key, now) }
      return pair(on: terms(), now)
    case (.idle, .peripheral):
      state = .requested(until: now.advanced(by: Self.timeout))
      return [.send(.securityRequest(requirements))]
    case (.closed(let failure), _): return [.failed(failure)]
    case (.requested, _), (.encrypting, _), (.pairing, _): return []
    }
  }

  /// The person here has answered a question. An answer to an earlier one is ignored.
  package mutating func answer(_ number: UInt32, _ answer: PairingAnswer, now: Instant) -> [SecurityAction] {
    guard isAsking, number == question else { return [] }
    isAsking = false
    return withPairing(now) { (pairing) throws(PairingFailureReason) in try pairing.answer(answer) }
  }

  // MARK: - The other side

  /// A packet was received on channel 0x0006.
  /// - Parameters:
  ///   - bond: the bond with the device, if there is one.
  ///   - permission: its permission to pair; evaluated only if it wants to.
  ///   - arrival: when it arrived in this machine, which may have been busy since; nil: now.
  package mutating func receive(
    _ octets: [UInt8], bond: @autoclosure () -> Bond?, _ permission: @autoclosure () -> PairingPermission,
    arrived arrival: Instant? = nil, now: Instant
  ) -> [SecurityAction] {
    if case .closed = state { return [] }
    let pdu: SMPPDU
    do {
      pdu = try SMPPDU(parsing: octets)
    } catch {
      return refuse(error, now)
    }
    switch (pdu, ends.role) {
    case (.pairingFailed(let reason), _): return isPairing || isRequested ? end(.theirs(reason)) : []
    case (.securityRequest(let requirements), .central):
      return requested(requirements, bond: bond, permission, now)
    case (.pairingRequest(let features), .peripheral) where !isPairing: return respond(to: features, permission(), now)
    case (.securityRequest, .peripheral), (.pairingRequest, .central): return fail(.commandNotSupported)
    case (.pairingResponse, _), (.pairingConfirm, _), (.pairingRandom, _), (.encryptionInformation, _),
      (.centralIdentification, _), (.identityInformation, _), (.identityAddressInformation, _),
      (.signingInformation, _), (.pairingRequest, _), (.pairingPublicKey, _), (.pairingDHKeyCheck, _),
      (.keypressNotification, _):
      return withPairing(now) { (pairing) throws(PairingFailureReason) in
        try pairing.receive(pdu, arrived: arrival ?? now)
      }
    }
  }

  /// The octets are no packet.
  private mutating func refuse(_ error: SMPCodingError, _ now: Instant) -> [SecurityAction] {
    switch error {
    case .empty, .unknownCode: []
    // Only these two begin something; any other packet outside of a pairing belongs to an ended one.
    case .length(.pairingRequest), .reservedValue(.pairingRequest), .length(.securityRequest):
      fail(.invalidParameters)
    case .length, .reservedValue: isPairing ? fail(.invalidParameters) : []
    }
  }

  private var isRequested: Bool { if case .requested = state { true } else { false } }

  /// The peripheral wants the link to be protected (2.4.6).
  private mutating func requested(
    _ requirements: AuthenticationRequirements, bond: () -> Bond?, _ permission: () -> PairingPermission, _ now: Instant
  ) -> [SecurityAction] {
    switch state {
    case .idle: break
    case .requested, .encrypting, .pairing, .closed: return []
    }
    let key = bond()?.key(for: .central)
    if let key, key.meets(requirements) { return security.level >= key.level ? [] : encrypt(key, now) }
    let refusal: PairingFailureReason
    switch permission() {
    case .granted(let terms) where key == nil || terms.mayAuthenticate: return pair(on: terms, now)
    // The device has asked for more than another pairing would give.
    case .granted: refusal = .authenticationRequirements
    case .refused(let reason): refusal = reason
    }
    // The bond's key is better than none.
    guard let key, security.level < key.level else { return [.send(.pairingFailed(refusal))] }
    return encrypt(key, now)
  }

  /// The central begins to pair.
  private mutating func respond(
    to features: PairingFeatures, _ permission: PairingPermission, _ now: Instant
  ) -> [SecurityAction] {
    switch permission {
    case .refused(let reason):
      let wasRequested = isRequested
      if wasRequested { state = .idle }
      return [.send(.pairingFailed(reason))] + (wasRequested ? [.failed(.ours(reason))] : [])
    case .granted(let terms):
      var steps: [PairingStep] = []
      pairings &+= 1
      isOwnPairing = terms.isOwn
      do throws(PairingFailureReason) {
        let pairing = try Pairing(responding: terms, to: features, ends, &steps)
        state = .pairing(pairing, until: now.advanced(by: Self.timeout))
        return execute(steps, now)
      } catch {
        return end(.ours(error))
      }
    }
  }

  // MARK: - Encryption

  /// A peripheral's controller requests the key with this name.
  package mutating func keyRequested(random: UInt64, diversifier: UInt16, bond: Bond?) -> [SecurityAction] {
    replied = nil
    if case .pairing(var pairing, let until) = state {
      // The short term key has no name, and before it is agreed on there is no key to give.
      guard random == 0, diversifier == 0, let security = pairing.parameters?.security, let key = pairing.giveKey()
      else { return [.replyToKeyRequest(nil)] }
      state = .pairing(pairing, until: until)
      replied = .pairing(security)
      return [.replyToKeyRequest(key)]
    }
    guard let key = bond?.key(for: .peripheral), key.random == random, key.diversifier == diversifier,
      let value = key.secret
    else { return [.replyToKeyRequest(nil), .keysLost(theirs: false)] }
    replied = .bond(key.security)
    return [.replyToKeyRequest(value)]
  }

  /// The controller encrypted the link (Encryption Change, Encryption Key Refresh Complete).
  /// - Parameter arrival: when the event arrived in this machine; nil: now.
  package mutating func encrypted(eventArrived arrival: Instant? = nil, now: Instant) -> [SecurityAction] {
    let replied = replied
    self.replied = nil
    switch (state, replied) {
    case (.encrypting(let security, _), _):
      state = .idle
      return secured(security, isAwaited: true)
    case (.closed, _): return []
    // During a pairing: the event was slower than the Pairing Request.
    case (_, .bond(let security)):
      let isAwaited = isRequested
      if isRequested { state = .idle }
      return secured(security, isAwaited: isAwaited)
    case (.pairing(let pairing, _), .pairing),
      (.pairing(let pairing, _), nil) where ends.role == .central:
      guard pairing.isEncrypting, let security = pairing.parameters?.security else { return [] }
      let actions = withPairing(now) { (pairing) throws(PairingFailureReason) in
        try pairing.encrypted(eventArrived: arrival ?? now)
      }
      // A failed pairing's keys are not used.
      if case .closed = state { return actions }
      return secured(security) + actions
    case (.idle, _), (.requested, _), (.pairing, _): return []
    }
  }

  /// The controller could not encrypt the link, for this HCI error, or does so no longer (0).
  package mutating func encryptionFailed(_ code: UInt8) -> [SecurityAction] {
    let wasSecured = security != .none
    replied = nil
    switch state {
    // Else it was the bond's key, and the event was slower than the Pairing Request.
    case .pairing(let pairing, _): return pairing.mayEncrypt || wasSecured ? end(.encryption(code)) : []
    case .encrypting: break
    // No protected data has lost its protection.
    case .idle, .requested: guard wasSecured else { return [] }
    case .closed: return []
    }
    state = .idle
    let lost: [SecurityAction] = code == 0x06 && !wasSecured ? [.keysLost(theirs: true)] : []
    return lost + [.failed(.encryption(code))] + secured(.none)
  }

  /// - Parameter isAwaited: true if this side has requested it, and waits.
  private mutating func secured(_ new: LinkSecurity, isAwaited: Bool = false) -> [SecurityAction] {
    guard new != security || isAwaited else { return [] }
    security = new
    return [.secured(new)]
  }

  private mutating func encrypt(_ key: LongTermKey, _ now: Instant) -> [SecurityAction] {
    guard let value = key.secret else { return [.failed(.ours(.keyRejected))] }
    state = .encrypting(key.security, until: now.advanced(by: Self.timeout))
    return [.encrypt(EncryptionKey(value: value, random: key.random, diversifier: key.diversifier))]
  }

  // MARK: - Ends

  /// Time has passed.
  package mutating func timePassed(now: Instant) -> [SecurityAction] {
    guard let deadline, deadline <= now else { return [] }
    guard case .encrypting = state else { return end(.timeout) }
    state = .closed(.encryptionTimeout)
    return [.failed(.encryptionTimeout)] + secured(.none)
  }

  /// Reports the failure to the other side.
  private mutating func fail(_ reason: PairingFailureReason) -> [SecurityAction] {
    isPairing ? end(.ours(reason)) : [.send(.pairingFailed(reason))]
  }

  private mutating func end(_ failure: PairingFailure) -> [SecurityAction] {
    let isLast = isLast(failure)
    state = isLast ? .closed(failure) : .idle
    isAsking = false
    var actions: [SecurityAction] = []
    if case .ours(let reason) = failure { actions.append(.send(.pairingFailed(reason))) }
    guard isLast else { return actions + [.failed(failure)] }
    return actions + secured(.none) + [.failed(failure), .disconnect]
  }

  /// True if the link must end after a failure.
  private func isLast(_ failure: PairingFailure) -> Bool {
    guard case .pairing(let pairing, _) = state else { return false }
    return switch failure {
    case .timeout: true
    case .ours, .theirs: pairing.mayEncrypt
    // The controllers have left the link unchanged, unless it was encrypted, or they reported the end of its
    // encryption.
    case .encryption(let code): !pairing.isEncrypting || code == 0 || security != .none
    case .encryptionTimeout: true
    }
  }

  // MARK: - Pairing

  private mutating func pair(on terms: PairingTerms, _ now: Instant) -> [SecurityAction] {
    pairings &+= 1
    isOwnPairing = terms.isOwn
    let pairing = Pairing(requesting: terms, ends)
    state = .pairing(pairing, until: now.advanced(by: Self.timeout))
    return execute(pairing.start(), now)
  }

  /// Gives the pairing an input. Without a pairing, the packet belongs to an ended one.
  private mutating func withPairing(
    _ now: Instant, _ body: (inout Pairing) throws(PairingFailureReason) -> [PairingStep]
  ) -> [SecurityAction] {
    guard case .pairing(var pairing, let until) = state else { return [] }
    do throws(PairingFailureReason) {
      let steps = try body(&pairing)
      for case .completed(let bond?) in steps where otherIdentities.contains(bond.peer) { throw .keyRejected }
      state = .pairing(pairing, until: until)
      return execute(steps, now)
    } catch {
      return end(.ours(error))
    }
  }

  private mutating func execute(_ steps: [PairingStep], _ now: Instant) -> [SecurityAction] {
    var actions: [SecurityAction] = []
    for step in steps {
      switch step {
      case .send(let pdu):
        if case .pairing(let pairing, _) = state { state = .pairing(pairing, until: now.advanced(by: Self.timeout)) }
        actions.append(.send(pdu))
      case .ask(let question):
        self.question &+= 1
        isAsking = true
        actions.append(.ask(self.question, question))
      case .show(let passkey, let entered): actions.append(.show(passkey: passkey, entered: entered))
      case .agreed(let key):
        if ends.role == .central { actions.append(.encrypt(EncryptionKey(value: key))) }
      case .completed(let bond):
        if case .pairing(let pairing, _) = state, let parameters = pairing.parameters {
          usedTemporaryKey = parameters.usedTemporaryKey
          hasFoundNoMeans = parameters.terms.mayAuthenticate && !parameters.method.isAuthenticated
        }
        state = .idle
        actions.append(.paired(bond))
      }
    }
    return actions
  }
}
