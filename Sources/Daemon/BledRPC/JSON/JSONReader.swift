import Bluetooth

/// Decodes values from checked JSON: like `JSONDecoder`, but without a dictionary with keys from outside, and in a time
/// that grows with the length of the text alone. A requested member must not be repeated.
struct JSONReader: Decoder, SingleValueDecodingContainer {
  fileprivate let text: JSONText
  fileprivate let range: Range<Int>
  fileprivate let path: JSONPath
  fileprivate let budget: JSONBudget?
  fileprivate let used: UsedMembers?

  /// Makes a decoder for a value.
  /// - Parameters:
  ///   - text: the whole text; it must outlive the decoder, and so must its containers.
  ///   - range: the place of the value.
  ///   - name: the value's name in errors; nil for none.
  ///   - budget: maximum elements of all its lists; nil for any number.
  ///   - used: receives the requested members.
  init(
    _ text: JSONText, at range: Range<Int>, name: StaticString?, budget: JSONBudget? = nil, used: UsedMembers? = nil
  ) {
    self.init(
      text: text, range: text.value(in: range), path: name.map { .member(.root, "\($0)") } ?? .root, budget: budget,
      used: used)
  }

  fileprivate init(text: JSONText, range: Range<Int>, path: JSONPath, budget: JSONBudget?, used: UsedMembers?) {
    self.text = text
    self.range = range
    self.path = path
    self.budget = budget
    self.used = used
  }

  var codingPath: [any CodingKey] { path.keys }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  // MARK: Containers

  func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard text.kind(of: range) == UInt8(ascii: "{") else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(JSONMembers<Key>(of: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard text.kind(of: range) == UInt8(ascii: "[") else { throw mismatch([Any].self) }
    return JSONElements(of: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  // MARK: Simple values

  func decodeNil() -> Bool { text.isNull(range) }

  func decode(_ type: Bool.Type) throws -> Bool {
    switch text.kind(of: range) {
    case UInt8(ascii: "t"): return true
    case UInt8(ascii: "f"): return false
    default: throw mismatch(type)
    }
  }

  func decode(_ type: String.Type) throws -> String {
    guard text.kind(of: range) == UInt8(ascii: "\""), range.count >= 2 else { throw mismatch(type) }
    guard let string = text.string(range.lowerBound + 1..<range.upperBound - 1) else {
      throw invalid("expected a string of valid characters")
    }
    return string
  }

  func decode(_ type: Double.Type) throws -> Double {
    guard isNumber else { throw mismatch(type) }
    guard let number = text.double(range) else { throw invalid("expected a number within its range") }
    return number
  }

  func decode(_: Float.Type) throws -> Float { Float(try decode(Double.self)) }

  func decode<Value: Decodable & FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    guard isNumber else { throw mismatch(type) }
    guard let integer = text.integer(range, as: type) else { throw invalid("expected an integer within its range") }
    return integer
  }

  func decode<Value: Decodable>(_: Value.Type) throws -> Value { try Value(from: self) }

  private var isNumber: Bool {
    guard let first = text.kind(of: range) else { return false }
    return first == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= first
  }

  // MARK: Errors

  private func mismatch<Expected>(_ type: Expected.Type) -> DecodingError {
    let context = DecodingError.Context(codingPath: codingPath, debugDescription: "")
    return decodeNil() ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  private func invalid(_ message: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: message))
  }
}

/// Maximum elements of all lists in a message: short ones cost more to decode than a line of their length otherwise
/// does.
final class JSONBudget {
  let limit: Int
  private var spent = 0

  init(_ limit: Int) { self.limit = limit }

  /// - Returns: false if the budget is spent.
  fileprivate func spend() -> Bool {
    spent += 1
    return spent <= limit
  }
}

/// The place of a value among others, for errors.
private indirect enum JSONPath {
  case root
  case member(JSONPath, String)
  case element(JSONPath, Int)

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int?
    init(_ name: String) { stringValue = name }
    init(intValue: Int) {
      stringValue = "[\(intValue)]"
      self.intValue = intValue
    }
    init(stringValue: String) { self.init(stringValue) }
  }

