extension DecodingError {
  /// The error and its place in the JSON: "params.services[0]: expected a string".
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

extension KeyedDecodingContainer {
  /// Names the list if one of its integers is out of range.
  func decodeIfPresent(_ type: [UInt16].Type, forKey key: Key) throws -> [UInt16]? {
    func generic<Value: Decodable>(_ type: Value.Type) throws -> Value? { try decodeIfPresent(type, forKey: key) }
    do {
      return try generic(type)
    } catch DecodingError.dataCorrupted(let context) where context.codingPath.last?.intValue != nil {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "expected integers within their range")
    }
  }
}
