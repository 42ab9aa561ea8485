import Bluetooth

/// Encrypted data in an advertisement: AES-CCM with a key of 128 bits.
public struct SealedData: Hashable, Sendable {
  /// The device's address, which identifies its key.
  public let address: DeviceAddress
  /// The nonce, 12 or 13 octets.
  public let nonce: [UInt8]
  /// The octets checked and not encrypted.
  public let associatedData: [UInt8]
  /// The encrypted octets.
  public let payload: [UInt8]
  /// The check, 4 octets.
  public let check: [UInt8]

  /// The result of opening it.
  public enum Opened: Hashable, Sendable {
    /// There is no key for the device.
    case keyIsMissing
    /// The given key differs from the data's key.
    case keyIsWrong
    /// The decrypted octets.
    case octets([UInt8])
  }
}

extension DecodedData {
  /// Adds the result of decryption.
  /// - Returns: the octets to be read; nil if they stay unknown.
  mutating func add(_ opened: SealedData.Opened) -> [UInt8]? {
    switch opened {
    case .keyIsMissing: add("key", .text("missing"))
    case .keyIsWrong: add("key", .text("wrong"))
    case .octets(let octets): return octets
    }
    return nil
  }
}
