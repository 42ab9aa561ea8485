import Adapter
import Bluetooth
import BluetoothCrypto

// State      Input                             Next
// publicKey  Pairing Public Key                passkey if a person types it here; confirm; random
// passkey    the answer of a person            confirm, and random if the initiator's confirm value has come
// passkey    Pairing Confirm, as responder     passkey (kept until the answer)
// confirm    Pairing Confirm                   random
// random     Pairing Random that fits          confirm for the next bit of a passkey; decision if a person is asked;
//                                              check
// decision   the answer of a person            check; ended if the initiator's check has come
// decision   DHKey Check, as responder         decision (kept until the answer)
// check      DHKey Check that fits             ended: agreed
// any        anything else                     throws: the pairing fails

/// Phase 2 of LE Secure Connections pairing (Core 5.4, Vol 3, Part H, 2.3.5.6), at either side.
struct SecureAuthentication: Sendable {
  private enum State: Sendable {
    case publicKey
    case passkey(KeyExchange, confirm: Key128?)
    case confirm(Round)
    case random(Round, confirm: Key128?)
    case decision(SecureChecks, check: Key128?)
    case check(SecureChecks)
    case ended
  }

  /// The public keys are exchanged.
  private struct KeyExchange: Sendable {
    let peer: P256PublicKey
    /// DHKey.
    let secret: [UInt8]
  }

  /// An exchange of nonces; a passkey needs one per bit.
  private struct Round: Sendable {
    let keys: KeyExchange
    let passkey: UInt32?
    var number = 0

    /// The last argument of f4.
    var bit: UInt8 { passkey.map { 0x80 | UInt8($0 >> UInt32(number) & 1) } ?? 0 }
    var isLast: Bool { passkey == nil || number == PairingSecrets.rounds - 1 }
  }

  private let parameters: PairingParameters
  private var state = State.publicKey

  init(_ parameters: PairingParameters) { self.parameters = parameters }

  private var isInitiator: Bool { parameters.role == .central }
  private var own: P256PublicKey { parameters.terms.secrets.keyPair.publicKey }

  /// Begins.
  func start() -> [PairingStep] { isInitiator ? [.send(.pairingPublicKey(own))] : [] }

  /// The person has answered.
  mutating func answer(_ answer: PairingAnswer) throws(PairingFailureReason) -> [PairingStep] {
    switch state {
    case .passkey(let keys, let confirm):
      let steps = try begin(Round(keys: keys, passkey: try answer.passkey))
      return if let confirm { steps + (try receive(.pairingConfirm(confirm))) } else { steps }
    case .decision(let checks, let check):
      if answer == .refuse {
        throw parameters.method == .justWorks ? .pairingNotSupported : .numericComparisonFailed
      }
      let steps = conclude(checks)
      return if let check { steps + (try receive(.pairingDHKeyCheck(check))) } else { steps }
    case .publicKey, .confirm, .random, .check, .ended: return []
    }
  }

  /// A packet was received.
  mutating func receive(_ pdu: SMPPDU) throws(PairingFailureReason) -> [PairingStep] {
    switch (state, pdu) {
    case (.publicKey, .pairingPublicKey(let key)): return try accept(key)
    case (.passkey(let keys, nil), .pairingConfirm(let confirm)) where !isInitiator:
      state = .passkey(keys, confirm: confirm)
      return []
    case (.confirm(let round), .pairingConfirm(let confirm)):
      state = .random(round, confirm: confirm)
      return [.send(isInitiator ? .pairingRandom(try nonce(round)) : .pairingConfirm(try ownConfirm(round)))]
    case (.random(let round, let confirm), .pairingRandom(let random)): return try check(round, confirm, random)
    case (.decision(let checks, nil), .pairingDHKeyCheck(let check)) where !isInitiator:
      state = .decision(checks, check: check)
      return []
    case (.check(let checks), .pairingDHKeyCheck(let check)):
      guard check == checks.theirs else { throw .dhKeyCheckFailed }
      state = .ended
      return (isInitiator ? [] : [.send(.pairingDHKeyCheck(checks.ours))]) + [.agreed(checks.longTermKey)]
    case (.publicKey, _), (.passkey, _), (.confirm, _), (.random, _), (.decision, _), (.check, _), (.ended, _):
      throw .unspecified
    }
  }

