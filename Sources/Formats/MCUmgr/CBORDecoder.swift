/// The reason why octets are not a CBOR value.
public struct CBORError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The fault and its place.
  public let description: String
}

extension CBORValue {
  /// How deep arrays and maps may be inside one another.
  static let deepest = 16

  /// Reads one value that takes up all octets. Lengths may be indefinite, as Zephyr's encoder has them.
  /// - Throws: `CBORError` for octets that are missing or left, tags, simple values besides true, false and null, text
  ///   that is not UTF-8, and more than 16 levels.
  public init(decoding octets: some Collection<UInt8>) throws(CBORError) {
    var decoder = CBORDecoder(octets: Array(octets))
    self = try decoder.value(0)
    guard decoder.isAtEnd else { throw decoder.error("there are octets behind the value") }
  }
}

/// Reads values from the front of octets.
private struct CBORDecoder {
  private enum Length {
    case definite(UInt64)
    case indefinite
  }

  /// The type of the value that the next octets are, with its argument.
  private struct Head {
    let type: UInt8
    let information: UInt8
    let length: Length
  }

  private static let breakCode: UInt8 = 0xFF

  private let octets: [UInt8]
  private var place = 0

  init(octets: [UInt8]) { self.octets = octets }

  var isAtEnd: Bool { place == octets.count }

  func error(_ fault: String) -> CBORError { CBORError(description: "CBOR, octet \(place): \(fault)") }

  mutating func value(_ depth: Int) throws(CBORError) -> CBORValue {
    let head = try head()
    switch (head.type, head.length) {
    case (0, .definite(let number)): return .unsigned(number)
    case (1, .definite(let number)): return .negative(number)
    case (2, _): return .octets(try string(head))
    case (3, _):
      guard let text = String(validating: try string(head), as: UTF8.self) else { throw error("text is not UTF-8") }
      return .text(text)
    case (4, let length):
      try check(depth)
      var elements: [CBORValue] = []
      while try hasNext(length, elements.count) { elements.append(try value(depth + 1)) }
      return .array(elements)
    case (5, let length):
      try check(depth)
      var pairs: [CBORPair] = []
      while try hasNext(length, pairs.count) {
        let key = try value(depth + 1)
        pairs.append(CBORPair(key: key, value: try value(depth + 1)))
      }
      return .map(pairs)
    case (7, .definite(let bits)): return try simple(head.information, bits)
    default: throw error("type \(head.type) with the length \(head.information) is not supported")
    }
  }

  private func check(_ depth: Int) throws(CBORError) {
    guard depth < CBORValue.deepest else { throw error("more than \(CBORValue.deepest) levels") }
  }

  private mutating func head() throws(CBORError) -> Head {
    let first = try octet()
    let information = first & 0x1F
    let length: Length
    switch information {
    case 0..<24: length = .definite(UInt64(information))
    case 24...27: length = .definite(try number(1 << Int(information - 24)))
    case 31: length = .indefinite
    default: throw error("a reserved length")
    }
    return Head(type: first >> 5, information: information, length: length)
  }

  private mutating func octet() throws(CBORError) -> UInt8 {
    guard place < octets.count else { throw error("octets are missing") }
    defer { place += 1 }
    return octets[place]
  }

  private mutating func number(_ size: Int) throws(CBORError) -> UInt64 {
    var number: UInt64 = 0
    for _ in 0..<size { number = number << 8 | UInt64(try octet()) }
    return number
  }

  /// True if an array or a map has another element. Each takes at least one octet, so that a length cannot claim more.
  private mutating func hasNext(_ length: Length, _ count: Int) throws(CBORError) -> Bool {
    switch length {
    case .definite(let wanted):
      guard wanted <= UInt64(octets.count) else { throw error("octets are missing") }
      return UInt64(count) < wanted
    case .indefinite:
      guard place < octets.count else { throw error("octets are missing") }
      guard octets[place] == Self.breakCode else { return true }
      place += 1
      return false
    }
  }

  /// The octets of a string, in one part or in several.
  private mutating func string(_ head: Head) throws(CBORError) -> [UInt8] {
    switch head.length {
    case .definite(let length): return try part(length)
    case .indefinite:
      var string: [UInt8] = []
      while try hasNext(.indefinite, 0) {
        let part = try self.head()
        guard part.type == head.type, case .definite(let length) = part.length else {
          throw error("a string has a part of another type")
        }
        string += try self.part(length)
      }
      return string
    }
  }

  private mutating func part(_ length: UInt64) throws(CBORError) -> [UInt8] {
    guard length <= UInt64(octets.count - place) else { throw error("octets are missing") }
    defer { place += Int(length) }
    return Array(octets[place..<place + Int(length)])
  }

  private func simple(_ information: UInt8, _ bits: UInt64) throws(CBORError) -> CBORValue {
    switch information {
    case 20: return .bool(false)
    case 21: return .bool(true)
    case 22, 23: return .null
    case 25: return .number(Double(Float16(bitPattern: UInt16(truncatingIfNeeded: bits))))
    case 26: return .number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
    case 27: return .number(Double(bitPattern: bits))
    default: throw error("a simple value without a meaning")
    }
  }
}
