/// A value in CBOR (RFC 8949), as far as MCUmgr uses it: no tags, and of the simple values true, false and null.
public enum CBORValue: Hashable, Sendable {
  /// A number from 0 on.
  case unsigned(UInt64)
  /// The number -1 - n.
  case negative(UInt64)
  /// A byte string.
  case octets([UInt8])
  /// A text string.
  case text(String)
  case array([CBORValue])
  /// Pairs in the order of the message. A name that comes twice counts the first time.
  case map([CBORPair])
  case bool(Bool)
  case null
  case number(Double)

  /// The member of a map with this name; nil if there is none, or this is no map.
  public subscript(_ name: String) -> CBORValue? {
    guard case .map(let pairs) = self else { return nil }
    return pairs.first { pair in
      guard case .text(let key) = pair.key else { return false }
      return key.utf8.elementsEqual(name.utf8)
    }?.value
  }

  /// The number, if it is one from 0 to `Int.max`.
  public var integer: Int? {
    guard case .unsigned(let number) = self else { return nil }
    return Int(exactly: number)
  }

  /// The number with its sign, as far as `Int` has it.
  public var signedInteger: Int? {
    switch self {
    case .unsigned(let number): Int(exactly: number)
    case .negative(let number): Int(exactly: number).map { -1 - $0 }
    default: nil
    }
  }

  /// The text, if it is one.
  public var string: String? {
    if case .text(let text) = self { text } else { nil }
  }

  /// The octets, if it is a byte string.
  public var bytes: [UInt8]? {
    if case .octets(let octets) = self { octets } else { nil }
  }

  /// The truth value, if it is one.
  public var isTrue: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The elements, if it is an array.
  public var elements: [CBORValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}

/// A member of a map.
public struct CBORPair: Hashable, Sendable {
  /// The key, in MCUmgr a text.
  public var key: CBORValue
  /// The value.
  public var value: CBORValue

  /// Makes a pair.
  public init(key: CBORValue, value: CBORValue) { (self.key, self.value) = (key, value) }
}

extension CBORValue {
  /// A map with text keys in the canonical order: shorter keys first, equally long ones by their octets
  /// (RFC 8949, 4.2.3). Members that are nil are left out.
  static func members(_ members: [(name: String, value: CBORValue?)]) -> CBORValue {
    let present = members.compactMap { member in member.value.map { (Array(member.name.utf8), member.name, $0) } }
    let sorted = present.sorted { left, right in
      left.0.count == right.0.count ? left.0.lexicographicallyPrecedes(right.0) : left.0.count < right.0.count
    }
    return .map(sorted.map { CBORPair(key: .text($0.1), value: $0.2) })
  }

  static func integer(_ number: Int) -> CBORValue {
    number >= 0 ? .unsigned(UInt64(number)) : .negative(UInt64(-1 - number))
  }

  /// Its shortest encoding, of definite length.
  var encoded: [UInt8] {
    var octets: [UInt8] = []
    encode(into: &octets)
    return octets
  }

  private func encode(into octets: inout [UInt8]) {
    switch self {
    case .unsigned(let number): Self.head(0, number, &octets)
    case .negative(let number): Self.head(1, number, &octets)
    case .octets(let bytes):
      Self.head(2, UInt64(bytes.count), &octets)
      octets += bytes
    case .text(let text):
      Self.head(3, UInt64(text.utf8.count), &octets)
      octets += text.utf8
    case .array(let elements):
      Self.head(4, UInt64(elements.count), &octets)
      for element in elements { element.encode(into: &octets) }
    case .map(let pairs):
      Self.head(5, UInt64(pairs.count), &octets)
      for pair in pairs {
        pair.key.encode(into: &octets)
        pair.value.encode(into: &octets)
      }
    case .bool(let bool): octets.append(bool ? 0xF5 : 0xF4)
    case .null: octets.append(0xF6)
    case .number(let number):
      octets.append(0xFB)
      Self.bigEndian(number.bitPattern, 8, &octets)
    }
  }

  /// A major type with its argument (RFC 8949, 3).
  private static func head(_ type: UInt8, _ number: UInt64, _ octets: inout [UInt8]) {
    let (size, information): (Int, UInt8) =
      switch number {
      case 0..<24: (0, UInt8(number))
      case 24...0xFF: (1, 24)
      case 0x100...0xFFFF: (2, 25)
      case 0x1_0000...0xFFFF_FFFF: (4, 26)
      default: (8, 27)
      }
    octets.append(type << 5 | information)
    bigEndian(number, size, &octets)
  }

  private static func bigEndian(_ number: UInt64, _ size: Int, _ octets: inout [UInt8]) {
    for place in (0..<size).reversed() { octets.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place)))) }
  }
}
