import Bluetooth

/// Octets that travel as lower-case hex text.
public struct HexBytes: Hashable, Sendable, Codable {
  /// The octets.
  public var octets: [UInt8]

  /// Wraps octets.
  public init(_ octets: [UInt8]) { self.octets = octets }

  /// Reads hex digits in either case.
  /// - Throws: `DecodingError.dataCorrupted` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let octets = Hex.decode(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "bytes must be an even number of hex digits, such as \"48656c6c6f\"")
    }
    self.octets = octets
  }

  /// Writes hex digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Hex.encode(octets))
  }
}
