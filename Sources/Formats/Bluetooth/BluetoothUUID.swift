/// A UUID for an attribute, service or characteristic: 16, 32 or 128 bits (Core 5.4, Vol 3, Part B, 2.5.1).
///
/// Two UUIDs are equal when their 128-bit forms are, however short they were written.
public struct BluetoothUUID: Hashable, Sendable {
  /// The upper and lower halves of the 128-bit form, most significant octet first.
  public let high: UInt64, low: UInt64

  /// 0000xxxx-0000-1000-8000-00805F9B34FB.
  private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
  private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

  /// Makes the UUID with these 128 bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes a 16-bit UUID, such as 0x180D.
  public init(_ short: UInt16) { self.init(UInt32(short)) }

  /// Makes a 32-bit UUID; a value below 0x10000 is the 16-bit UUID with that value.
  public init(_ short: UInt32) {
    self.init(high: Self.baseHigh | UInt64(short) << 32, low: Self.baseLow)
  }

  /// Makes a UUID from 2, 4 or 16 octets in wire order (least significant first).
  /// - Returns: nil for any other number of octets.
  @inlinable
  public init?(littleEndian octets: some Collection<UInt8>) {
    switch octets.count {
    case 2, 4:
      var short: UInt32 = 0
      for (index, octet) in octets.enumerated() { short |= UInt32(octet) << (8 * UInt32(index)) }
      self.init(short)
    case 16:
      var high: UInt64 = 0
      var low: UInt64 = 0
      for (index, octet) in octets.enumerated() {
        if index < 8 {
          low |= UInt64(octet) << (8 * UInt64(index))
        } else {
          high |= UInt64(octet) << (8 * UInt64(index - 8))
        }
      }
      self.init(high: high, low: low)
    default:
      return nil
    }
  }

  /// Parses 4 or 8 hex digits, or 32 of them with dashes as 8-4-4-4-12, in either case and with or without "0x" before
  /// them.
  /// - Returns: nil for any other text.
  public init?(_ text: some StringProtocol) {
    var text = String(text)
    guard let uuid = text.withUTF8({ BluetoothUUID(codes: $0) }) else { return nil }
    self = uuid
  }

  private init?(codes: UnsafeBufferPointer<UInt8>) {
    var (high, low): (UInt64, UInt64) = (0, 0)
    var (digits, dashes) = (0, 0)
    for (index, code) in codes.enumerated() {
      if let digit = Hex.nibble(code), digits < 32 {
        high = high << 4 | low >> 60
        low = low << 4 | UInt64(digit)
        digits += 1
      } else if code == UInt8(ascii: "-"), dashes < 4, digits == 8 + 4 * dashes {
        dashes += 1
      } else if code | 0x20 == UInt8(ascii: "x"), index == 1, low == 0 {
        digits = 0
      } else {
        return nil
      }
    }
    switch (digits, dashes) {
    case (4, 0), (8, 0): self.init(UInt32(low))
    case (32, 4): self.init(high: high, low: low)
    default: return nil
    }
  }

  /// The 32-bit form, if the UUID lies in the Bluetooth base range.
  public var short32: UInt32? {
    guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
    return UInt32(truncatingIfNeeded: high >> 32)
  }

  /// The 16-bit form, if the UUID has one.
  public var short16: UInt16? { short32.flatMap { UInt16(exactly: $0) } }

  /// The 16 octets in wire order (least significant first).
  public var littleEndian128: [UInt8] {
    (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? low : high) >> (8 * UInt64($0 & 7))) }
  }

  /// The octets for ATT, in wire order: 2 if there is a 16-bit form, else 16 (Vol 3, Part F, 3.2.1).
  public var attOctets: [UInt8] {
    guard let short = short16 else { return littleEndian128 }
    return [UInt8(truncatingIfNeeded: short), UInt8(truncatingIfNeeded: short >> 8)]
  }
}

extension BluetoothUUID: CustomStringConvertible {
  /// The shortest form, upper case: "180D", "12345678", or 128 bits with dashes.
  public var description: String {
    if let short = short32 {
      let count = short > 0xFFFF ? 8 : 4
      return String(unsafeUninitializedCapacity: count) { text in
        for place in 0..<count { text[place] = Self.digit(UInt64(short), count - 1 - place) }
        return count
      }
    }
    return String(unsafeUninitializedCapacity: 36) { text in
      var rest = (0..<32).makeIterator()
      for place in 0..<36 {
        guard ![8, 13, 18, 23].contains(place), let next = rest.next() else {
          text[place] = UInt8(ascii: "-")
          continue
        }
        text[place] = Self.digit(next < 16 ? high : low, 15 - next % 16)
      }
      return 36
    }
  }

  /// The upper-case hex digit at this place of a number, from its end.
  private static func digit(_ number: UInt64, _ place: Int) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: number >> UInt64(4 * place) & 0xF)
    return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
  /// A 16-bit UUID written as a number: `let heartRate: BluetoothUUID = 0x180D`.
  public init(integerLiteral value: UInt16) { self.init(value) }
}

extension BluetoothUUID: Codable {
  /// Reads the text form.
  /// - Throws: `DecodingError.dataCorrupted` for any text but a UUID.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let uuid = BluetoothUUID(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text.excerpt)\" is not a UUID: give 4 or 8 hex digits, or 32 with dashes")
    }
    self = uuid
  }

  /// Writes the shortest text form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
