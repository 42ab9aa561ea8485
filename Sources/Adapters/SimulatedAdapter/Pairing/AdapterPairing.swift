import Adapter
import Bluetooth
import BluetoothCrypto

/// The pairings of an adapter for the daemon, which keeps the bonds, and the pending questions.
final class AdapterPairing: PairingParty {
  let identity: DeviceAddress
  /// The adapter always uses its own address.
  var identityResolvingKey: Key128? { nil }
  var keys: SimulatedKeys? { nil }
  /// All bonds of the machine.
  var bonds: (any BondSource)?
  var settings = PairingSettings()
  /// Notifies the adapter's owner; the address is the peer's on the link.
  var onEvent: ((DeviceAddress, PairingEvent) -> Void)?

  private var generator: SeededGenerator
  /// The open questions, at most one per device.
  private var questions: [QuestionID: PairingPrompt] = [:]
  private var lastQuestion: UInt64 = 0

  init(identity: DeviceAddress, generator: SeededGenerator) {
    self.identity = identity
    self.generator = generator
  }

  /// The bond with a device that uses this address on a link.
  private func bond(with peer: DeviceAddress) -> Bond? {
    bonds?.all.first { bond in
      guard bond.local == identity else { return false }
      guard bond.peer != peer else { return true }
      let key = bond.identityResolvingKey.flatMap { Key128(littleEndian: $0) }
      return key.map { peer.isResolved(by: $0) } ?? false
    }
  }

  /// Answers a question if it is still open.
  func answer(_ question: QuestionID, _ answer: PairingAnswer) {
    questions.removeValue(forKey: question)?.answer(answer)
  }

  // MARK: - PairingParty

  func features(wanted level: Int?, as capability: PairingCapability?) -> PairingFeatures? {
    guard level != nil || settings.acceptsDevices else { return nil }
    let capability = capability ?? settings.capability
    return PairingFeatures(
      capability: capability, wantsAuthentication: capability != .none || level ?? 2 > 2)
  }

  func drawNumber() -> UInt32 { UInt32(generator.next() % 1_000_000) }

  func drawPasskey() -> UInt32 { drawNumber() }

  func ask(_ prompt: PairingPrompt) {
    guard prompt.question != .consent || !prompt.isOwnPairing else { return prompt.answer(.accept) }
    forgetQuestion(of: prompt.peer)
    lastQuestion += 1
    let id = QuestionID(lastQuestion)
    questions[id] = prompt
    onEvent?(prompt.peer, .question(id, prompt.question))
  }

  private func forgetQuestion(of peer: DeviceAddress) { questions = questions.filter { $0.value.peer != peer } }

  func show(_ passkey: UInt32, to peer: DeviceAddress) { onEvent?(peer, .showPasskey(passkey, entered: 0)) }

  func paired(with peer: DeviceAddress, _ bond: Bond?) {
    forgetQuestion(of: peer)
    onEvent?(peer, bond.map { .bonded($0) } ?? .pairedWithoutBond)
  }

  func pairingFailed(with peer: DeviceAddress, _ error: BluetoothError) {
    forgetQuestion(of: peer)
    onEvent?(peer, .failed(error))
  }

  func keysLost(with peer: DeviceAddress, theirs: Bool) { onEvent?(peer, .keysLost(theirs: theirs)) }

  func longTermKey(with peer: DeviceAddress, as role: LinkRole) -> LongTermKey? { bond(with: peer)?.key(as: role) }

  func recognises(_ key: LongTermKey, of peer: DeviceAddress, as role: LinkRole) -> Bool {
    longTermKey(with: peer, as: role)?.value == key.value
  }

  var followsSecurityRequests: Bool { settings.acceptsDevices }
}

extension Bond {
  /// The key for links on which we have this role.
  fileprivate func key(as role: LinkRole) -> LongTermKey? {
    longTermKeys.first { $0.isSecureConnections || $0.role == role }
  }
}
