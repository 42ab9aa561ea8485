/// One object of the configuration file, which can tell where in the file something is wrong.
struct ConfigurationSection: Decodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private let container: KeyedDecodingContainer<Key>
  private var prefix = ""
  private var file = ""

  init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Key.self) }

  /// The same with its place in the file: what stands before its keys, such as "socket.".
  func named(_ prefix: String, in file: String) -> Self {
    var named = self
    named.prefix = prefix
    named.file = file
    return named
  }

  /// Refuses all keys but these.
  func allow(_ known: [String]) throws(ConfigurationError) {
    for key in container.allKeys.map(\.stringValue).sorted() where !known.contains(key) {
      throw .unknownKey(file: file, key: prefix + key, known: known.map { prefix + $0 })
    }
  }

  /// The error that says what to give instead of the value of a key.
  func badValue(_ key: String, _ remedy: String) -> ConfigurationError {
    .badValue(file: file, key: prefix + key, remedy: remedy)
  }

  /// The value of a key, or nil if it is not there.
  func value<Value: Decodable>(
    _ key: String, _ type: Value.Type, _ remedy: String
  ) throws(ConfigurationError) -> Value? {
    do {
      return try container.decodeIfPresent(type, forKey: Key(stringValue: key))
    } catch {
      throw badValue(key, remedy)
    }
  }

  /// The object of a key, or nil if it is not there.
  func section(_ key: String) throws(ConfigurationError) -> Self? {
    try value(key, Self.self, "give an object")?.named("\(prefix)\(key).", in: file)
  }
}
