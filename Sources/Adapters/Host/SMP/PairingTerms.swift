import Adapter
import Bluetooth
import BluetoothCrypto

/// The terms on which this machine takes part in one pairing.
package struct PairingTerms: Sendable {
  /// The means of a person here.
  package var capability = PairingCapability.none
  /// The lowest security level with which the pairing may end, 2 to 4.
  package var level = 2
  /// Whether the keys are kept.
  package var bonds = true
  /// Whether a program here asked for it; otherwise consent is asked for where nothing else is.
  package var isOwn = false
  /// Whether LE Secure Connections is supported.
  package var hasSecureConnections = true
  /// The shortest encryption key that is accepted, 7 to 16 octets.
  package var minimumKeySize = 7
  /// The longest encryption key that is offered, 7 to 16 octets.
  package var maximumKeySize = 16
  /// The address that this machine keeps.
  package var identity: DeviceAddress
  /// The key that resolves its private addresses; nil if it has none. Then no identity is handed out: devices that are
  /// promised an identity without a key fail the pairing.
  package var identityResolvingKey: Key128?
  /// The data that the device gave by another way than the air, for LE Secure Connections.
  package var outOfBand: SecureOutOfBandData?
  /// The temporary key of legacy pairing that the device gave by another way than the air.
  package var temporaryKey: Key128?
  /// The data that this machine gave by another way; nil if it gave none.
  package var ownOutOfBand: OwnOutOfBandData?
  /// Secrets that no other pairing had or will have.
  package var secrets: PairingSecrets

  /// Whether a pairing on these terms may be protected against a person in the middle, if the device does its part.
  var mayAuthenticate: Bool { capability != .none || outOfBand != nil || temporaryKey != nil }

  /// Makes terms with the values above.
  package init(identity: DeviceAddress, secrets: PairingSecrets) {
    self.identity = identity
    self.secrets = secrets
  }
}

/// Whether a device may pair, or be paired with because it asked for security.
package enum PairingPermission: Sendable {
  case granted(PairingTerms)
  /// The reason why it may not.
  case refused(PairingFailureReason)
}

/// The secrets behind the data that this machine gives by another way than the air (2.3.5.4, 2.3.5.6.4).
package struct OwnOutOfBandData: Sendable {
  /// The key pair of pairings with devices that have the data, and of no others.
  package var keyPair: P256KeyPair
  package var random: Key128
  /// For one legacy pairing that such a device begins.
  package private(set) var temporaryKey: Key128

  /// Makes secrets.
  package init(keyPair: P256KeyPair = P256KeyPair()) {
    var generator = SystemRandomNumberGenerator()
    self.keyPair = keyPair
    random = .random(using: &generator)
    temporaryKey = .random(using: &generator)
  }

  /// A device has paired with the temporary key, and could decrypt the pairing of another one with the same key. So the
  /// next one that claims to have the key fails.
  package mutating func temporaryKeyWasUsed() {
    var generator = SystemRandomNumberGenerator()
    temporaryKey = .random(using: &generator)
  }

  /// The data for devices.
  package var data: OutOfBandData? {
    let x = keyPair.publicKey.x
    let confirmation = SecureConnections.f4(u: x, v: x, x: random, z: 0)
    let secure = SecureOutOfBandData(confirmation: confirmation.littleEndian, random: random.littleEndian)
    return OutOfBandData(secure: secure, temporaryKey: temporaryKey.littleEndian)
  }
}

/// The random numbers of one pairing.
package struct PairingSecrets: Sendable {
  /// The rounds of a passkey: one for each of its bits.
  static let rounds = 20

  /// The key pair, which no other pairing may use (CVE-2020-26558, and fixed coordinates: CVE-2018-5383).
  package var keyPair: P256KeyPair
  /// The nonces of LE Secure Connections, one for each round of a passkey; the first is that of the other methods, and
  /// of legacy pairing.
  package var nonces: [Key128]
  /// The passkey that is shown, 0 to 999999.
  package var passkey: UInt32
  /// The key for encryption that legacy pairing hands out, with its name.
  package var longTermKey: EncryptionKey
  /// The key for signed writes.
  package var signatureKey: Key128

  /// Makes new secrets.
  /// - Parameter keyPair: the key pair, that of no other pairing.
  package init(keyPair: P256KeyPair = P256KeyPair()) {
    var generator = SystemRandomNumberGenerator()
    self.keyPair = keyPair
    nonces = (0..<Self.rounds).map { _ in Key128.random(using: &generator) }
    passkey = UInt32.random(in: 0...999_999, using: &generator)
    longTermKey = EncryptionKey(
      value: .random(using: &generator), random: .random(in: 1 ... .max, using: &generator),
      diversifier: .random(in: 1 ... .max, using: &generator))
    signatureKey = .random(using: &generator)
  }

  /// The nonce of a round, 0 to 19.
  func nonce(_ round: Int) throws(PairingFailureReason) -> Key128 {
    guard nonces.indices.contains(round) else { throw .unspecified }
    return nonces[round]
  }
}

/// A key with which a link is encrypted, and its name. The name is zero but for keys of legacy pairing (2.4.4).
package struct EncryptionKey: Hashable, Sendable {
  package var value: Key128
  package var random: UInt64 = 0
  package var diversifier: UInt16 = 0
}
