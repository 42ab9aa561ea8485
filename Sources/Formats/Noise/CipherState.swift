/// A direction of an encrypted connection: a key and the next message's number (Noise, 5.1).
public struct CipherState: Sendable {
  /// A ciphertext's additional length, in octets.
  public static let overhead = ChaChaPoly.tagLength

  /// 32 octets.
  private let key: [UInt8]
  private var nonce: UInt64 = 0

  init(key: [UInt8]) { self.key = key }

  /// Encrypts the next message.
  /// - Throws: `NoiseError.exhausted` after 2^64 − 1 messages.
  public mutating func encrypt(_ plaintext: [UInt8], associatedData: [UInt8] = []) throws(NoiseError) -> [UInt8] {
    let number = try next()
    defer { nonce = number + 1 }
    return ChaChaPoly.seal(plaintext, key: key, nonce: number, associatedData: associatedData)
  }

  /// Decrypts the next message. After a failure the same number is expected again.
  /// - Throws: `NoiseError.notAuthentic` for a message not sent by the other side, or not at this place;
  ///   `NoiseError.exhausted`.
  public mutating func decrypt(_ ciphertext: [UInt8], associatedData: [UInt8] = []) throws(NoiseError) -> [UInt8] {
    let number = try next()
    guard let plaintext = ChaChaPoly.open(ciphertext, key: key, nonce: number, associatedData: associatedData) else {
      throw .notAuthentic
    }
    nonce = number + 1
    return plaintext
  }

  /// The highest number is reserved (Noise, 5.1).
  private func next() throws(NoiseError) -> UInt64 {
    guard nonce < .max else { throw .exhausted }
    return nonce
  }
}

/// A failure of a handshake or of a later message.
public enum NoiseError: Error, Hashable, Sendable {
  /// The message was changed, repeated or left out, or the sides have different keys.
  case notAuthentic
  /// The message is shorter than its parts.
  case truncated
  /// The message would be longer than 65,535 octets.
  case tooLong
  /// The other side's public key leads to no secret.
  case weakKey
  /// The key has encrypted as many messages as it may.
  case exhausted
  /// The call does not fit the handshake's state.
  case outOfOrder
}