  var keys: [any CodingKey] {
    switch self {
    case .root: []
    case .member(let outer, let name): outer.keys + [Key(name)]
    case .element(let outer, let index): outer.keys + [Key(intValue: index)]
    }
  }
}

/// The members of an object.
private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  /// The number of members from which on they are looked up in a table.
  private static var many: Int { 32 }

  private let object: JSONReader
  private let members: [JSONText.Member]
  /// By name, for an object with many members. Names are at most `JSONChecker.longestName` long.
  private let index: [OctetText: (first: Int, isRepeated: Bool)]?

  init(of object: JSONReader) {
    self.object = object
    members = object.text.members(of: object.range)
    // Only the path is kept until the check: keeping the object would be a reference cycle.
    let path = object.path
    object.used?.began(object.range, at: path.keys)
    guard members.count > Self.many else {
      index = nil
      return
    }
    var index: [OctetText: (first: Int, isRepeated: Bool)] = [:]
    for (number, member) in members.enumerated() {
      guard let name = object.text.string(member.name).map({ OctetText($0) }) else { continue }
      index[name] = index[name].map { ($0.first, true) } ?? (number, false)
    }
    self.index = index
  }

  var codingPath: [any CodingKey] { object.codingPath }

  var allKeys: [Key] {
    object.used?.askedAll(of: object.range)
    return members.compactMap { object.text.string($0.name).flatMap { Key(stringValue: $0) } }
  }

  /// The place of a member's value; nil if there is none.
  private func place(_ name: String) -> (range: Range<Int>, isRepeated: Bool)? {
    object.used?.asked(name, of: object.range)
    if let index { return index[OctetText(name)].map { (members[$0.first].value, $0.isRepeated) } }
    var found: (range: Range<Int>, isRepeated: Bool)?
    var name = name
    name.withUTF8 { octets in
      for member in members where object.text.isNamed(member, octets) {
        found = found.map { ($0.range, true) } ?? (member.value, false)
      }
    }
    return found
  }

  private func find(_ key: Key) throws -> JSONReader? {
    guard let (range, isRepeated) = place(key.stringValue) else { return nil }
    let value = JSONReader(
      text: object.text, range: range, path: .member(object.path, key.stringValue), budget: object.budget,
      used: object.used)
    guard !isRepeated else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: value.codingPath, debugDescription: "this member occurs more than once"))
    }
    return value
  }

  private func require(_ key: Key) throws -> JSONReader {
    guard let value = try find(key) else {
      throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: ""))
    }
    return value
  }

  func contains(_ key: Key) -> Bool { place(key.stringValue) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try require(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try Value(from: try require(key))
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let value = try find(key), !value.decodeNil() else { return nil }
    return try Value(from: value)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try require(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try require(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { object }

  func superDecoder(forKey key: Key) throws -> any Decoder { try require(key) }
}

/// The elements of an array.
private struct JSONElements: UnkeyedDecodingContainer {
  private let array: JSONReader
  private var next: Range<Int>?
  private(set) var currentIndex = 0

  init(of array: JSONReader) {
    self.array = array
    next = array.text.element(after: array.range.lowerBound + 1, in: array.range)
  }

  var codingPath: [any CodingKey] { array.codingPath }
  /// Unknown before all are read.
  var count: Int? { nil }
  var isAtEnd: Bool { next == nil }

  private mutating func advance() throws -> JSONReader {
    let path = JSONPath.element(array.path, currentIndex)
    guard let range = next else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: path.keys, debugDescription: "there are no more elements"))
    }
    if let budget = array.budget, !budget.spend() {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "more than \(budget.limit) elements in all lists together"))
    }
    next = array.text.element(after: range.upperBound, in: array.range)
    currentIndex += 1
    return JSONReader(text: array.text, range: range, path: path, budget: array.budget, used: array.used)
  }

  mutating func decodeNil() throws -> Bool {
    guard let next, array.text.isNull(next) else { return false }
    _ = try advance()
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: try advance()) }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try advance().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try advance().unkeyedContainer() }

  mutating func superDecoder() throws -> any Decoder { try advance() }
}
