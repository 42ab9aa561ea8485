import Adapter
import Bluetooth
import BluetoothCrypto

/// This machine's terms for one pairing.
package struct PairingTerms: Sendable {
  /// The means of the person here.
  package var capability = PairingCapability.none
  /// The lowest acceptable security level of the pairing, 2 to 4.
  package var level = 2
  /// True to keep the keys.
  package var bonds = true
  /// True if a program here requested it; otherwise consent is asked for if no other question is.
  package var isOwn = false
  /// True if LE Secure Connections is supported.
  package var hasSecureConnections = true
  /// The shortest accepted encryption key, 7 to 16 octets.
  package var minimumKeySize = 7
  /// The longest offered encryption key, 1 to 16 octets; with less than 7 pairing fails.
  package var maximumKeySize = 16
  /// This machine's identity address.
  package var identity: DeviceAddress
  /// The key for its private addresses; nil if it has none. Then no identity is sent: devices that expect an identity
  /// without a key fail the pairing.
  package var identityResolvingKey: Key128?
  /// The device's out-of-band data for LE Secure Connections.
  package var outOfBand: SecureOutOfBandData?
  /// The device's out-of-band temporary key for legacy pairing.
  package var temporaryKey: Key128?
  /// This machine's out-of-band data; nil if none was disclosed.
  package var ownOutOfBand: OwnOutOfBandData?
  /// Secrets of this pairing only.
  package var secrets: PairingSecrets

  /// True if a pairing on these terms may be protected against a person in the middle, if the device does its part.
  var mayAuthenticate: Bool { capability != .none || outOfBand != nil || temporaryKey != nil }

  /// Makes terms with the values above.
  package init(identity: DeviceAddress, secrets: PairingSecrets) {
    self.identity = identity
    self.secrets = secrets
  }
}

/// The permission for a device to pair, or to cause a pairing by requesting security.
package enum PairingPermission: Sendable {
  case granted(PairingTerms)
  /// The reason why it may not.
  case refused(PairingFailureReason)
}

/// The secrets behind this machine's out-of-band data (2.3.5.4, 2.3.5.6.4).
package struct OwnOutOfBandData: Sendable {
  /// The key pair for pairings with devices that have the data, and for no others.
  package var keyPair: P256KeyPair
  package var random: Key128
  /// For one legacy pairing begun by such a device.
  package private(set) var temporaryKey: Key128

  /// Makes secrets.
  package init(keyPair: P256KeyPair = P256KeyPair()) {
    var generator = SystemRandomNumberGenerator()
    self.init(keyPair: keyPair, using: &generator)
  }

  /// Makes secrets from this source.
  package init(using generator: inout some RandomNumberGenerator) {
    self.init(keyPair: P256KeyPair(using: &generator), using: &generator)
  }

  private init(keyPair: P256KeyPair, using generator: inout some RandomNumberGenerator) {
    self.keyPair = keyPair
    random = .random(using: &generator)
    temporaryKey = .random(using: &generator)
  }

  /// A device has paired with the temporary key, and could decrypt another device's pairing with it. So the next device
  /// that claims the key fails.
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

/// A pairing's random numbers.
package struct PairingSecrets: Sendable {
  /// A passkey's rounds: one per bit.
  static let rounds = 20

  /// The key pair, which no other pairing may use (CVE-2020-26558, and fixed coordinates: CVE-2018-5383).
  package var keyPair: P256KeyPair
  /// The nonces for LE Secure Connections, one for each round of a passkey; the first is also for the other methods,
  /// and for legacy pairing.
  package var nonces: [Key128]
  /// The shown passkey, 0 to 999999.
  package var passkey: UInt32
  /// The encryption key sent in legacy pairing, with its name.
  package var longTermKey: EncryptionKey
  /// The key for signed writes.
  package var signatureKey: Key128

  /// Makes new secrets.
  /// - Parameter keyPair: the key pair, never used in another pairing.
  package init(keyPair: P256KeyPair = P256KeyPair()) {
    var generator = SystemRandomNumberGenerator()
    self.init(keyPair: keyPair, using: &generator)
  }

  /// Makes new secrets from this source.
  package init(using generator: inout some RandomNumberGenerator) {
    self.init(keyPair: P256KeyPair(using: &generator), using: &generator)
  }

  private init(keyPair: P256KeyPair, using generator: inout some RandomNumberGenerator) {
    self.keyPair = keyPair
    nonces = (0..<Self.rounds).map { _ in Key128.random(using: &generator) }
    passkey = UInt32.random(in: 0...999_999, using: &generator)
    longTermKey = EncryptionKey(
      value: .random(using: &generator), random: .random(in: 1 ... .max, using: &generator),
      diversifier: .random(in: 1 ... .max, using: &generator))
    signatureKey = .random(using: &generator)
  }

  /// The nonce for a round, 0 to 19.
  func nonce(_ round: Int) throws(PairingFailureReason) -> Key128 {
    guard nonces.indices.contains(round) else { throw .unspecified }
    return nonces[round]
  }
}

/// A link's encryption key, and its name. The name is zero except in legacy pairing (2.4.4).
package struct EncryptionKey: Hashable, Sendable {
  package var value: Key128
  package var random: UInt64 = 0
  package var diversifier: UInt16 = 0
}
