import Adapter
import Bluetooth
import BluetoothCrypto
import ScenarioRules
import Scenarios

/// The pairings of a device or a phone of the scenario, and its keys.
final class DevicePairing: PairingParty {
  let identity: DeviceAddress
  let identityResolvingKey: Key128?
  let keys: SimulatedKeys?

  /// Called when it has bonded with the other side of its link.
  var onBonded: (() -> Void)?

  private unowned let air: Air
  /// The pairing description; nil if it does not pair.
  var description: PairingDescription?
  private var generator: SeededGenerator
  /// The keys of this run, by the other side's address.
  private var known: [DeviceAddress: [LongTermKey]] = [:]
  /// True if the keys of earlier runs are lost.
  private var hasForgotten: Bool

  /// - Parameters:
  ///   - description: the pairing description; nil if it does not pair.
  ///   - hasPrivateAddresses: true if it distributes the key of its private addresses.
  init(
    _ description: PairingDescription?, of identity: DeviceAddress, hasPrivateAddresses: Bool, air: Air
  ) {
    self.description = description
    self.identity = identity
    self.air = air
    keys = air.keys
    identityResolvingKey = hasPrivateAddresses ? air.keys.identityResolvingKey(of: identity) : nil
    generator = air.generator(Stream.pairing.of(identity))
    hasForgotten = description?.losesKeys ?? false
  }

  /// True if it requests security as soon as a central has connected.
  var requestsSecurity: Bool { description?.requestsSecurity ?? false }

  /// The device loses all keys.
  func loseKeys() {
    known = [:]
    hasForgotten = true
  }

  /// Its link has ended.
  func linkEnded() { if description?.losesKeys == true { loseKeys() } }

  // MARK: - PairingParty

  func features(wanted level: Int?, as capability: PairingCapability?) -> PairingFeatures? {
    description.map {
      PairingFeatures(
        capability: $0.capability, hasSecureConnections: $0.hasSecureConnections, bonds: $0.bonds,
        wantsAuthentication: $0.capability != .none, keySize: $0.keySize)
    }
  }

  func drawNumber() -> UInt32 { UInt32(generator.next() % 1_000_000) }

  func drawPasskey() -> UInt32 { description?.passkey ?? PairingDescription.standardPasskey }

  func ask(_ prompt: PairingPrompt) {
    guard let description, description.answer != .never else { return }
    let answer: PairingAnswer
    switch (description.answer, prompt.question) {
    case (.refuse, _): answer = .refuse
    case (_, .consent), (_, .comparison): answer = .accept
    case (_, .passkey):
      answer = .passkey(description.passkey ?? prompt.shown ?? PairingDescription.standardPasskey)
    }
    air.scheduler.schedule(after: description.answerDelay.draw(&generator)) { prompt.answer(answer) }
  }

  func show(_ passkey: UInt32, to peer: DeviceAddress) {}

  func paired(with peer: DeviceAddress, _ bond: Bond?) {
    guard let bond else { return }
    known[peer] = bond.longTermKeys
    onBonded?()
  }

  func pairingFailed(with peer: DeviceAddress, _ error: BluetoothError) {}

  func keysLost(with peer: DeviceAddress, theirs: Bool) {}

  func longTermKey(with peer: DeviceAddress, as role: LinkRole) -> LongTermKey? {
    known[peer]?.first { $0.isSecureConnections || $0.role == role }
  }

  func recognises(_ key: LongTermKey, of peer: DeviceAddress, as role: LinkRole) -> Bool {
    guard description != nil else { return false }
    if let own = longTermKey(with: peer, as: role) { return own.value == key.value }
    guard !hasForgotten else { return false }
    return air.keys.longTermKeys(
      central: role == .central ? identity : peer, peripheral: role == .central ? peer : identity, like: key, for: role
    ).contains { $0.value == key.value }
  }

  var followsSecurityRequests: Bool { description != nil }
}
