import Crypto
import CryptoExtras

/// The two functions on which all others here stand.
public enum AES128 {
  /// Encrypts one block: the security function e (Core 5.4, Vol 3, Part H, 2.2.1).
  public static func encrypt(_ block: Key128, key: Key128) -> Key128 {
    var octets = block.bigEndian
    do {
      try AES.permute(&octets, key: SymmetricKey(data: key.bigEndian))
    } catch {
      preconditionFailure("AES takes every block and key of 128 bits, but says \(error)")
    }
    return Key128(trusted: octets)
  }

  /// The message authentication code of a message of any length (RFC 4493; Core 5.4, Vol 3, Part H, 2.2.5).
  /// - Parameter message: the message, most significant octet first.
  public static func cmac(_ message: some Collection<UInt8>, key: Key128) -> Key128 {
    do {
      var code = try AES.CMAC(key: SymmetricKey(data: key.bigEndian))
      Array(message).withUnsafeBytes { code.update(bufferPointer: $0) }
      return Key128(trusted: code.finalize().withUnsafeBytes { Array($0) })
    } catch {
      preconditionFailure("AES-CMAC takes every key of 128 bits, but says \(error)")
    }
  }
}
