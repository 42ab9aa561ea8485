import Adapter
import Bluetooth
import BluetoothCrypto

// State     Input                               Next
// key       the answer of a person              confirm; random if the initiator's confirm value has come
// key       Pairing Confirm, as responder       key (kept until the answer)
// confirm   Pairing Confirm                     random
// random    Pairing Random that fits            ended: agreed
// any       anything else                       throws: the pairing fails
//
// Just Works and out-of-band data need no answer: the machine begins with `confirm`.

/// Phase 2 of LE legacy pairing (Core 5.4, Vol 3, Part H, 2.3.5.2 to 2.3.5.5), at either side.
struct LegacyAuthentication: Sendable {
  private enum State: Sendable {
    /// The temporary key is not known yet.
    case key(confirm: Key128?)
    case confirm(key: Key128)
    case random(key: Key128, confirm: Key128)
    case ended
  }

  private let parameters: PairingParameters
  private var state = State.key(confirm: nil)

  init(_ parameters: PairingParameters) { self.parameters = parameters }

  /// Begins.
  mutating func start() throws(PairingFailureReason) -> [PairingStep] {
    switch parameters.method {
    case .justWorks where parameters.asksConsent: return [.ask(.consent)]
    case .justWorks, .comparison: return try proceed(.zero, confirm: nil)
    case .outOfBand:
      guard let key = parameters.temporaryKey else { throw .outOfBandNotAvailable }
      return try proceed(key, confirm: nil)
    case .passkey, .typedPasskey:
      if parameters.method.isTyped(by: parameters.role) { return [.ask(.passkey)] }
      let passkey = parameters.terms.secrets.passkey
      return [.show(passkey: passkey)] + (try proceed(Key128(passkey), confirm: nil))
    }
  }

  /// The person has answered.
  mutating func answer(_ answer: PairingAnswer) throws(PairingFailureReason) -> [PairingStep] {
    guard case .key(let confirm) = state else { return [] }
    guard parameters.method.isTyped(by: parameters.role) else {
      if answer == .refuse { throw .pairingNotSupported }
      return try proceed(.zero, confirm: confirm)
    }
    return try proceed(Key128(try answer.passkey), confirm: confirm)
  }

  /// The temporary key is known.
  private mutating func proceed(
    _ key: Key128, confirm: Key128?
  ) throws(PairingFailureReason) -> [PairingStep] {
    state = .confirm(key: key)
    if parameters.role == .central { return [.send(.pairingConfirm(try ownConfirm(key)))] }
    return if let confirm { try receive(.pairingConfirm(confirm)) } else { [] }
  }

  /// A packet was received.
  mutating func receive(_ pdu: SMPPDU) throws(PairingFailureReason) -> [PairingStep] {
    switch (state, pdu) {
    case (.key(nil), .pairingConfirm(let confirm)) where parameters.role == .peripheral:
      state = .key(confirm: confirm)
      return []
    case (.confirm(let key), .pairingConfirm(let confirm)):
      let own = try ownConfirm(key)
      // A device that returns our values would pass the check without the temporary key.
      guard confirm != own else { throw .confirmValueFailed }
      state = .random(key: key, confirm: confirm)
      return [.send(parameters.role == .central ? .pairingRandom(try nonce) : .pairingConfirm(own))]
    case (.random(let key, let confirm), .pairingRandom(let random)):
      return try conclude(key, confirm, random)
    case (.key, _), (.confirm, _), (.random, _), (.ended, _): throw .unspecified
    }
  }

  private mutating func conclude(
    _ key: Key128, _ confirm: Key128, _ random: Key128
  ) throws(PairingFailureReason) -> [PairingStep] {
    let own = try nonce
    guard random != own, try self.confirm(key, random) == confirm else { throw .confirmValueFailed }
    state = .ended
    switch parameters.role {
    case .central: return [.agreed(LegacyPairing.s1(k: key, r1: random, r2: own))]
    case .peripheral: return [.send(.pairingRandom(own)), .agreed(LegacyPairing.s1(k: key, r1: own, r2: random))]
    }
  }

  private var nonce: Key128 { get throws(PairingFailureReason) { try parameters.terms.secrets.nonce(0) } }

  private func ownConfirm(_ key: Key128) throws(PairingFailureReason) -> Key128 { try confirm(key, try nonce) }

  /// The confirm value for a random number.
  private func confirm(_ key: Key128, _ random: Key128) throws(PairingFailureReason) -> Key128 {
    let value = LegacyPairing.c1(
      k: key, r: random, request: SMPPDU.pairingRequest(parameters.request).encoded,
      response: SMPPDU.pairingResponse(parameters.response).encoded, initiator: parameters.initiator,
      responder: parameters.responder)
    guard let value else { throw .unspecified }
    return value
  }
}

extension PairingAnswer {
  /// The passkey typed by a person.
  var passkey: UInt32 {
    get throws(PairingFailureReason) {
      guard case .passkey(let passkey) = self, passkey <= 999_999 else { throw .passkeyEntryFailed }
      return passkey
    }
  }
}
