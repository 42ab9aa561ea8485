extension DecodingError {
  /// What is wrong and where in the JSON: "params.services[0]: expected a string".
  fileprivate var explanation: String {
    switch self {
    case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])): missing"
    case .typeMismatch(let type, let context): place(context, "expected \(name(type))")
    case .valueNotFound(let type, let context): place(context, "expected \(name(type)), found null")
    case .dataCorrupted(let context): place(context, context.debugDescription)
    @unknown default: "\(self)"
    }
  }
}

/// The explanation of any error of a decoder.
func explain(_ error: any Error) -> String { (error as? DecodingError)?.explanation ?? "\(error)" }

private func place(_ context: DecodingError.Context, _ message: String) -> String {
  context.codingPath.isEmpty ? message : "\(path(context.codingPath)): \(message)"
}

private func path(_ keys: [any CodingKey]) -> String {
  var text = ""
  for key in keys {
    if let index = key.intValue {
      text += "[\(index)]"
    } else {
      text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
    }
  }
  return text
}

/// The type in the terms of JSON.
private func name(_ type: any Any.Type) -> String {
  switch type {
  case is String.Type: "a string"
  case is Bool.Type: "true or false"
  case is any BinaryInteger.Type: "an integer"
  case is any BinaryFloatingPoint.Type: "a number"
  case is [Any].Type: "an array"
  case is [String: Any].Type: "an object"
  default: "\(type)"
  }
}

// For a number that does not fit into its type, and for a string with half a surrogate pair, JSONDecoder reports that
// the data is not valid JSON, without a place. These overloads replace the standard library's methods in all messages
// of this module, and name the place.
extension KeyedDecodingContainer {
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try placing(key, wholeNumber) { try generic(type, key) }
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try placing(key, wholeNumber) { try generic(type, key) }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try placing(key, number) { try generic(type, key) }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try placing(key, text) { try generic(type, key) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try placing(key, wholeNumber) { try genericIfPresent(type, key) }
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try placing(key, wholeNumber) { try genericIfPresent(type, key) }
  }

  func decodeIfPresent(_ type: [UInt16].Type, forKey key: Key) throws -> [UInt16]? {
    try placing(key, "expected integers within their range") { try genericIfPresent(type, key) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try placing(key, number) { try genericIfPresent(type, key) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try placing(key, text) { try genericIfPresent(type, key) }
  }

  private var wholeNumber: String { "expected an integer within its range" }
  private var number: String { "expected a number within its range" }
  private var text: String { "expected a string of valid characters" }

  private func generic<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
    try decode(type, forKey: key)
  }

  private func genericIfPresent<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
    try decodeIfPresent(type, forKey: key)
  }

  private func placing<Value>(_ key: Key, _ expected: String, _ decode: () throws -> Value) throws -> Value {
    do {
      return try decode()
    } catch let error as DecodingError {
      throw error
    } catch {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: expected)
    }
  }
}
