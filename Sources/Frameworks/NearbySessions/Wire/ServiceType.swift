import Bluetooth
import BluetoothCrypto

/// The kind of service that peers offer and search for, like service names in RFC 6335, 5.1: 1 to 15 of the characters
/// a–z, 0–9 and "-", at least one letter, no hyphen at an end or beside another.
public struct ServiceType: Hashable, Sendable, CustomStringConvertible {
  /// The text.
  public let description: String

  /// - Returns: nil for an invalid name.
  public init?(_ text: String) {
    let octets = Array(text.utf8)
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let hyphen = UInt8(ascii: "-")
    guard 1...15 ~= octets.count, octets.contains(where: letters.contains),
      octets.allSatisfy({ letters.contains($0) || digits.contains($0) || $0 == hyphen }),
      octets.first != hyphen, octets.last != hyphen, !text.contains("--")
    else { return nil }
    description = text
  }

  private init(known text: String) { description = text }

  /// The type of `bleshell send` and `bleshell receive`.
  public static let files = ServiceType(known: "bled-files")

  /// The GATT service's UUID: version 8 (RFC 9562, 5.8), the beginning of a SHA-256 hash.
  public var uuid: BluetoothUUID { Self.uuid(of: "bled nearby service \(description)") }

  /// The UUID of the characteristic with a peer's description; equal for all types.
  static let descriptionUUID = uuid(of: "bled nearby description")

  private static func uuid(of text: String) -> BluetoothUUID {
    let hash = SHA256.hash(Array(text.utf8))
    let high = hash[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let low = hash[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return BluetoothUUID(high: high & ~0xF000 | 0x8000, low: low & ~(3 << 62) | 2 << 62)
  }
}