  /// Accepts the other side's public key. A point equal to ours, or with the opposite sign, can only be a copy; the
  /// debug key is no secret.
  private mutating func accept(_ key: P256PublicKey) throws(PairingFailureReason) -> [PairingStep] {
    guard key.x != own.x, key.x != P256PublicKey.debugX,
      let secret = parameters.terms.secrets.keyPair.sharedSecret(with: key)
    else { throw .invalidParameters }
    let keys = KeyExchange(peer: key, secret: secret)
    let steps: [PairingStep] = isInitiator ? [] : [.send(.pairingPublicKey(own))]
    switch parameters.method {
    case .justWorks, .comparison:
      let round = Round(keys: keys, passkey: nil)
      guard !isInitiator else {
        state = .confirm(round)
        return steps
      }
      state = .random(round, confirm: nil)
      return steps + [.send(.pairingConfirm(try ownConfirm(round)))]
    case .outOfBand:
      try checkOutOfBandData(key)
      let round = Round(keys: keys, passkey: nil)
      state = .random(round, confirm: nil)
      return steps + (isInitiator ? [.send(.pairingRandom(try nonce(round)))] : [])
    case .passkey, .typedPasskey:
      if parameters.method.isTyped(by: parameters.role) {
        state = .passkey(keys, confirm: nil)
        return steps + [.ask(.passkey)]
      }
      let passkey = parameters.terms.secrets.passkey
      return steps + [.show(passkey: passkey)] + (try begin(Round(keys: keys, passkey: passkey)))
    }
  }

  /// The other side's data must belong to its public key.
  private func checkOutOfBandData(_ key: P256PublicKey) throws(PairingFailureReason) {
    guard parameters.ours.hasOutOfBandData else { return }
    guard let data = parameters.terms.outOfBand, let random = Key128(littleEndian: data.random),
      SecureConnections.f4(u: key.x, v: key.x, x: random, z: 0).littleEndian == data.confirmation
    else { throw .confirmValueFailed }
  }

  /// Begins a passkey round.
  private mutating func begin(_ round: Round) throws(PairingFailureReason) -> [PairingStep] {
    state = .confirm(round)
    return isInitiator ? [.send(.pairingConfirm(try ownConfirm(round)))] : []
  }

  /// The other side's nonce was received.
  private mutating func check(
    _ round: Round, _ confirm: Key128?, _ random: Key128
  ) throws(PairingFailureReason) -> [PairingStep] {
    if let confirm {
      let value = SecureConnections.f4(u: round.keys.peer.x, v: own.x, x: random, z: round.bit)
      guard value == confirm else { throw .confirmValueFailed }
    }
    let nonce = try nonce(round)
    let steps: [PairingStep] = isInitiator ? [] : [.send(.pairingRandom(nonce))]
    guard round.isLast else {
      var next = round
      next.number += 1
      return steps + (try begin(next))
    }
    let checks = SecureChecks(
      parameters, secret: round.keys.secret, ownNonce: nonce, peerNonce: random, passkey: round.passkey)
    let question: PairingQuestion? =
      if parameters.method == .comparison {
        .comparison(number(round, ownNonce: nonce, peerNonce: random))
      } else {
        parameters.asksConsent ? .consent : nil
      }
    guard let question else { return steps + conclude(checks) }
    state = .decision(checks, check: nil)
    return steps + [.ask(question)]
  }

  /// The number shown at both sides, 0 to 999999.
  private func number(_ round: Round, ownNonce: Key128, peerNonce: Key128) -> UInt32 {
    let value =
      isInitiator
      ? SecureConnections.g2(u: own.x, v: round.keys.peer.x, x: ownNonce, y: peerNonce)
      : SecureConnections.g2(u: round.keys.peer.x, v: own.x, x: peerNonce, y: ownNonce)
    return value % 1_000_000
  }

  private mutating func conclude(_ checks: SecureChecks) -> [PairingStep] {
    state = .check(checks)
    return isInitiator ? [.send(.pairingDHKeyCheck(checks.ours))] : []
  }

  private func nonce(_ round: Round) throws(PairingFailureReason) -> Key128 {
    try parameters.terms.secrets.nonce(round.number)
  }

  private func ownConfirm(_ round: Round) throws(PairingFailureReason) -> Key128 {
    SecureConnections.f4(u: own.x, v: round.keys.peer.x, x: try nonce(round), z: round.bit)
  }
}
