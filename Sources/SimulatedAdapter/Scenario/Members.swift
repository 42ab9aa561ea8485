import Bluetooth

/// Reads the members of one JSON object, checks them, and refuses those that nobody knows: a misspelt name would
/// otherwise be a setting without effect.
struct Members<Key: CodingKey & CaseIterable> {
  private let container: KeyedDecodingContainer<Key>

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(_ decoder: any Decoder, _: Key.Type = Key.self) throws {
    container = try decoder.container(keyedBy: Key.self)
    let known = Key.allCases.map(\.stringValue)
    for key in try decoder.container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath + [key],
          debugDescription: "nobody knows this name: give one of \(known.joined(separator: ", ")).",
          underlyingError: nil))
    }
  }

  /// What is wrong with a member.
  func failure(_ key: Key, _ message: String) -> DecodingError {
    DecodingError.dataCorrupted(
      DecodingError.Context(codingPath: container.codingPath + [key], debugDescription: message, underlyingError: nil))
  }

  /// Whether there is such a member.
  func contains(_ key: Key) -> Bool { container.contains(key) }

  /// A member that must be there.
  func required<Value: Decodable>(_ key: Key, _ type: Value.Type = Value.self) throws -> Value {
    try container.decode(Value.self, forKey: key)
  }

  /// A member that may be missing.
  func optional<Value: Decodable>(_ key: Key, _ type: Value.Type = Value.self) throws -> Value? {
    try container.decodeIfPresent(Value.self, forKey: key)
  }

  /// A member that has a value without being there.
  func value<Value: Decodable>(_ key: Key, default standard: Value) throws -> Value {
    try container.decodeIfPresent(Value.self, forKey: key) ?? standard
  }

  /// A number within a range.
  func number(_ key: Key, in range: ClosedRange<Double>, default standard: Double?) throws -> Double {
    let number = try standard.map { try value(key, default: $0) } ?? required(key, Double.self)
    guard range.contains(number) else {
      throw failure(key, "\(number) is out of range: give a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// A whole number within a range.
  func integer(_ key: Key, in range: ClosedRange<Int>, default standard: Int?) throws -> Int {
    let number = try standard.map { try value(key, default: Double($0)) } ?? required(key, Double.self)
    guard let integer = Int(exactly: number), range.contains(integer) else {
      throw failure(
        key, "\(number) will not do: give a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return integer
  }

  /// A time in seconds within a range.
  func seconds(_ key: Key, in range: ClosedRange<Double>, default standard: Double?) throws -> Duration {
    .seconds(try number(key, in: range, default: standard))
  }

  /// Octets as hex digits; nil if the member is missing.
  func octets(_ key: Key, atMost limit: Int) throws -> [UInt8]? {
    guard let text = try optional(key, String.self) else { return nil }
    guard let octets = Hex.decode(text) else {
      throw failure(key, "\"\(text)\" is no hex: give two hex digits for each octet, without spaces.")
    }
    guard octets.count <= limit else {
      throw failure(key, "these are \(octets.count) octets: give at the most \(limit).")
    }
    return octets
  }

  /// One of several words.
  func word<Word: RawRepresentable & CaseIterable>(_ key: Key, default standard: Word? = nil) throws -> Word
  where Word.RawValue == String {
    if let standard, !contains(key) { return standard }
    let text = try required(key, String.self)
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw failure(key, "\"\(text)\" is none of these: \(words).")
    }
    return word
  }

  /// An address with its type, "public" or "random".
  func address(_ key: Key, kind kindKey: Key) throws -> DeviceAddress? {
    let kind = try value(kindKey, default: DeviceAddress.Kind.public)
    guard let text = try optional(key, String.self) else { return nil }
    guard let address = DeviceAddress(text, kind: kind) else {
      throw failure(key, "\"\(text)\" is no address: give six pairs of hex digits with colons between them.")
    }
    return address
  }
}
