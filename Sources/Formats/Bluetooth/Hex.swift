/// Octets as hexadecimal digits, as on the daemon's socket.
public enum Hex {
  @usableFromInline
  static let digits = Array("0123456789abcdef".utf8)

  /// Writes octets as lower-case hex digits without separators.
  @inlinable
  public static func encode(_ octets: some Collection<UInt8>) -> String {
    let count = octets.count * 2
    return String(unsafeUninitializedCapacity: count) { buffer in
      var index = 0
      for octet in octets {
        buffer[index] = digits[Int(octet >> 4)]
        buffer[index + 1] = digits[Int(octet & 15)]
        index += 2
      }
      return count
    }
  }

  /// Reads hex digits in either case.
  /// - Returns: nil if their number is odd or there is anything other than hex digits.
  @inlinable
  public static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(text.utf8) }

  /// Reads the ASCII codes of hex digits in either case.
  /// - Returns: nil if their number is odd or there is anything other than hex digits.
  @inlinable
  public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var octets: [UInt8] = []
    octets.reserveCapacity(text.count / 2)
    var high: UInt8?
    for code in text {
      guard let nibble = nibble(code) else { return nil }
      if let first = high {
        octets.append(first << 4 | nibble)
        high = nil
      } else {
        high = nibble
      }
    }
    return high == nil ? octets : nil
  }

  @inlinable
  static func nibble(_ code: UInt8) -> UInt8? {
    switch code {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): code - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): code - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): code - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension UInt16 {
  /// An attribute's handle for people: "0x0012"
  public var handleText: String {
    let digits = String(self, radix: 16)
    return "0x" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
  }
}
