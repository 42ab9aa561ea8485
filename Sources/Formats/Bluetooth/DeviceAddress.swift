/// A Bluetooth LE device's address with its type (Core 5.4, Vol 6, Part B, 1.3).
public struct DeviceAddress: Hashable, Sendable {
  /// The origin of an address: assigned by the IEEE or chosen by the device.
  public enum Kind: UInt8 {
    /// Public device address; HCI address type 0.
    case `public` = 0
    /// Random device address (static, resolvable or not); HCI address type 1.
    case random = 1
  }

  /// The 48 bits as a number, most significant octet first: "F0:F1:F2:F3:F4:F5" is 0xF0F1F2F3F4F5.
  public let value: UInt64
  /// The address type.
  public let kind: Kind

  /// The address with all bits zero, which stands for "none" (Core 5.4, Vol 4, Part E, 7.8.10).
  public static let none = DeviceAddress(value: 0, kind: .public)

  /// Makes an address from a number; only its low 48 bits are used.
  public init(value: UInt64, kind: Kind) {
    self.value = value & 0xFFFF_FFFF_FFFF
    self.kind = kind
  }

  /// Makes an address from six octets in wire order (least significant first).
  /// - Returns: nil unless there are exactly six.
  @inlinable
  public init?(littleEndian octets: some Collection<UInt8>, kind: Kind) {
    guard octets.count == 6 else { return nil }
    var value: UInt64 = 0
    for (index, octet) in octets.enumerated() { value |= UInt64(octet) << (8 * UInt64(index)) }
    self.init(value: value, kind: kind)
  }

  /// Parses six pairs of hex digits with colons between them, in either case.
  /// - Returns: nil for any other text.
  public init?(_ text: some StringProtocol, kind: Kind) {
    guard text.utf8.count == 17 else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 6 else { return nil }
    var value: UInt64 = 0
    for part in parts {
      guard part.count == 2, let octets = Hex.decode(part) else { return nil }
      value = value << 8 | UInt64(octets[0])
    }
    self.init(value: value, kind: kind)
  }

  /// The six octets in wire order (least significant first).
  public var littleEndian: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) } }

  /// True for a random address with the two top bits set (Core 5.4, Vol 6, Part B, 1.3.2.1).
  public var isStaticRandom: Bool { kind == .random && value >> 46 == 0b11 }

  /// True for a permanent address, a public or static random one: keys belong to such addresses.
  public var isIdentity: Bool { kind == .public || isStaticRandom }

  /// True for a random address with the two top bits 01 (Core 5.4, Vol 6, Part B, 1.3.2.2).
  public var isResolvablePrivate: Bool { kind == .random && value >> 46 == 0b01 }

  /// True for a random address with the two top bits 00 (Core 5.4, Vol 6, Part B, 1.3.2.2).
  public var isNonResolvablePrivate: Bool { kind == .random && value >> 46 == 0b00 }
}

extension DeviceAddress: CustomStringConvertible {
  /// The address as people write it, upper case: "F0:F1:F2:F3:F4:F5". The type is not part of it.
  public var description: String {
    var text = ""
    for (index, octet) in littleEndian.reversed().enumerated() {
      if index > 0 { text += ":" }
      text += Hex.encode([octet]).uppercased()
    }
    return text
  }
}

extension DeviceAddress.Kind: Vocabulary {
  /// "public" or "random".
  public var word: String {
    switch self {
    case .public: "public"
    case .random: "random"
    }
  }

  /// The type with this name; nil for any other text.
  public init?(word: String) {
    guard let kind = Self.allCases.first(where: { $0.word.hasSameOctets(as: word) }) else { return nil }
    self = kind
  }

  /// Reads one of the words.
  public init(from decoder: any Decoder) throws { try self.init(wordFrom: decoder) }

  /// Writes the word.
  public func encode(to encoder: any Encoder) throws { try Word(self).encode(to: encoder) }
}
