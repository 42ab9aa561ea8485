import BluetoothCrypto

/// A handshake's keys and hash so far (Noise, 5.2), with SHA-256.
struct SymmetricState: Sendable {
  private(set) var hash: [UInt8]
  private var chainingKey: [UInt8]
  private var cipher: CipherState?

  init(protocolName: String) {
    let name = Array(protocolName.utf8)
    hash = name.count <= 32 ? name + [UInt8](repeating: 0, count: 32 - name.count) : SHA256.hash(name)
    chainingKey = hash
  }

  mutating func mixHash(_ octets: [UInt8]) { hash = SHA256.hash(hash + octets) }

  mutating func mixKey(_ input: [UInt8]) {
    let keys = derive(input, 2)
    chainingKey = keys[0]
    cipher = CipherState(key: keys[1])
  }

  mutating func mixKeyAndHash(_ input: [UInt8]) {
    let keys = derive(input, 3)
    chainingKey = keys[0]
    mixHash(keys[1])
    cipher = CipherState(key: keys[2])
  }

  /// Encrypts, once there is a key.
  mutating func encryptAndHash(_ plaintext: [UInt8]) throws(NoiseError) -> [UInt8] {
    let ciphertext = try cipher?.encrypt(plaintext, associatedData: hash) ?? plaintext
    mixHash(ciphertext)
    return ciphertext
  }

  mutating func decryptAndHash(_ ciphertext: [UInt8]) throws(NoiseError) -> [UInt8] {
    let plaintext = try cipher?.decrypt(ciphertext, associatedData: hash) ?? ciphertext
    mixHash(ciphertext)
    return plaintext
  }

  /// An encrypted part's present additional length.
  var overhead: Int { cipher == nil ? 0 : CipherState.overhead }

  /// The keys after the handshake: from the initiator, and to it.
  func split() -> (fromInitiator: CipherState, toInitiator: CipherState) {
    let keys = derive([], 2)
    return (CipherState(key: keys[0]), CipherState(key: keys[1]))
  }

  /// HKDF (Noise, 4.3; RFC 5869) with the chaining key.
  private func derive(_ input: [UInt8], _ count: UInt8) -> [[UInt8]] {
    let secret = Self.code(chainingKey, input)
    var outputs: [[UInt8]] = []
    for number in 1...count { outputs.append(Self.code(secret, (outputs.last ?? []) + [number])) }
    return outputs
  }

  /// HMAC (RFC 2104) with a key of 32 octets.
  private static func code(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    let block = key + [UInt8](repeating: 0, count: 64 - key.count)
    return SHA256.hash(block.map { $0 ^ 0x5C } + SHA256.hash(block.map { $0 ^ 0x36 } + message))
  }
}
