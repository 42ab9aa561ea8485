/// Encodes values with a `JSONWriter`: like `JSONEncoder`, but with the members of an object in the order in which its
/// type encodes them, the order of their declaration, and the members of a dictionary in the order of their names.
/// Equal values have equal octets.
struct JSONMemberEncoder: Encoder {
  fileprivate let output: JSONOutput
  /// The number of open brackets around the value.
  fileprivate let depth: Int
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The JSON of a value.
  /// - Throws: `EncodingError` for infinities and NaN, which JSON does not have.
  static func encode(_ value: some Encodable) throws -> JSONWriter {
    let output = JSONOutput()
    try output.encode(value, at: 0)
    return output.writer
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    output.begin("{", at: depth)
    return KeyedEncodingContainer(JSONMembers(output: output, depth: depth + 1))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    output.begin("[", at: depth)
    return JSONElements(output: output, depth: depth + 1)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingleValue(output: output, depth: depth) }
}

/// The text that all encoders and containers of a value write.
private final class JSONOutput {
  var writer = JSONWriter()
  /// The pending closing brackets.
  private var open: [Unicode.Scalar] = []

  /// Closes the brackets deeper than `depth`.
  func close(to depth: Int) {
    while open.count > depth, let bracket = open.popLast() { writer.close(bracket) }
  }

  /// Begins an object or a list, unless the value has begun it: a type may request its container again.
  func begin(_ bracket: Unicode.Scalar, at depth: Int) {
    guard open.count <= depth else { return close(to: depth + 1) }
    writer.open(bracket)
    open.append(bracket == "{" ? "}" : "]")
  }

  /// Begins a member.
  func name(_ key: some CodingKey, at depth: Int) {
    close(to: depth)
    writer.name(key.stringValue)
  }

  func encode(_ value: some Encodable, at depth: Int) throws {
    let start = writer.codes.count
    if let members = value as? any JSONMembersByName {
      try members.encode(to: self, at: depth)
    } else {
      try value.encode(to: JSONMemberEncoder(output: self, depth: depth))
    }
    // A type without members may have requested no container.
    if writer.codes.count == start { begin("{", at: depth) }
    close(to: depth)
  }

  /// Writes a number, a whole one without a decimal point.
  func write<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ number: Number) throws {
    guard number.isFinite else {
      throw EncodingError.invalidValue(
        number, .init(codingPath: [], debugDescription: "JSON has neither infinities nor NaN"))
    }
    let text = "\(number)"
    writer.value(digits: text.hasSuffix(".0") ? text.dropLast(2) : text[...])
  }
}

/// A dictionary; its own order varies.
private protocol JSONMembersByName {
  func encode(to output: JSONOutput, at depth: Int) throws
}

extension Dictionary: JSONMembersByName where Key == String, Value: Encodable {
  fileprivate func encode(to output: JSONOutput, at depth: Int) throws {
    output.begin("{", at: depth)
    for (name, value) in sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      output.close(to: depth + 1)
      output.writer.name(name)
      try output.encode(value, at: depth + 1)
    }
  }
}

/// The members of an object.
private struct JSONMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let output: JSONOutput
  let depth: Int
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) {
    output.name(key, at: depth)
    output.writer.null()
  }

  func encode(_ value: Bool, forKey key: Key) {
    output.name(key, at: depth)
    output.writer.value(value)
  }

  func encode(_ value: String, forKey key: Key) {
    output.name(key, at: depth)
    output.writer.value(value)
  }

  func encode(_ value: Int, forKey key: Key) {
    output.name(key, at: depth)
    output.writer.value(value)
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    output.name(key, at: depth)
    try output.encode(value, at: depth)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    superEncoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    superEncoder(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    output.close(to: depth)
    output.writer.name("super")
    return JSONMemberEncoder(output: output, depth: depth)
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    output.name(key, at: depth)
    return JSONMemberEncoder(output: output, depth: depth)
  }
}

/// The elements of a list.
private struct JSONElements: UnkeyedEncodingContainer {
  let output: JSONOutput
  let depth: Int
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(output: JSONOutput, depth: Int) {
    self.output = output
    self.depth = depth
  }

  mutating func encodeNil() {
    separate()
    output.writer.null()
  }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    separate()
    try output.encode(value, at: depth)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> { superEncoder().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }

  mutating func superEncoder() -> any Encoder {
    separate()
    return JSONMemberEncoder(output: output, depth: depth)
  }

  private mutating func separate() {
    output.close(to: depth)
    output.writer.separate()
    count += 1
  }
}

/// A value without members.
private struct JSONSingleValue: SingleValueEncodingContainer {
  let output: JSONOutput
  let depth: Int
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { output.writer.null() }
  func encode(_ value: Bool) { output.writer.value(value) }
  func encode(_ value: String) { output.writer.value(value) }
  func encode(_ value: Double) throws { try output.write(value) }
  func encode(_ value: Float) throws { try output.write(value) }
  func encode(_ value: Int) { output.writer.value(value) }
  func encode(_ value: Int8) { output.writer.value(value) }
  func encode(_ value: Int16) { output.writer.value(value) }
  func encode(_ value: Int32) { output.writer.value(value) }
  func encode(_ value: Int64) { output.writer.value(value) }
  func encode(_ value: UInt) { output.writer.value(value) }
  func encode(_ value: UInt8) { output.writer.value(value) }
  func encode(_ value: UInt16) { output.writer.value(value) }
  func encode(_ value: UInt32) { output.writer.value(value) }
  func encode(_ value: UInt64) { output.writer.value(value) }
  func encode<Value: Encodable>(_ value: Value) throws { try output.encode(value, at: depth) }
}
