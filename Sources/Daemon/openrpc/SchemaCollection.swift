import BledRPC
import Bluetooth

/// The JSON schemas of the requested types, and of the types that they contain.
///
/// A type is examined by letting it decode itself from `RecordingDecoder`, which has no values but records the
/// requested members. So the Swift types remain the only description of the messages.
struct SchemaCollection {
  /// The schemas of all objects that others refer to, by name.
  private(set) var components: [String: JSONValue] = [:]
  /// The schemas of all members, by where they are declared, as `AdvertisingStart.Params.interval`.
  private(set) var places: [String: JSONValue] = [:]
  private let words: DocComments

  /// No schemas yet.
  init(words: DocComments) { self.words = words }

  /// A member of an object.
  struct Member {
    var name: String
    var description: String?
    var schema: JSONValue
    var required: Bool
  }

  /// The schema of a type: itself if it is simple, a reference to `components` if it is an object.
  mutating func schema<Value: Decodable>(of type: Value.Type) throws -> JSONValue {
    if let vocabulary = type as? any Vocabulary.Type { return vocabulary.schema }
    if let leaf = type as? any SchemaLeaf.Type {
      let schema = try leaf.schema(&self)
      guard let name = leaf.component else { return schema }
      components[name] = schema
      return reference(name)
    }
    let name = Self.name(of: type)
    if components[name] == nil {
      components[name] = .null  // Ends the recursion of a type that contains itself.
      components[name] = object(try members(of: type), words.type(name))
    }
    return reference(name)
  }

  private func reference(_ name: String) -> JSONValue { ["$ref": .text("#/components/schemas/\(name)")] }

  /// "BledRPC.PeripheralList.Entry" is called PeripheralList.Entry; a private type in it has no name of its own.
  private static func name(of type: Any.Type) -> String {
    String(reflecting: type).split(separator: ".").dropFirst().prefix { $0.first != "(" }.joined(separator: ".")
  }

  /// The members of an object in the order in which they are declared.
  mutating func members<Value: Decodable>(of type: Value.Type) throws -> [Member] {
    try record(type).members
  }

  /// The schema of an object with these members.
  func object(_ members: [Member], _ description: String? = nil) -> JSONValue {
    let properties = members.map { member in (member.name, described(member.schema, member.description)) }
    let required = members.filter(\.required).map { JSONValue.text($0.name) }
    var schema: [String: JSONValue] = [
      "type": "object", "properties": .object(Dictionary(properties, uniquingKeysWith: { $1 })),
    ]
    schema["description"] = description.map { .text($0) }
    if !required.isEmpty { schema["required"] = .array(required) }
    return .object(schema)
  }

  private func described(_ schema: JSONValue, _ words: String?) -> JSONValue {
    guard case .object(var members) = schema, let words else { return schema }
    members["description"] = .text(words)
    return .object(members)
  }

  /// A member that `keys`, the coding keys of a type, has, and its description in the type.
  fileprivate mutating func member(_ name: String, of keys: Any.Type, schema: JSONValue, required: Bool) -> Member {
    let place = "\(Self.name(of: keys)).\(name)"
    let description = words.member(place)
    let schema = Limits.members[place]?.apply(to: schema) ?? schema
    places[place] = schema
    return Member(name: name, description: description, schema: schema, required: required)
  }

  private mutating func record<Value: Decodable>(_ type: Value.Type) throws -> (members: [Member], value: Value) {
    let recording = Recording(schemas: self)
    let value = try Value(from: RecordingDecoder(recording: recording))
    self = recording.schemas
    return (recording.members, value)
  }

  /// The schema of a type and a value of it.
  fileprivate mutating func sample<Value: Decodable>(of type: Value.Type) throws -> (schema: JSONValue, value: Value) {
    let schema = try schema(of: type)
    if let vocabulary = type as? any Vocabulary.Type, let value = vocabulary.sample as? Value { return (schema, value) }
    if let leaf = type as? any SchemaLeaf.Type, let value = leaf.sample as? Value { return (schema, value) }
    return (schema, try record(type).value)
  }
}

/// The members that one type requests of its decoder.
private final class Recording {
  var schemas: SchemaCollection
  var members: [SchemaCollection.Member] = []
  var optional: Set<String> = []

  init(schemas: SchemaCollection) { self.schemas = schemas }
}

private struct RecordingDecoder: Decoder {
  let recording: Recording
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RecordingContainer<Key>(recording: recording))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Undescribed() }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Undescribed() }
}

private struct RecordingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let recording: Recording
  let codingPath: [any CodingKey] = []
  let allKeys: [Key] = []

  func contains(_ key: Key) -> Bool { true }

  /// Only `decodeIfPresent` asks this, so it identifies an optional member.
  func decodeNil(forKey key: Key) -> Bool {
    recording.optional.insert(key.stringValue)
    return false
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let (schema, value) = try recording.schemas.sample(of: type)
    let required = !recording.optional.contains(key.stringValue)
    let member = recording.schemas.member(key.stringValue, of: Key.self, schema: schema, required: required)
    recording.members.append(member)
    return value
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw Undescribed() }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Undescribed() }

  func superDecoder() throws -> any Decoder { throw Undescribed() }

  func superDecoder(forKey key: Key) throws -> any Decoder { throw Undescribed() }
}

/// The schema of a type cannot be derived from the way it decodes itself: make it a `SchemaLeaf`.
struct Undescribed: Error {}
